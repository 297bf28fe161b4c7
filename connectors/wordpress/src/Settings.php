<?php

declare(strict_types=1);

namespace ChatWidget;

/** The page of the settings: the code of the chat, the connection to the service, and what the plugin did last. */
final class Settings
{
    private const PAGE = 'chat-widget';
    private const CAPABILITY = 'manage_options';

    public static function addPage(string $plugin): void
    {
        add_action('admin_init', static function (): void {
            register_setting(Chat::SETTING, Chat::SETTING, [
                'type' => 'array',
                'default' => [],
                'sanitize_callback' => [Chat::class, 'sanitize'],
            ]);
        });
        add_action('admin_menu', static function (): void {
            $title = __('Chat widget', 'chat-widget');
            add_options_page($title, $title, self::CAPABILITY, self::PAGE, [self::class, 'show']);
        });
        foreach (['activate', 'options', 'disconnect', 'run'] as $action) {
            add_action("admin_post_chat_widget_$action", static function () use ($action): void {
                self::post($action);
            });
        }
        add_filter("plugin_action_links_$plugin", static function (array $links): array {
            $address = esc_url(admin_url('options-general.php?page=' . self::PAGE));
            return array_merge(["<a href=\"$address\">" . esc_html__('Settings', 'chat-widget') . '</a>'], $links);
        });
    }

    public static function show(): void
    {
        echo '<div class="wrap"><h1>', esc_html__('Chat widget', 'chat-widget'), '</h1>';
        self::showChat();
        self::showConnection();
        echo '</div>';
    }

    private static function showChat(): void
    {
        $label = __('The code of the chat, from the console of your service: Settings, Widget.', 'chat-widget');
        $note = Site::isConnected()
            ? __('The chat uses the connection of this page. data-proxy of the code is not used.', 'chat-widget')
            : '';
        echo '<form method="post" action="options.php">';
        settings_fields(Chat::SETTING);
        printf(
            '<p><label for="chat-widget-code">%s</label></p><p><textarea id="chat-widget-code" name="%s" rows="6"
                class="large-text code" spellcheck="false">%s</textarea></p><p>%s</p>',
            esc_html($label),
            esc_attr(Chat::SETTING),
            esc_textarea(Chat::code()),
            esc_html($note)
        );
        submit_button();
        echo '</form>';
    }

    private static function showConnection(): void
    {
        echo '<h2>', esc_html__('Articles and page heads', 'chat-widget'), '</h2>';
        if (!Site::isConnected()) {
            $text = __('Activate the site with a license code. It then publishes what you approve.', 'chat-widget');
            echo '<p>', esc_html($text), '</p>';
            self::form('activate', [
                'origin' => [__('Address of the service', 'chat-widget'), 'url', 'https://service.example'],
                'code' => [__('License code', 'chat-widget'), 'text', ''],
            ], __('Activate', 'chat-widget'));
            return;
        }
        self::showState();
        self::form('options', [
            'author' => [__('Author of new articles (user number)', 'chat-widget'), 'number', Site::get('author')],
            'category' => [__('Category of new articles (number)', 'chat-widget'), 'number', Site::get('category')],
            'webhookSecret' => [__('Secret of the webhook that runs jobs at once', 'chat-widget'), 'password', ''],
            'visitorSecret' => [__('Secret of verified visitors', 'chat-widget'), 'password', ''],
        ], __('Save', 'chat-widget'));
        self::form('run', [], __('Run jobs and sync now', 'chat-widget'));
        if (!defined('CHAT_TOKEN')) {
            self::form('disconnect', [], __('Disconnect', 'chat-widget'));
        }
    }

    private static function showState(): void
    {
        $state = get_option(Site::STATE, []);
        $time = static fn (string $name): string => isset($state[$name])
            ? wp_date(get_option('date_format') . ' ' . get_option('time_format'), (int) $state[$name])
            : __('not yet', 'chat-widget');
        $lines = [
            __('Service', 'chat-widget') => Site::get('origin'),
            __('Last look for jobs', 'chat-widget') => $time('ranAt'),
            __('Last sync', 'chat-widget') => $time('syncedAt'),
            __('Pages of the last sync', 'chat-widget') => (string) ($state['items'] ?? 0),
            __('Problem with jobs', 'chat-widget') => $state['error'] ?? '',
            __('Problem with the sync', 'chat-widget') => $state['syncError'] ?? '',
            __('Webhook', 'chat-widget') => rest_url('chat-widget/v1/run'),
        ];
        echo '<table class="widefat striped"><tbody>';
        foreach (array_filter($lines) as $name => $value) {
            printf('<tr><th scope="row">%s</th><td>%s</td></tr>', esc_html($name), esc_html($value));
        }
        echo '</tbody></table><h3>', esc_html__('Last jobs', 'chat-widget'), '</h3>';
        echo '<table class="widefat striped"><tbody>';
        foreach (Jobs::journal(Database::open())->latest(20) as $job) {
            $outcome = $job['is_ok'] === '1' ? __('done', 'chat-widget') : __('failed', 'chat-widget');
            $reported = $job['is_reported'] === '1' ? '' : __('not reported yet', 'chat-widget');
            $cells = [$job['type'], $job['title'], $outcome, $reported, $job['note']];
            $escaped = array_map('esc_html', $cells);
            echo '<tr><td>', implode('</td><td>', $escaped), '</td></tr>';
        }
        echo '</tbody></table>';
    }

    /** Shows a form that `post` answers. A password is never shown; an empty one changes nothing. */
    private static function form(string $action, array $fields, string $button): void
    {
        printf('<form method="post" action="%s">', esc_url(admin_url('admin-post.php')));
        printf('<input type="hidden" name="action" value="chat_widget_%s">', esc_attr($action));
        wp_nonce_field("chat_widget_$action");
        foreach ($fields as $name => [$label, $type, $value]) {
            printf(
                '<p><label>%s<br><input type="%s" name="%s" value="%s" class="regular-text"></label></p>',
                esc_html($label),
                esc_attr($type),
                esc_attr($name),
                esc_attr($value)
            );
        }
        submit_button($button, 'secondary');
        echo '</form>';
    }

    /** Answers a form of this page. */
    private static function post(string $action): void
    {
        if (!current_user_can(self::CAPABILITY)) {
            wp_die(esc_html__('You may not change these settings.', 'chat-widget'), '', ['response' => 403]);
        }
        check_admin_referer("chat_widget_$action");
        $field = static fn (string $name): string =>
            isset($_POST[$name]) && is_string($_POST[$name]) ? trim(wp_unslash($_POST[$name])) : '';
        $problem = '';
        if ($action === 'activate') {
            try {
                Site::activate(esc_url_raw($field('origin')), $field('code'));
                Hooks::schedule();
            } catch (\RuntimeException $error) {
                $problem = $error->getMessage();
            }
        } elseif ($action === 'options') {
            $values = array_map('strval', array_map('absint', [
                'author' => $field('author'),
                'category' => $field('category'),
            ]));
            foreach (['webhookSecret', 'visitorSecret'] as $secret) {
                $values += array_filter([$secret => $field($secret)]);
            }
            Site::set($values);
        } elseif ($action === 'run') {
            Jobs::run();
            Jobs::reconcile();
        } else {
            delete_option(Site::OPTION);
            Hooks::unschedule();
        }
        if ($problem !== '') {
            wp_die(esc_html($problem), '', ['response' => 200, 'back_link' => true]);
        }
        wp_safe_redirect(admin_url('options-general.php?page=' . self::PAGE));
        exit;
    }
}
