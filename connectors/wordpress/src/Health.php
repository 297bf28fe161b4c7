<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\ConnectorError;

/** The state of the connection, with what to do about it. */
final class Health
{
    /** The time without a look for jobs after which WP-Cron is not running, in seconds. */
    private const LATE_S = 15 * MINUTE_IN_SECONDS;

    /** Returns the kind of a failure: the token is not valid, the service is away, or another. */
    public static function kindOf(\RuntimeException $error): string
    {
        if (!$error instanceof ConnectorError) {
            return 'problem';
        }
        if ($error->errorCode === 'INVALID_TOKEN' || $error->status === 401) {
            return 'token';
        }
        return $error->retryable ? 'away' : 'problem';
    }

    /** Returns the state: `new`, `chat`, `paused`, `token`, `away`, `problem`, `first`, `late` or `connected`. */
    public static function state(): string
    {
        if (!Site::isConnected()) {
            return Chat::code() === '' ? 'new' : 'chat';
        }
        if (Site::isPaused()) {
            return 'paused';
        }
        $kinds = [Site::state('errorKind'), Site::state('syncErrorKind')];
        foreach (['token', 'away', 'problem'] as $kind) {
            if (in_array($kind, $kinds, true)) {
                return $kind;
            }
        }
        $ranAt = (int) Site::state('ranAt');
        if ($ranAt === 0) {
            return 'first';
        }
        return time() - $ranAt > self::LATE_S ? 'late' : 'connected';
    }

    /** Returns the colour of the notice, its sentence, and the advice. */
    public static function notice(string $state): array
    {
        switch ($state) {
            case 'new':
                return ['info', __('There is no chat on your pages yet.', 'chat-widget'), [
                    __('Paste the code of the chat, or activate the site with a license code.', 'chat-widget'),
                ]];
            case 'chat':
                return ['success', __('The chat is on your pages.', 'chat-widget'), [
                    __('To publish articles and page heads as well, activate the site.', 'chat-widget'),
                ]];
            case 'paused':
                return ['warning', __('Paused. The chat goes on.', 'chat-widget'), [
                    __('Jobs wait in the service, and your changes wait here.', 'chat-widget'),
                    __('Choose “Continue” to catch up.', 'chat-widget'),
                ]];
            case 'token':
                return ['error', __('The service no longer accepts the token of this site.', 'chat-widget'), [
                    defined('CHAT_TOKEN')
                        ? __('Put a new token into wp-config.php.', 'chat-widget')
                        : __('Create a license code in the console, and activate the site again below.', 'chat-widget'),
                    __('Until then, the chat has no answers, and nothing is published.', 'chat-widget'),
                ]];
            case 'away':
                return ['warning', __('The service does not answer.', 'chat-widget'), [
                    __('Nothing is lost, and the plugin tries again every minute.', 'chat-widget'),
                    __('If it lasts, contact the provider of the service.', 'chat-widget'),
                ]];
            case 'problem':
                return ['error', __('The last run failed.', 'chat-widget'), [
                    __('Solve the problem below, and choose “Run now”.', 'chat-widget'),
                ]];
            case 'first':
                return ['info', __('Connected. The first run begins within a minute.', 'chat-widget'), [
                    __('If this line stays, WP-Cron does not run. Choose “Run now”.', 'chat-widget'),
                ]];
            case 'late':
                return ['warning', __('Connected, but nothing has run for a while.', 'chat-widget'), [
                    __('WP-Cron runs when somebody visits the site.', 'chat-widget'),
                    __('On a quiet site, call wp-cron.php from a real cron job, or set up the webhook.', 'chat-widget'),
                ]];
            default:
                return ['success', __('Connected. Jobs run every minute.', 'chat-widget'), [
                    __('Your changes are sent a few seconds after you save them.', 'chat-widget'),
                ]];
        }
    }
}
