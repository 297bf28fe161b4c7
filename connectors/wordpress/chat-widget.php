<?php
/**
 * Plugin Name: Chat widget
 * Description: A chat for your visitors, and the articles and page heads of its service. An AI answers, or a person.
 * Version: 0.1.0
 * Requires at least: 6.4
 * Requires PHP: 7.4
 * License: MIT OR Apache-2.0
 * Text Domain: chat-widget
 * Domain Path: /languages
 */

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

require __DIR__ . '/lib/autoload.php';
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . substr($class, 11) . '.php';
    if (strncmp($class, 'ChatWidget\\', 11) === 0 && is_file($file)) {
        require $file;
    }
});

Chat::serveProxy();
Chat::addToPages(__FILE__);
Settings::addPage(plugin_basename(__FILE__));
Hooks::add(plugin_basename(__FILE__));
