<?php
// Deletes everything that the plugin stored: its settings, its tables, its schedule, and the file in which the proxy
// counts requests. What it published stays, because it is the site's.

declare(strict_types=1);

namespace ChatWidget;

defined('WP_UNINSTALL_PLUGIN') || exit;

require __DIR__ . '/lib/src/Database.php';
require __DIR__ . '/src/Database.php';

$uninstall = static function (): void {
    foreach (['chat_widget', 'chat_widget_site', 'chat_widget_state', 'chat_widget_changed'] as $option) {
        delete_option($option);
    }
    foreach (['chat_widget_run', 'chat_widget_reconcile', 'chat_widget_push'] as $event) {
        wp_clear_scheduled_hook($event);
    }
    Database::dropTables();
};
if (is_multisite()) {
    foreach (get_sites(['fields' => 'ids', 'number' => 0]) as $site) {
        switch_to_blog($site);
        $uninstall();
        restore_current_blog();
    }
} else {
    $uninstall();
}
@unlink(sys_get_temp_dir() . '/chat-connector-' . md5(__DIR__ . '/lib/src'));
