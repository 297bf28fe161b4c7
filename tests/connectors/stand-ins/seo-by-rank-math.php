<?php
/**
 * Plugin Name: A stand-in for Rank Math
 * Description: Writes a head with the hooks, the priorities and the filters of Rank Math. For tests only.
 */

declare(strict_types=1);

namespace StandIn\RankMath;

const TITLE = 'A title of the SEO plugin';
const DESCRIPTION = 'A description of the SEO plugin';

function title(): string
{
    return esc_html(wp_strip_all_tags((string) apply_filters('rank_math/frontend/title', TITLE)));
}

add_action('wp', static function (): void {
    add_filter('wp_title', __NAMESPACE__ . '\title', 15);
    add_filter('pre_get_document_title', __NAMESPACE__ . '\title', 15);
    remove_action('wp_head', 'rel_canonical');
    remove_action('wp_head', '_wp_render_title_tag', 1);
    add_action('rank_math/head', '_wp_render_title_tag', 1);
    remove_all_filters('wp_robots');
});
add_action('wp_head', static function (): void {
    do_action('rank_math/head');
}, 1);
add_action('rank_math/head', static function (): void {
    $description = (string) apply_filters('rank_math/frontend/description', DESCRIPTION);
    printf("<meta name=\"description\" content=\"%s\"/>\n", esc_attr($description));
    $robots = apply_filters('rank_math/frontend/robots', ['index' => 'index', 'follow' => 'follow']);
    printf("<meta name=\"robots\" content=\"%s\"/>\n", esc_attr(implode(', ', $robots)));
    // As the plugin does, a page that is not indexed has no canonical address.
    if (!isset($robots['noindex']) && !in_array('noindex', $robots, true)) {
        $canonical = (string) apply_filters('rank_math/frontend/canonical', (string) get_permalink());
        printf("<link rel=\"canonical\" href=\"%s\" />\n", esc_url($canonical));
    }
    $tags = ['og_title' => TITLE, 'og_description' => DESCRIPTION, 'og_type' => 'article'];
    foreach ($tags as $name => $content) {
        $content = (string) apply_filters("rank_math/opengraph/facebook/$name", $content);
        printf("<meta property=\"%s\" content=\"%s\" />\n", esc_attr(str_replace('_', ':', $name)), esc_attr($content));
    }
    $title = (string) apply_filters('rank_math/opengraph/twitter/twitter_title', TITLE);
    printf("<meta name=\"twitter:title\" content=\"%s\" />\n", esc_attr($title));
    $schema = ['@context' => 'https://schema.org', '@graph' => [['@type' => 'WebPage', 'name' => title()]]];
    echo '<script type="application/ld+json" class="rank-math-schema">', wp_json_encode($schema), "</script>\n";
}, 6);
