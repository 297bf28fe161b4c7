<?php
/**
 * Plugin Name: A stand-in for Yoast SEO
 * Description: Writes a head with the hooks, the priorities and the filters of Yoast SEO. For tests only.
 */

declare(strict_types=1);

namespace StandIn\Yoast;

const TITLE = 'A title of the SEO plugin';
const DESCRIPTION = 'A description of the SEO plugin';

/** Runs one of the plugin's filters, with a presentation as its second argument. */
function filtered(string $name, string $value): string
{
    return (string) apply_filters("wpseo_$name", $value, (object) []);
}

function title(): string
{
    return esc_html(filtered('title', TITLE));
}

add_action('wp', static function (): void {
    add_filter('wp_title', __NAMESPACE__ . '\title', 15);
    add_filter('pre_get_document_title', __NAMESPACE__ . '\title', 15);
    remove_action('wp_head', 'rel_canonical');
});
add_action('wp_head', static function (): void {
    remove_action('wp_head', '_wp_render_title_tag', 1);
    remove_action('wp_head', '_block_template_render_title_tag', 1);
}, 0);
add_filter('wp_robots', static function (array $robots): array {
    $own = filtered('robots', 'index, follow, max-image-preview:large');
    return array_fill_keys(explode(', ', strtok($own, ':')), true) + $robots;
}, PHP_INT_MAX - 10);
add_action('wp_head', static function (): void {
    echo "<!-- This site is optimized with a stand-in for Yoast SEO -->\n";
    printf("\t<title>%s</title>\n", title());
    printf("\t<meta name=\"description\" content=\"%s\" />\n", esc_attr(filtered('metadesc', DESCRIPTION)));
    printf("\t<link rel=\"canonical\" href=\"%s\" />\n", esc_url(filtered('canonical', (string) get_permalink())));
    $graph = [
        'og:type' => filtered('opengraph_type', 'article'),
        'og:title' => filtered('opengraph_title', TITLE),
        'og:description' => filtered('opengraph_desc', DESCRIPTION),
        'og:url' => filtered('opengraph_url', (string) get_permalink()),
    ];
    foreach ($graph as $property => $content) {
        printf("\t<meta property=\"%s\" content=\"%s\" />\n", esc_attr($property), esc_attr($content));
    }
    printf("\t<meta name=\"twitter:title\" content=\"%s\" />\n", esc_attr(filtered('twitter_title', TITLE)));
    $schema = ['@context' => 'https://schema.org', '@graph' => [['@type' => 'WebPage', 'name' => title()]]];
    echo "\t<script type=\"application/ld+json\" class=\"yoast-schema-graph\">", wp_json_encode($schema), "</script>\n";
    echo "<!-- / the stand-in. -->\n";
}, 1);
