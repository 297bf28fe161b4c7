<?php
// Deletes everything that the plugin stored: its setting, and the file in which the proxy counts requests.

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

if (is_multisite()) {
    foreach (get_sites(['fields' => 'ids', 'number' => 0]) as $site) {
        delete_blog_option($site, 'chat_widget');
    }
} else {
    delete_option('chat_widget');
}
@unlink(sys_get_temp_dir() . '/chat-connector-' . md5(__DIR__));
