<?php
// Runs the plugin without WordPress, with the functions that it calls in their place. The argument is JSON: the `folder` of the
// plugin, the `constants` of wp-config.php, the stored `setting`, and a text for the `form`. Prints what the plugin did as JSON.

declare(strict_types=1);

$given = json_decode($argv[1], true) + ['constants' => [], 'setting' => [], 'form' => null];
$GLOBALS['did'] = ['setting' => $given['setting'], 'errors' => [], 'scripts' => [], 'links' => []];
$GLOBALS['hooks'] = [];
foreach ($given['constants'] as $name => $value) {
    define($name, $value);
}

function add_action(string $name, callable $run): void
{
    $GLOBALS['hooks'][$name][] = $run;
}

function add_filter(string $name, callable $run): void
{
    add_action($name, $run);
}

function run_hook(string $name, mixed ...$values): mixed
{
    foreach ($GLOBALS['hooks'][$name] ?? [] as $run) {
        $values = [$run(...$values), ...array_slice($values, 1)];
    }
    return $values[0] ?? null;
}

function get_option(string $name, mixed $default): mixed
{
    return $name === 'chat_widget' ? $GLOBALS['did']['setting'] : $default;
}

function __(string $text): string
{
    return $text;
}

function esc_html__(string $text): string
{
    return esc_html($text);
}

function wp_create_nonce(string $action): string
{
    return $action;
}

function register_setting(string $group, string $name, array $arguments): void
{
    $GLOBALS['sanitize'] = $arguments['sanitize_callback'];
}

function add_settings_error(string $setting, string $code, string $message): void
{
    $GLOBALS['did']['errors'][] = $message;
}

function add_options_page(string $title, string $menu, string $capability, string $slug, callable $show): void
{
    $GLOBALS['did']['capability'] = $capability;
    $GLOBALS['show'] = $show;
}

function settings_fields(string $group): void
{
    echo "<input type=\"hidden\" name=\"option_page\" value=\"$group\">";
}

function submit_button(): void
{
    echo '<input type="submit">';
}

function wp_enqueue_script(string $handle, string $src, array $needs, ?string $version, array $arguments): void
{
    $GLOBALS['did']['scripts'][] = [$handle, $src, $arguments['strategy']];
}

function home_url(): string
{
    return 'https://shop.example';
}

function plugins_url(string $path, string $file): string
{
    return '/wp-content/plugins/' . basename(dirname($file)) . "/$path";
}

function plugin_basename(string $file): string
{
    return basename(dirname($file)) . '/' . basename($file);
}

function admin_url(string $path): string
{
    return "/wp-admin/$path";
}

function esc_attr(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function esc_html(string $text): string
{
    return esc_attr($text);
}

function esc_url(string $text): string
{
    return esc_attr($text);
}

function esc_textarea(string $text): string
{
    return esc_attr($text);
}

require $given['folder'] . '/chat-widget.php';
run_hook('admin_init');
if ($given['form'] !== null) {
    // WordPress sanitizes a new setting twice: the form's text, and its result.
    $GLOBALS['did']['setting'] = $GLOBALS['sanitize']($GLOBALS['sanitize']($given['form']));
}
run_hook('admin_menu');
ob_start();
// The page of a connected site reads the database.
if (!defined('CHAT_TOKEN')) {
    $GLOBALS['show']();
}
$GLOBALS['did']['page'] = ob_get_clean();
$GLOBALS['did']['links'] = run_hook('plugin_action_links_chat-widget/chat-widget.php', ['Deactivate']);
run_hook('wp_enqueue_scripts');
$GLOBALS['did']['tags'] = array_map(function (array $script): string {
    [$handle, $src, $strategy] = $script;
    $attributes = ['src' => $src, 'id' => "$handle-js", $strategy => '', 'data-wp-strategy' => $strategy];
    $texts = '';
    foreach (run_hook('wp_script_attributes', $attributes) as $name => $value) {
        $texts .= sprintf(' %s="%s"', $name, esc_attr($value));
    }
    return "<script$texts></script>";
}, $GLOBALS['did']['scripts']);
echo json_encode($GLOBALS['did']);
