<?php
/**
 * Plugin Name: A stand-in for Polylang
 * Description: Has the functions of Polylang's API, with English and German, and the languages in the addresses. For tests only.
 */

declare(strict_types=1);

const STAND_IN_LANGUAGES = ['en' => 'en_US', 'de' => 'de_DE'];

function pll_languages_list(array $arguments = []): array
{
    return ($arguments['fields'] ?? 'slug') === 'locale' ? array_values(STAND_IN_LANGUAGES) : array_keys(STAND_IN_LANGUAGES);
}

function pll_set_post_language(int $post, string $language): bool
{
    update_post_meta($post, 'stand_in_language', $language);
    return true;
}

function pll_get_post_language(int $post, string $field = 'slug')
{
    $language = get_post_meta($post, 'stand_in_language', true) ?: 'en';
    return $field === 'locale' ? STAND_IN_LANGUAGES[$language] : $language;
}

function pll_set_term_language(int $term, string $language): bool
{
    update_term_meta($term, 'stand_in_language', $language);
    return true;
}

function pll_get_term_language(int $term, string $field = 'slug')
{
    $language = get_term_meta($term, 'stand_in_language', true) ?: 'en';
    return $field === 'locale' ? STAND_IN_LANGUAGES[$language] : $language;
}

function pll_save_term_translations(array $terms): array
{
    foreach ($terms as $term) {
        update_term_meta($term, 'stand_in_translations', $terms);
    }
    return $terms;
}

function pll_get_term(int $term, string $language = '')
{
    return (get_term_meta($term, 'stand_in_translations', true) ?: [])[$language] ?? false;
}

add_filter('post_link', static function (string $link, WP_Post $post): string {
    return pll_get_post_language($post->ID) === 'de' ? str_replace(home_url('/'), home_url('/de/'), $link) : $link;
}, 10, 2);
add_action('init', static function (): void {
    add_rewrite_rule('^de/([^/]+)/?$', 'index.php?name=$matches[1]', 'top');
});
add_filter('redirect_canonical', '__return_false');
