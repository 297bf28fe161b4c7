<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\Webhook;

/** The events that start the plugin's work: WP-Cron, changes of editors, and webhooks of the service. */
final class Hooks
{
    private const EVENTS = ['chat_widget_run' => 'chat_widget_minute', 'chat_widget_reconcile' => 'twicedaily'];

    public static function add(string $plugin): void
    {
        add_action('chat_widget_run', [Jobs::class, 'run']);
        add_action('chat_widget_reconcile', [Jobs::class, 'reconcile']);
        add_action('chat_widget_push', [Jobs::class, 'push']);
        add_action('init', [self::class, 'loadTexts'], 1);
        add_action('init', [self::class, 'schedule']);
        add_action("deactivate_$plugin", [self::class, 'unschedule']);
        add_filter('cron_schedules', static function (array $schedules): array {
            $display = __('Every minute', 'chat-widget');
            return $schedules + ['chat_widget_minute' => ['interval' => MINUTE_IN_SECONDS, 'display' => $display]];
        });
        foreach (['wp_after_insert_post', 'trashed_post', 'untrashed_post', 'deleted_post'] as $event) {
            add_action($event, static function ($post): void {
                Jobs::changed((int) $post);
            });
        }
        add_action('template_redirect', [Heads::class, 'inject'], 0);
        add_action('rest_api_init', [self::class, 'addRoute']);
        // A site of a network is deleted with the plugin's tables.
        add_filter('wpmu_drop_tables', static function (array $tables): array {
            return array_merge($tables, array_map([Database::class, 'table'], Database::TABLES));
        });
    }

    /** Loads the texts in the language of the user, whatever its region. */
    public static function loadTexts(): void
    {
        $locale = determine_locale();
        $language = strtok($locale, '_');
        load_textdomain('chat-widget', dirname(__DIR__) . "/languages/chat-widget-$language.mo", $locale);
    }

    /** Schedules the work of a connected site. */
    public static function schedule(): void
    {
        foreach (Site::isConnected() ? self::EVENTS : [] as $event => $interval) {
            if (!wp_next_scheduled($event)) {
                wp_schedule_event(time(), $interval, $event);
            }
        }
    }

    /** Schedules the push of what editors changed. */
    public static function pushSoon(): void
    {
        if (!wp_next_scheduled('chat_widget_push')) {
            wp_schedule_single_event(time() + 5, 'chat_widget_push');
        }
    }

    public static function unschedule(): void
    {
        foreach (array_merge(array_keys(self::EVENTS), ['chat_widget_push']) as $event) {
            wp_clear_scheduled_hook($event);
        }
    }

    /** Adds the address that executes jobs at once, for webhooks of the service. */
    public static function addRoute(): void
    {
        register_rest_route('chat-widget/v1', '/run', [
            'methods' => 'POST',
            'callback' => static function (): \WP_REST_Response {
                Jobs::run();
                return new \WP_REST_Response(null, 204);
            },
            'permission_callback' => static function (\WP_REST_Request $request): bool {
                $header = static fn (string $name): string => (string) $request->get_header($name);
                return Webhook::isSigned(
                    Site::get('webhookSecret'),
                    $header('webhook-id'),
                    $header('webhook-timestamp'),
                    $header('webhook-signature'),
                    $request->get_body()
                );
            },
        ]);
    }
}
