<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\ConnectorError;
use SiteConnector\Text;

/** The settings of the plugin: their place in WordPress, and the forms that change them. `SettingsPage` shows them. */
final class Settings
{
    public const PAGE = 'chat-widget';
    private const CAPABILITY = 'manage_options';
    private const SECRETS = ['webhookSecret', 'visitorSecret'];

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
            add_options_page($title, $title, self::CAPABILITY, self::PAGE, [SettingsPage::class, 'show']);
        });
        foreach (['activate', 'options', 'pause', 'run', 'disconnect'] as $action) {
            add_action("admin_post_chat_widget_$action", static function () use ($action): void {
                self::post($action);
            });
        }
        add_filter("plugin_action_links_$plugin", static function (array $links): array {
            $address = esc_url(admin_url('options-general.php?page=' . self::PAGE));
            return array_merge(["<a href=\"$address\">" . esc_html__('Settings', 'chat-widget') . '</a>'], $links);
        });
    }

    /** Returns who may be the author of articles: a user of this site who may write posts. */
    public static function isAuthor(int $user): bool
    {
        return is_user_member_of_blog($user) && user_can($user, 'edit_posts');
    }

    /** Answers a form of the page, and shows the page with the outcome. */
    private static function post(string $action): void
    {
        if (!current_user_can(self::CAPABILITY)) {
            wp_die(esc_html__('You may not change these settings.', 'chat-widget'), '', ['response' => 403]);
        }
        check_admin_referer("chat_widget_$action");
        switch ($action) {
            case 'activate':
                self::activate();
                break;
            case 'options':
                self::save();
                break;
            case 'pause':
                Site::set(['paused' => Site::isPaused() ? '' : '1']);
                Hooks::pushSoon();
                break;
            case 'run':
                // As WP-Cron does: to the person who has a page open in the editor, it would not count as locked.
                $user = get_current_user_id();
                wp_set_current_user(0);
                Jobs::run();
                Jobs::reconcile();
                wp_set_current_user($user);
                if (Health::state() === 'connected') {
                    self::say('success', __('The jobs have run. The table shows the outcome.', 'chat-widget'));
                }
                break;
            default:
                delete_option(Site::OPTION);
                delete_option(Site::STATE);
                Hooks::unschedule();
                self::say('success', __('The site is disconnected.', 'chat-widget'));
        }
        set_transient('settings_errors', get_settings_errors(), 30);
        wp_safe_redirect(admin_url('options-general.php?page=' . self::PAGE . '&settings-updated=true'));
        exit;
    }

    private static function activate(): void
    {
        $origin = rtrim(self::field('origin'), '/');
        if (preg_match('~^https?://[^/\s?#@]+$~D', $origin) !== 1) {
            $example = 'https://chat.example';
            /* translators: %s: an example of an address */
            self::say('error', sprintf(__('Enter the address of the service, such as %s.', 'chat-widget'), $example));
            return;
        }
        try {
            Site::activate($origin, self::field('code'));
            Hooks::schedule();
            self::say('success', __('The site is activated.', 'chat-widget'));
        } catch (ConnectorError $error) {
            $advice = $error->retryable
                ? __('The service does not answer. Check the address, and try again.', 'chat-widget')
                : __('The service refused the code. Create a new one in the console, and try again.', 'chat-widget');
            self::say('error', "$advice ({$error->getMessage()})");
        }
    }

    private static function save(): void
    {
        $author = absint(self::field('author'));
        $category = absint(self::field('category'));
        if ($author !== 0 && !self::isAuthor($author)) {
            self::say('error', __('This user may not write posts. Choose another author.', 'chat-widget'));
            return;
        }
        if ($category !== 0 && !term_exists($category, 'category')) {
            self::say('error', __('This category does not exist. Choose another one.', 'chat-widget'));
            return;
        }
        $values = ['author' => (string) $author, 'category' => (string) $category];
        foreach (self::SECRETS as $secret) {
            if (self::field("remove-$secret") !== '') {
                $values[$secret] = '';
            }
            $values += array_filter([$secret => self::field($secret)]);
        }
        Site::set($values);
        self::say('success', __('Settings saved.', 'chat-widget'));
    }

    /** Returns a field of the form, as one line. `post` has checked the nonce. */
    private static function field(string $name): string
    {
        // WordPress' own function would remove `%41` from a secret.
        // phpcs:ignore WordPress.Security.NonceVerification.Missing, WordPress.Security.ValidatedSanitizedInput
        $value = $_POST[$name] ?? null;
        return is_string($value) ? Text::line(wp_unslash($value)) : '';
    }

    /** Adds a notice above the page. */
    private static function say(string $type, string $message): void
    {
        // WordPress shows notices as HTML.
        add_settings_error(Chat::SETTING, $type, esc_html($message), $type);
    }
}
