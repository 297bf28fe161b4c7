<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\Proxy;

/** The chat on the pages, and its proxy. */
final class Chat
{
    /** The setting: the attributes of the script tag that are the chat's options. */
    public const SETTING = 'chat_widget';
    private const PROXY = '/connector';

    /**
     * Returns the path of the proxy, below the folder of this site: sites of a network may have one each. Plugins for
     * languages add folders of their own to `home_url()`.
     */
    private static function proxyPath(): string
    {
        return rtrim((string) parse_url(get_option('home', ''), PHP_URL_PATH), '/') . self::PROXY;
    }

    /** Returns the user who is signed in, as the service's verified visitor. */
    public static function visitor(): ?array
    {
        $user = wp_get_current_user();
        if ($user->ID === 0) {
            return null;
        }
        return ['id' => "wordpress-$user->ID", 'name' => $user->display_name, 'email' => $user->user_email];
    }

    /** Answers requests of the proxy's paths, before WordPress looks for a page of that name. */
    public static function serveProxy(): void
    {
        $prefix = self::proxyPath();
        if (strncmp($_SERVER['REQUEST_URI'] ?? '', "$prefix/", strlen($prefix) + 1) !== 0 || !Site::isConnected()) {
            return;
        }
        $secret = Site::get('visitorSecret');
        $serve = static function () use ($secret, $prefix): void {
            $proxy = new Proxy(Site::get('origin'), Site::get('token'), $prefix);
            if ($secret !== '') {
                $proxy->verifyVisitors($secret, [self::class, 'visitor']);
            }
            $proxy->serve();
        };
        if ($secret === '') {
            $serve();
        }
        // WordPress knows the user once all plugins are loaded.
        add_action('plugins_loaded', $serve);
    }

    /** Adds the script to the pages. */
    public static function addToPages(string $plugin): void
    {
        add_action('wp_enqueue_scripts', static function () use ($plugin): void {
            if (self::options() !== []) {
                $file = plugins_url('widget/chat-widget.js', $plugin);
                wp_enqueue_script('chat-widget', $file, [], null, ['strategy' => 'async']);
            }
        });
        add_filter('wp_script_attributes', static function (array $attributes): array {
            return ($attributes['id'] ?? '') === 'chat-widget-js' ? $attributes + self::options() : $attributes;
        });
    }

    /** Returns the options in a script tag, or in a setting, as attributes. Other attributes are left out. */
    public static function optionsOf($code): array
    {
        if (is_string($code)) {
            preg_match_all('~\s(data-[a-z-]+)=(?:"([^"]*)"|\'([^\']*)\')~', $code, $found, PREG_SET_ORDER);
            $read = static fn (array $one): array => [$one[1], html_entity_decode($one[3] ?? $one[2], ENT_QUOTES)];
            $code = array_column(array_map($read, $found), 1, 0);
        }
        $isOption = static fn ($value, $name): bool =>
            is_string($value) && preg_match('~^data-[a-z-]+$~D', (string) $name) === 1;
        return array_filter(is_array($code) ? $code : [], $isOption, ARRAY_FILTER_USE_BOTH);
    }

    /** Returns the options of the script tag, or none while the chat is not set up. */
    private static function options(): array
    {
        $options = self::optionsOf(get_option(self::SETTING, []));
        if (Site::isConnected()) {
            $options['data-proxy'] = self::proxyPath();
        }
        return isset($options['data-proxy']) ? $options : [];
    }

    /** Reads the form. WordPress calls it with the code at first, and again with the options when it stores them. */
    public static function sanitize($code): array
    {
        $options = self::optionsOf($code);
        $isPlace = preg_match('~^(https?://|/)[^\s"<>]+$~D', $options['data-proxy'] ?? '') === 1;
        if ($isPlace || Site::isConnected() || trim(is_string($code) ? $code : '') === '') {
            return $options;
        }
        $advice = __('Copy the code again from the console of your service, under Settings, Widget.', 'chat-widget');
        $problem = __('invalid code: expected a script tag with data-proxy="https://…".', 'chat-widget');
        add_settings_error(self::SETTING, 'proxy', "$problem $advice");
        return self::optionsOf(get_option(self::SETTING, []));
    }

    /** Returns the script tag as the form shows it. */
    public static function code(): string
    {
        $attributes = '';
        foreach (self::optionsOf(get_option(self::SETTING, [])) as $name => $value) {
            $attributes .= sprintf(' %s="%s"', $name, esc_attr($value));
        }
        return $attributes === '' ? '' : "<script async$attributes></script>";
    }
}
