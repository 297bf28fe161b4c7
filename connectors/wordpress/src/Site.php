<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\Client;

/** The connection of this WordPress site to its service: from wp-config.php, or from activation in the settings. */
final class Site
{
    /** The setting: `origin`, `token`, `siteId`, `webhookSecret`, `visitorSecret`, `author`, `category`, `paused`. */
    public const OPTION = 'chat_widget_site';
    /**
     * The outcome of the last run and the last sync: `error`, `errorKind`, `ranAt`, and `syncError`, `syncErrorKind`,
     * `syncedAt`, `items`.
     */
    public const STATE = 'chat_widget_state';

    /** Returns one value of the setting, or an empty text. The constants of wp-config.php take precedence. */
    public static function get(string $name): string
    {
        $constant = [
            'origin' => 'CHAT_ORIGIN',
            'token' => 'CHAT_TOKEN',
            'visitorSecret' => 'CHAT_VISITOR_SECRET',
            'webhookSecret' => 'CHAT_WEBHOOK_SECRET',
        ][$name] ?? null;
        if ($constant !== null && defined($constant)) {
            return trim((string) constant($constant));
        }
        $stored = get_option(self::OPTION, []);
        return is_array($stored) && is_scalar($stored[$name] ?? null) ? (string) $stored[$name] : '';
    }

    public static function set(array $values): void
    {
        $stored = get_option(self::OPTION, []);
        // Each page view reads it, so it comes with the options that WordPress loads at once.
        update_option(self::OPTION, $values + (is_array($stored) ? $stored : []), true);
    }

    public static function isConnected(): bool
    {
        return self::get('origin') !== '' && self::get('token') !== '';
    }

    /** Returns whether somebody has paused jobs and the sync. */
    public static function isPaused(): bool
    {
        return self::get('paused') === '1';
    }

    public static function client(int $attempts = 3): Client
    {
        return new Client(self::get('origin'), self::get('token'), new Transport(), $attempts);
    }

    /** Exchanges a license code for a token, and stores it. */
    public static function activate(string $origin, string $code): void
    {
        $client = new Client($origin, null, new Transport());
        $locale = str_replace('_', '-', get_locale());
        $activated = $client->activate([
            'licenseCode' => $code,
            'domain' => self::origin(home_url()),
            'platform' => 'wordpress',
            'siteName' => html_entity_decode(get_bloginfo('name'), ENT_QUOTES),
            'primaryLocale' => $locale,
            'supportedLocales' => [$locale],
        ]);
        self::set([
            'origin' => rtrim($origin, '/'),
            'token' => $activated['siteToken'],
            'siteId' => (string) $activated['siteId'],
            'author' => self::get('author') ?: (string) get_current_user_id(),
            'paused' => '',
        ]);
        delete_option(self::STATE);
    }

    /** Returns one value of the outcome of the last run and the last sync, or an empty text. */
    public static function state(string $name): string
    {
        $stored = get_option(self::STATE, []);
        return is_array($stored) && is_scalar($stored[$name] ?? null) ? (string) $stored[$name] : '';
    }

    /** Records the outcome of a run or a sync. */
    public static function record(array $state): void
    {
        $stored = get_option(self::STATE, []);
        update_option(self::STATE, $state + (is_array($stored) ? $stored : []), false);
    }

    /** Returns the scheme, the host and the port of an address. */
    public static function origin(string $url): string
    {
        $parts = wp_parse_url($url);
        return $parts['scheme'] . '://' . $parts['host'] . (isset($parts['port']) ? ":{$parts['port']}" : '');
    }

    /** Returns the address of a path. Paths begin at the host, also if WordPress is in a folder. */
    public static function url(string $path): string
    {
        return self::origin(home_url()) . $path;
    }

    /** Returns the path of an address of this site, as overlays name it: without a slash at its end. */
    public static function path(string $url): string
    {
        $path = (string) wp_parse_url($url, PHP_URL_PATH);
        return $path === '' || $path === '/' ? '/' : '/' . trim($path, '/');
    }
}
