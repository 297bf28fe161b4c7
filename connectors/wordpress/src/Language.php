<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

/** The languages of a site with Polylang or WPML, by the documented functions and filters of both. */
final class Language
{
    /** Returns the language of a post: from Polylang or WPML, or the site's. */
    public static function ofPost(int $post): string
    {
        $locale = function_exists('pll_get_post_language') ? pll_get_post_language($post, 'locale') : null;
        if (!is_string($locale) || $locale === '') {
            $details = apply_filters('wpml_post_language_details', null, $post);
            $locale = is_array($details) ? $details['locale'] ?? null : null;
        }
        return self::tag($locale) ?? self::ofSite();
    }

    /** Returns the language of a category: from Polylang, or the site's. */
    public static function ofTerm(int $term): string
    {
        $locale = function_exists('pll_get_term_language') ? pll_get_term_language($term, 'locale') : null;
        return self::tag($locale) ?? self::ofSite();
    }

    private static function ofSite(): string
    {
        return implode('-', array_slice(explode('_', get_locale()), 0, 2));
    }

    /** Gives a new post its language, if the site has it. Otherwise the plugin of languages decides. */
    public static function assign(int $post, string $locale): void
    {
        $language = self::code($locale);
        if ($language === null) {
            return;
        }
        if (function_exists('pll_set_post_language')) {
            pll_set_post_language($post, $language);
        } else {
            do_action('wpml_set_element_language_details', [
                'element_id' => $post,
                'element_type' => 'post_' . get_post_type($post),
                'trid' => false,
                'language_code' => $language,
                'source_language_code' => null,
            ]);
        }
    }

    /** Returns the translation of a category into a language of the site, or the category itself. */
    public static function category(int $category, string $locale): int
    {
        $language = self::code($locale);
        if ($language === null || $category === 0) {
            return $category;
        }
        $translated = function_exists('pll_get_term')
            ? pll_get_term($category, $language)
            : apply_filters('wpml_object_id', $category, 'category', true, $language);
        return is_numeric($translated) && (int) $translated > 0 ? (int) $translated : $category;
    }

    /** Returns the code that Polylang or WPML has for a locale: of the same region, or else of the same language. */
    private static function code(string $locale): ?string
    {
        $languages = [];
        if (function_exists('pll_languages_list')) {
            $codes = pll_languages_list(['fields' => 'slug']);
            $languages = array_combine($codes, pll_languages_list(['fields' => 'locale'])) ?: [];
        } else {
            $active = apply_filters('wpml_active_languages', null, []);
            foreach (is_array($active) ? $active : [] as $code => $details) {
                $languages[$code] = $details['default_locale'] ?? $code;
            }
        }
        $language = strtolower((string) strtok($locale, '-_'));
        foreach ($languages as $code => $name) {
            if (strcasecmp(str_replace('_', '-', (string) $name), str_replace('_', '-', $locale)) === 0) {
                return (string) $code;
            }
        }
        foreach ($languages as $code => $name) {
            if ($language !== '' && strtolower((string) strtok((string) $name, '-_')) === $language) {
                return (string) $code;
            }
        }
        return null;
    }

    /** Returns a locale of WordPress as a language tag, or null. */
    private static function tag($locale): ?string
    {
        $tag = is_string($locale) ? implode('-', array_slice(explode('_', $locale), 0, 2)) : '';
        return preg_match('/^[a-z]{2,3}(-[A-Za-z]{2,4})?$/D', $tag) === 1 ? $tag : null;
    }
}
