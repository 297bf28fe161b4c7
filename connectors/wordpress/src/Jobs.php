<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\ContentSync;
use SiteConnector\JobFailure;
use SiteConnector\JobHandler;
use SiteConnector\JobRunner;
use SiteConnector\SyncRecord;
use SiteConnector\TableJournal;

/** The jobs of the service, and the sync of what editors change. */
final class Jobs implements JobHandler
{
    /** Ids of posts that changed since they were pushed. */
    public const CHANGED = 'chat_widget_changed';

    private Database $database;

    private function __construct()
    {
        $this->database = Database::open();
    }

    /** Claims and executes jobs for some seconds. */
    public static function run(): void
    {
        if (!Site::isConnected() || Site::isPaused()) {
            return;
        }
        ignore_user_abort(true);
        $jobs = new self();
        $observe = static function (string $step, string $job): void {
            // For tests and for logs.
            do_action('chat_widget_step', $step, $job);
        };
        try {
            $runner = new JobRunner(Site::client(), $jobs, self::journal($jobs->database), $observe);
            if ($runner->run() !== null) {
                Site::record(['ranAt' => time(), 'error' => '', 'errorKind' => '']);
            }
        } catch (\RuntimeException $error) {
            $kind = Health::kindOf($error);
            Site::record(['ranAt' => time(), 'error' => $error->getMessage(), 'errorKind' => $kind]);
        }
    }

    public static function journal(Database $database): TableJournal
    {
        return new TableJournal($database, Database::table('jobs'));
    }

    public function execute(array $job, callable $step): array
    {
        switch ($job['type']) {
            case 'publish_article':
            case 'delete_article':
            case 'delete_content':
            case 'rollback_article':
            case 'rollback_content':
                return (new Articles($this->database))->execute($job, $step);
            case 'apply_seo_overlay':
                return (new Heads($this->database))->execute($job, $step);
            case 'sync_content':
                $step('sync');
                $snapshot = $job['payload']['snapshotId'] ?? $job['id'];
                // A repeated job may find other content, and so needs other keys.
                $synced = $this->sync()->reconcile(new Content(), "$snapshot-" . ($job['attempts'] ?? 1), true);
                return ['status' => 'synced', 'data' => ['items' => $synced['items']]];
            default:
                throw new JobFailure("Unknown job type {$job['type']}.");
        }
    }

    private function sync(): ContentSync
    {
        return new ContentSync(Site::client(), new SyncRecord($this->database, Database::table('synced')));
    }

    /** Remembers a post that an editor has saved, deleted or moved, and pushes it soon. */
    public static function changed(int $post): void
    {
        if (!Site::isConnected() || wp_is_post_revision($post) || wp_is_post_autosave($post)) {
            return;
        }
        $changed = get_option(self::CHANGED, []);
        update_option(self::CHANGED, [$post => true] + (is_array($changed) ? $changed : []), false);
        Hooks::pushSoon();
    }

    /** Pushes what editors changed. What fails now is pushed with the next change, or by the next reconcile. */
    public static function push(): void
    {
        $changed = get_option(self::CHANGED, []);
        if (!Site::isConnected() || Site::isPaused() || !is_array($changed) || $changed === []) {
            return;
        }
        self::syncing(static function (self $jobs) use ($changed): void {
            $record = new SyncRecord($jobs->database, Database::table('synced'));
            $items = $gone = [];
            foreach (array_keys($changed) as $post) {
                $now = Content::ofPost($post);
                $items = array_merge($items, $now);
                $keys = array_map([SyncRecord::class, 'key'], $now);
                $gone = array_merge($gone, array_diff($record->named("post-$post"), $keys));
            }
            $jobs->sync()->push($items, $gone, 'change-' . \SiteConnector\Text::unique());
            // A post that was changed in the meantime is pushed again.
            update_option(self::CHANGED, array_diff_key((array) get_option(self::CHANGED, []), $changed), false);
        });
    }

    /** Compares all content with what the service has, and reads the published page heads. */
    public static function reconcile(): void
    {
        if (!Site::isConnected() || Site::isPaused()) {
            return;
        }
        self::syncing(static function (self $jobs): void {
            $synced = $jobs->sync()->reconcile(new Content(), 'reconcile-' . \SiteConnector\Text::unique(), false);
            Site::record(['syncedAt' => time(), 'items' => $synced['items']]);
            (new Heads($jobs->database))->pull(Site::client()->overlays());
        });
    }

    /** Runs one sync at a time. */
    private static function syncing(callable $work): void
    {
        $jobs = new self();
        $lock = 'sync-' . substr(hash('sha256', Database::table('synced')), 0, 32);
        if (!$jobs->database->lock($lock)) {
            return;
        }
        try {
            $work($jobs);
            Site::record(['syncError' => '', 'syncErrorKind' => '']);
        } catch (\RuntimeException $error) {
            Site::record(['syncError' => $error->getMessage(), 'syncErrorKind' => Health::kindOf($error)]);
        } finally {
            $jobs->database->unlock($lock);
        }
    }
}
