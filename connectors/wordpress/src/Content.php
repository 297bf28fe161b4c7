<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

/** The site's public content, as items of a sync: posts, pages, WooCommerce products, and categories. */
final class Content implements \IteratorAggregate
{
    private const BATCH = 100;
    private const TYPES = ['page' => 'page', 'post' => 'article', 'product' => 'product'];
    private const TAXONOMIES = ['category', 'product_cat'];

    /** Returns all items, in the order of their ids. Fails if the database does. */
    public function getIterator(): \Traversable
    {
        $last = 0;
        do {
            $ids = self::ids($last);
            foreach ($ids as $id) {
                yield from self::ofPost($id);
                clean_post_cache($id);
            }
            $last = $ids === [] ? 0 : end($ids);
        } while (count($ids) === self::BATCH);
        foreach (array_filter(self::TAXONOMIES, 'taxonomy_exists') as $taxonomy) {
            // Polylang returns the terms of all languages if `lang` is empty.
            $terms = get_terms(['taxonomy' => $taxonomy, 'hide_empty' => true, 'lang' => '']);
            if (is_wp_error($terms)) {
                throw new \RuntimeException($terms->get_error_message());
            }
            foreach ($terms as $term) {
                yield self::ofTerm($term);
            }
        }
    }

    /** Returns the ids of published posts after one. A query of WP_Query's own would pass other plugins' filters. */
    private static function ids(int $after): array
    {
        global $wpdb;
        $types = array_filter(array_keys(self::TYPES), 'post_type_exists');
        $places = implode(', ', array_fill(0, count($types), '?'));
        $sql = "SELECT ID FROM $wpdb->posts WHERE ID > ? AND post_status = 'publish' AND post_password = ''
            AND post_type IN ($places) ORDER BY ID LIMIT " . self::BATCH;
        $rows = Database::open()->rows($sql, array_merge([(string) $after], array_values($types)));
        return array_map('intval', array_column($rows, 'ID'));
    }

    /** Returns the item of a post, or none if the post is not public. */
    public static function ofPost(int $id): array
    {
        $post = get_post($id);
        $kind = $post === null ? null : self::TYPES[$post->post_type] ?? null;
        if ($kind === null || $post->post_status !== 'publish' || $post->post_password !== '') {
            return [];
        }
        $url = (string) get_permalink($post);
        return [array_filter([
            'externalId' => "post-$id",
            'type' => $kind,
            'locale' => Language::ofPost($id),
            'path' => (string) wp_parse_url($url, PHP_URL_PATH),
            'url' => $url,
            'title' => html_entity_decode(wp_strip_all_tags($post->post_title), ENT_QUOTES | ENT_HTML5, 'UTF-8'),
            'summary' => self::summary($post),
            'content' => self::text($post),
            'format' => 'html',
            'updatedAt' => mysql_to_rfc3339($post->post_modified_gmt) . 'Z',
            'data' => $kind === 'product' ? self::product($id) : [],
        ])];
    }

    /** Returns the text without the output of shortcodes and dynamic blocks, which may need a visitor. */
    private static function text(\WP_Post $post): string
    {
        return wpautop(wp_kses_post(strip_shortcodes(excerpt_remove_blocks($post->post_content))));
    }

    /** Returns the description for search engines, or else the excerpt. */
    private static function summary(\WP_Post $post): string
    {
        foreach (['_yoast_wpseo_metadesc', 'rank_math_description'] as $name) {
            $description = get_post_meta($post->ID, $name, true);
            // Descriptions with variables, such as %title%, are no texts.
            if (is_string($description) && $description !== '' && strpos($description, '%') === false) {
                return $description;
            }
        }
        return wp_strip_all_tags($post->post_excerpt);
    }

    private static function product(int $id): array
    {
        $meta = static fn (string $name): string => (string) get_post_meta($id, $name, true);
        $data = ['price' => $meta('_price'), 'sku' => $meta('_sku'), 'stockStatus' => $meta('_stock_status')];
        return array_filter($data);
    }

    private static function ofTerm(\WP_Term $term): array
    {
        $url = get_term_link($term);
        $url = is_string($url) ? $url : home_url('/');
        return array_filter([
            'externalId' => "term-$term->term_id",
            'type' => 'category',
            'locale' => Language::ofTerm($term->term_id),
            'path' => (string) wp_parse_url($url, PHP_URL_PATH),
            'url' => $url,
            'title' => html_entity_decode($term->name, ENT_QUOTES | ENT_HTML5, 'UTF-8'),
            'content' => wp_kses_post($term->description),
            'format' => 'html',
        ]);
    }
}
