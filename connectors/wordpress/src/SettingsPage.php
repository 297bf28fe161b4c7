<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

/** The page of the settings, with the elements that WordPress' own pages have. */
final class SettingsPage
{
    private const LATEST_JOBS = 20;
    /** What WordPress' own styles do not have. */
    private const STYLE = '.wrap .chat-widget-state { margin-bottom: 2em; }
        .chat-widget-state span { display: inline-block; margin-inline-end: 2em; }
        .chat-widget-state form { display: inline-block; margin-block-end: .5em; margin-inline-end: .5em; }
        .chat-widget-state code { overflow-wrap: anywhere; }
        .chat-widget-jobs td { overflow-wrap: anywhere; }
        .chat-widget-jobs td.column-job { font-weight: 600; }
        .chat-widget-disconnect { margin-block: 2em; }
        .chat-widget-disconnect summary { cursor: pointer; }
        @media (min-width: 783px) {
            .chat-widget-jobs .column-job, .chat-widget-jobs .column-time { width: 16%; }
            .chat-widget-jobs .column-outcome { width: 40%; }
        }';

    public static function show(): void
    {
        $state = Health::state();
        echo '<style>', self::STYLE, '</style>'; // phpcs:ignore WordPress.Security.EscapeOutput
        echo '<div class="wrap"><h1>', esc_html__('Chat widget', 'chat-widget'), '</h1>';
        self::showState($state);
        if ($state === 'token' && !defined('CHAT_TOKEN')) {
            echo '<h2>', esc_html__('Activate the site again', 'chat-widget'), '</h2>';
            self::showActivation();
        }
        self::showChat();
        echo '<h2>', esc_html__('Articles and page heads', 'chat-widget'), '</h2>';
        if (!Site::isConnected()) {
            $text = __('Activate the site with a license code. It then publishes what you approve.', 'chat-widget');
            echo '<p>', esc_html($text), '</p>';
            self::showActivation();
        } else {
            self::showOptions();
            self::showJobs();
            self::showDisconnect();
        }
        echo '</div>';
    }

    private static function showState(string $state): void
    {
        [$class, $sentence, $advice] = Health::notice($state);
        printf('<div class="notice notice-%s inline chat-widget-state"><p>', esc_attr($class));
        echo '<strong>', esc_html($sentence), '</strong> ', esc_html(implode(' ', $advice)), '</p>';
        foreach (Site::isConnected() ? ['error', 'syncError'] : [] as $name) {
            $problem = Site::state($name);
            if ($problem !== '') {
                echo '<p><code dir="ltr">', esc_html($problem), '</code></p>';
            }
        }
        if (Site::isConnected()) {
            $facts = [
                __('Service', 'chat-widget') => Site::get('origin'),
                __('Last run', 'chat-widget') => self::ago(Site::state('ranAt')),
                __('Last full sync', 'chat-widget') => self::ago(Site::state('syncedAt')),
                __('Pages in the service', 'chat-widget') => number_format_i18n((int) Site::state('items')),
            ];
            echo '<p>';
            foreach ($facts as $name => $value) {
                printf('<span>%s: <bdi>%s</bdi></span> ', esc_html($name), esc_html($value));
            }
            echo '</p>';
            self::showButtons();
        }
        echo '</div>';
    }

    private static function showButtons(): void
    {
        $isPaused = Site::isPaused();
        $pause = $isPaused ? __('Continue', 'chat-widget') : __('Pause', 'chat-widget');
        $buttons = ['run' => [__('Run now', 'chat-widget'), ''], 'pause' => [$pause, $isPaused ? 'primary' : '']];
        foreach ($isPaused ? ['pause' => $buttons['pause']] : $buttons as $action => [$text, $type]) {
            self::beginForm($action);
            submit_button($text, $type, 'submit', false, ['id' => "chat-widget-$action"]);
            echo '</form>';
        }
    }

    private static function showChat(): void
    {
        $note = Site::isConnected()
            ? __('The chat uses the connection of this page. data-proxy of the code is not used.', 'chat-widget')
            : __('An empty field removes the chat from your pages.', 'chat-widget');
        echo '<h2>', esc_html__('The chat on your pages', 'chat-widget'), '</h2>';
        echo '<form method="post" action="options.php">';
        settings_fields(Chat::SETTING);
        self::beginTable();
        self::row('code', __('Code', 'chat-widget'), sprintf(
            '<textarea id="chat-widget-code" name="%s" rows="5" class="large-text code" dir="ltr" spellcheck="false"
                aria-describedby="chat-widget-code-help">%s</textarea>',
            esc_attr(Chat::SETTING),
            esc_textarea(Chat::code())
        ), __('Copy it from the console of your service: Settings, Widget.', 'chat-widget') . " $note");
        self::endTable('code', __('Save the code', 'chat-widget'));
    }

