<?php
/**
 * Plugin Name: Chat widget
 * Description: A chat for your visitors. An AI answers, and a person takes over when one is there.
 * Version: 0.1.0
 * Requires at least: 6.4
 * Requires PHP: 8.1
 * License: MIT OR Apache-2.0
 */

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

/** The setting: the attributes of the script tag that are the chat's options. */
const SETTING = 'chat_widget';
const PROXY = '/connector';
const ADVICE = 'Copy the code again from the console of your chat service, under Settings, Widget.';

/** Returns the user who is signed in, as the service's verified visitor. */
function visitor(): ?array
{
    $user = wp_get_current_user();
    return $user->ID === 0 ? null : ['id' => "wordpress-$user->ID", 'name' => $user->display_name, 'email' => $user->user_email];
}

// The proxy: before WordPress looks for a page of that name.
if (defined('CHAT_TOKEN') && str_starts_with($_SERVER['REQUEST_URI'] ?? '', PROXY . '/')) {
    $proxy = function (): never {
        require __DIR__ . '/connector.php';
        exit;
    };
    if (!defined('CHAT_VISITOR_SECRET')) {
        $proxy();
    }
    defined('CHAT_VISITOR') || define('CHAT_VISITOR', __NAMESPACE__ . '\visitor');
    // WordPress knows the user once all plugins are loaded.
    add_action('plugins_loaded', $proxy);
}

/** Returns the options in a script tag, or in a setting, as attributes. Other attributes are left out. */
function options_of(mixed $code): array
{
    if (is_string($code)) {
        preg_match_all('~\s(data-[a-z-]+)=(?:"([^"]*)"|\'([^\']*)\')~', $code, $found, PREG_SET_ORDER);
        $code = array_column(array_map(fn ($one) => [$one[1], html_entity_decode($one[3] ?? $one[2], ENT_QUOTES)], $found), 1, 0);
    }
    $isOption = fn ($value, $name) => is_string($value) && preg_match('~^data-[a-z-]+$~D', (string) $name) === 1;
    return array_filter(is_array($code) ? $code : [], $isOption, ARRAY_FILTER_USE_BOTH);
}

/** Returns the options of the script tag, or none while the plugin is not set up. */
function options(): array
{
    $options = options_of(get_option(SETTING, []));
    if (defined('CHAT_TOKEN')) {
        $options['data-proxy'] = PROXY;
    }
    return isset($options['data-proxy']) ? $options : [];
}

/** Reads the form. WordPress calls it with the code at first, and again with the options when it stores them. */
function sanitize(mixed $code): array
{
    $options = options_of($code);
    $isPlace = preg_match('~^(https?://|/)[^\s"<>]+$~D', $options['data-proxy'] ?? '') === 1;
    if ($isPlace || defined('CHAT_TOKEN') || trim(is_string($code) ? $code : '') === '') {
        return $options;
    }
    add_settings_error(SETTING, 'proxy', 'invalid code: expected a script tag with data-proxy="https://…". ' . ADVICE);
    return options_of(get_option(SETTING, []));
}

/** Returns the script tag as the form shows it. */
function code_of(array $options): string
{
    $attributes = '';
    foreach ($options as $name => $value) {
        $attributes .= sprintf(' %s="%s"', $name, esc_attr($value));
    }
    return $attributes === '' ? '' : "<script async$attributes></script>";
}

function show_settings(): void
{
    $own = defined('CHAT_TOKEN') ? 'The address and the token of the service come from wp-config.php. data-proxy is not used.' : '';
    echo '<div class="wrap"><h1>Chat widget</h1><form method="post" action="options.php">';
    settings_fields(SETTING);
    echo '<p><label for="chat-widget-code">The code of the chat, from the console of your service: Settings, Widget.</label></p>';
    printf(
        '<p><textarea id="chat-widget-code" name="%s" rows="6" class="large-text code" spellcheck="false">%s</textarea></p><p>%s</p>',
        esc_attr(SETTING),
        esc_textarea(code_of(options_of(get_option(SETTING, [])))),
        esc_html($own),
    );
    submit_button();
    echo '</form></div>';
}

add_action('wp_enqueue_scripts', function (): void {
    if (options() !== []) {
        $file = plugins_url('widget/chat-widget.js', __FILE__);
        wp_enqueue_script('chat-widget', $file, [], null, ['strategy' => 'async']);
    }
});

add_filter('wp_script_attributes', function (array $attributes): array {
    return ($attributes['id'] ?? '') === 'chat-widget-js' ? $attributes + options() : $attributes;
});

add_action('admin_init', function (): void {
    register_setting(SETTING, SETTING, ['type' => 'array', 'default' => [], 'sanitize_callback' => __NAMESPACE__ . '\sanitize']);
});

add_action('admin_menu', function (): void {
    add_options_page('Chat widget', 'Chat widget', 'manage_options', 'chat-widget', __NAMESPACE__ . '\show_settings');
});

add_filter('plugin_action_links_' . plugin_basename(__FILE__), function (array $links): array {
    $address = esc_url(admin_url('options-general.php?page=chat-widget'));
    return ["<a href=\"$address\">Settings</a>", ...$links];
});