    private static function showActivation(): void
    {
        self::beginForm('activate');
        self::beginTable();
        self::row('origin', __('Address of the service', 'chat-widget'), sprintf(
            '<input id="chat-widget-origin" name="origin" type="url" value="%s" placeholder="https://chat.example"
                required class="regular-text ltr">',
            esc_attr(Site::get('origin'))
        ));
        self::row(
            'license',
            __('License code', 'chat-widget'),
            '<input id="chat-widget-license" name="code" type="text" autocomplete="off" spellcheck="false" required
                class="regular-text code ltr" aria-describedby="chat-widget-license-help">',
            __('Create it in the console of your service: Settings, Tokens and licenses.', 'chat-widget')
        );
        self::endTable('activate', __('Activate', 'chat-widget'));
    }

    private static function showOptions(): void
    {
        self::beginForm('options');
        self::beginTable();
        $author = (int) Site::get('author');
        self::row('author', __('Author of new articles', 'chat-widget'), wp_dropdown_users([
            'echo' => false,
            'name' => 'author',
            'id' => 'chat-widget-author',
            'capability' => ['edit_posts'],
            'selected' => Settings::isAuthor($author) ? $author : 0,
            'show' => 'display_name_with_login',
            'show_option_none' => __('— No author —', 'chat-widget'),
            'option_none_value' => '0',
        ]));
        self::row('category', __('Category of new articles', 'chat-widget'), wp_dropdown_categories([
            'echo' => false,
            'name' => 'category',
            'id' => 'chat-widget-category',
            'hide_empty' => false,
            'hierarchical' => true,
            'orderby' => 'name',
            'selected' => (int) Site::get('category'),
            'show_option_none' => __('— The default category —', 'chat-widget'),
            'option_none_value' => '0',
        ]));
        self::row('webhook', __('Address of the webhook', 'chat-widget'), sprintf(
            '<input id="chat-widget-webhook" type="url" readonly value="%s" class="large-text code ltr"
                aria-describedby="chat-widget-webhook-help">',
            esc_attr(rest_url('chat-widget/v1/run'))
        ), __('A webhook runs jobs at once. Add this address in the console, and enter its secret.', 'chat-widget'));
        self::secretRow('webhookSecret', 'CHAT_WEBHOOK_SECRET', __('Secret of the webhook', 'chat-widget'), '');
        self::secretRow(
            'visitorSecret',
            'CHAT_VISITOR_SECRET',
            __('Secret of verified visitors', 'chat-widget'),
            __('Proves to the service which of your users is signed in.', 'chat-widget')
        );
        self::endTable('options', __('Save Changes', 'chat-widget'));
    }

    /** Shows the field of a secret. A stored secret is never shown, and stays if the field is empty. */
    private static function secretRow(string $name, string $constant, string $label, string $help): void
    {
        if (defined($constant)) {
            /* translators: %s: the name of a constant */
            $text = sprintf(__('Set by %s in wp-config.php.', 'chat-widget'), $constant);
            self::row($name, $label, sprintf(
                '<input id="chat-widget-%s" type="text" disabled value="%s" class="regular-text">',
                esc_attr($name),
                esc_attr($text)
            ), $help);
            return;
        }
        $isStored = Site::get($name) !== '';
        if ($isStored) {
            $help = trim("$help " . __('A secret is stored. An empty field keeps it.', 'chat-widget'));
        }
        $field = sprintf(
            '<input id="chat-widget-%1$s" name="%1$s" type="password" autocomplete="new-password" placeholder="%2$s"
                class="regular-text ltr"%3$s>',
            esc_attr($name),
            $isStored ? '••••••••' : '',
            $help === '' ? '' : sprintf(' aria-describedby="chat-widget-%s-help"', esc_attr($name))
        );
        if ($isStored) {
            $field .= sprintf(
                '<p><label><input type="checkbox" name="remove-%s" value="1"> %s</label></p>',
                esc_attr($name),
                esc_html__('Remove the stored secret', 'chat-widget')
            );
        }
        self::row($name, $label, $field, $help);
    }

    private static function showJobs(): void
    {
        $jobs = Jobs::journal(Database::open())->latest(self::LATEST_JOBS);
        echo '<h2>', esc_html__('Last jobs', 'chat-widget'), '</h2>';
        if ($jobs === []) {
            $text = __('No jobs yet. The first one appears when you publish something in the console.', 'chat-widget');
            echo '<p>', esc_html($text), '</p>';
            return;
        }
        $columns = [
            'job' => __('Job', 'chat-widget'),
            'title' => __('Title', 'chat-widget'),
            'time' => __('Time', 'chat-widget'),
            'outcome' => __('Outcome', 'chat-widget'),
        ];
        echo '<table class="wp-list-table widefat fixed striped chat-widget-jobs"><thead><tr>';
        foreach ($columns as $name => $title) {
            $class = $name === 'job' ? 'column-job column-primary' : "column-$name";
            printf('<th scope="col" class="%s">%s</th>', esc_attr($class), esc_html($title));
        }
        echo '</tr></thead><tbody>';
        foreach ($jobs as $job) {
            $cells = [
                'job' => self::kind($job['type']),
                'title' => $job['title'] === '' ? '—' : $job['title'],
                'time' => self::ago((string) intdiv((int) $job['recorded_at'], 1000)),
                'outcome' => self::outcome($job),
            ];
            // On a phone, WordPress shows the other columns of an expanded row below the first.
            echo '<tr class="is-expanded">';
            foreach ($cells as $name => $text) {
                printf(
                    '<td class="column-%s" data-colname="%s"><bdi>%s</bdi></td>',
                    $name === 'job' ? 'job column-primary' : esc_attr($name),
                    esc_attr($columns[$name]),
                    esc_html($text)
                );
            }
            echo '</tr>';
        }
        echo '</tbody></table>';
    }

    private static function showDisconnect(): void
    {
        if (defined('CHAT_TOKEN')) {
            return;
        }
        echo '<details class="chat-widget-disconnect"><summary>', esc_html__('Disconnect the site', 'chat-widget');
        echo '</summary><p>';
        esc_html_e('The articles stay. The page heads of the service stay until you delete the plugin.', 'chat-widget');
        echo ' ', esc_html__('To connect again, you need a new license code.', 'chat-widget'), '</p>';
        self::beginForm('disconnect');
        submit_button(__('Disconnect', 'chat-widget'), 'delete', 'submit', false, ['id' => 'chat-widget-disconnect']);
        echo '</form></details>';
    }

    private static function kind(string $type): string
    {
        return [
            'publish_article' => __('Publish an article', 'chat-widget'),
            'delete_article' => __('Delete an article', 'chat-widget'),
            'delete_content' => __('Delete an article', 'chat-widget'),
            'rollback_article' => __('Roll an article back', 'chat-widget'),
            'rollback_content' => __('Roll an article back', 'chat-widget'),
            'apply_seo_overlay' => __('Change a page head', 'chat-widget'),
            'sync_content' => __('Send all pages', 'chat-widget'),
        ][$type] ?? $type;
    }

    private static function outcome(array $job): string
    {
        $outcome = $job['is_ok'] === '1' ? __('Done', 'chat-widget') : __('Failed', 'chat-widget');
        $waits = $job['is_reported'] === '1' ? '' : ' ' . __('(the service does not know it yet)', 'chat-widget');
        // The note is in English, also on a page from right to left: isolated, its full stop stays at its end.
        return $outcome . $waits . ($job['note'] === '' ? '' : ": \u{2068}$job[note]\u{2069}");
    }

    /** Returns how long ago a time was, in seconds since 1970. */
    private static function ago(string $time): string
    {
        if ((int) $time === 0) {
            return __('not yet', 'chat-widget');
        }
        /* translators: %s: a duration, such as "5 minutes" */
        return sprintf(__('%s ago', 'chat-widget'), human_time_diff((int) $time));
    }

    /** Begins a form that `Settings` answers. */
    private static function beginForm(string $action): void
    {
        printf('<form method="post" action="%s">', esc_url(admin_url('admin-post.php')));
        printf('<input type="hidden" name="action" value="chat_widget_%s">', esc_attr($action));
        // WordPress' own function would give all these fields the same id.
        printf('<input type="hidden" name="_wpnonce" value="%s">', esc_attr(wp_create_nonce("chat_widget_$action")));
    }

    private static function beginTable(): void
    {
        echo '<table class="form-table" role="presentation"><tbody>';
    }

    private static function endTable(string $name, string $button): void
    {
        echo '</tbody></table>';
        submit_button($button, 'primary', 'submit', true, ['id' => "chat-widget-$name-submit"]);
        echo '</form>';
    }

    /** Shows a field with its label and its help. The field is HTML. */
    private static function row(string $id, string $label, string $field, string $help = ''): void
    {
        printf('<tr><th scope="row"><label for="chat-widget-%s">%s</label></th>', esc_attr($id), esc_html($label));
        echo '<td>', $field;
        if ($help !== '') {
            printf('<p class="description" id="chat-widget-%s-help">%s</p>', esc_attr($id), esc_html($help));
        }
        echo '</td></tr>';
    }
}
