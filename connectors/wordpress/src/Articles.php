<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\JobFailure;
use SiteConnector\Text;

/** Publishes, deletes and rolls back articles as posts and pages of WordPress. */
final class Articles
{
    private const FIELDS = [
        'post_title',
        'post_content',
        'post_excerpt',
        'post_name',
        'post_parent',
        'post_status',
        'post_type',
    ];
    /** Letters of the content that must be on the page. */
    private const COMPARED = 300;

    private Database $database;

    public function __construct(Database $database)
    {
        $this->database = $database;
    }

    public function execute(array $job, callable $step): array
    {
        $payload = is_array($job['payload'] ?? null) ? $job['payload'] : [];
        $text = static fn (string $field): string => is_string($payload[$field] ?? null) ? $payload[$field] : '';
        $name = array_values(array_filter([$text('contentId'), $text('externalId'), $text('path')]))[0] ?? null;
        if ($name === null) {
            throw new JobFailure('The payload names no content.');
        }
        $record = ArticleRecord::of($this->database, $name);
        $this->find($record, $text('externalId'), $text('path'));
        $before = $this->fields($record->post);
        self::refuseWhileEdited($record->post);
        if (!in_array($job['id'], $record->applied, true)) {
            $this->keepEdits($record, $before, [$record->written]);
            switch (self::action($job['type'], $text('action'))) {
                case 'delete':
                    $record->isWithdrawn = true;
                    break;
                case 'rollback':
                    if (!$record->rollBack()) {
                        throw new JobFailure('There is no earlier version to go back to.');
                    }
                    break;
                default:
                    $record->versions[] = $this->version($payload, $record->own === null ? null : $before);
                    $record->isWithdrawn = false;
            }
            $record->applied[] = $job['id'];
            $record->found = self::digest($before);
            $step('record');
            $record->write();
        } else {
            $known = [$record->found, $record->written, self::digest($record->wanted())];
            if ($this->keepEdits($record, $before, $known)) {
                $record->found = self::digest($before);
                $step('record again');
                $record->write();
            }
        }
        $this->reconcile($record, self::digest($before), $text('locale'), $step);
        return $this->verified($record, $text('externalId'), $text('path'), $step);
    }

    private static function action(string $type, string $action): string
    {
        if (strncmp($type, 'delete_', 7) === 0 || in_array($action, ['delete', 'unpublish'], true)) {
            return 'delete';
        }
        $isRollback = strncmp($type, 'rollback_', 9) === 0 || in_array($action, ['rollback', 'roll_back'], true);
        return $isRollback ? 'rollback' : 'publish';
    }

    /**
     * Finds the post of a record: the recorded one, the one that a killed run has created, or the site's own post at
     * the address, whose state is then kept.
     */
    private function find(ArticleRecord $record, string $externalId, string $path): void
    {
        global $wpdb;
        if ($record->post !== 0 && get_post($record->post) !== null) {
            return;
        }
        $record->post = 0;
        // The post's row has had its guid from the beginning.
        $sql = "SELECT ID FROM $wpdb->posts WHERE guid = ? ORDER BY ID LIMIT 1";
        $record->post = (int) ($this->database->rows($sql, [self::guid($record)])[0]['ID'] ?? 0);
        if ($record->post !== 0 || $record->applied !== []) {
            return;
        }
        $own = preg_match('/^post-(\d+)$/D', $externalId, $found) === 1 ? (int) $found[1] : 0;
        // Only the path counts: `/?p=1` would be any post of the site.
        $path = (string) wp_parse_url($path, PHP_URL_PATH);
        $own = $own !== 0 || $path === '' ? $own : url_to_postid(Site::url($path));
        $post = $own === 0 ? null : get_post($own);
        if ($post === null || !in_array($post->post_type, ['post', 'page'], true) || $post->post_status !== 'publish') {
            return;
        }
        $sql = 'SELECT article_key FROM ' . Database::table('articles') . ' WHERE post_id = ?';
        if ($this->database->rows($sql, [(string) $own]) !== []) {
            throw new JobFailure('Another article of the service is at this address.');
        }
        $record->post = $own;
        $record->own = $this->fields($own);
        $record->written = self::digest($record->own);
    }

    /** Returns the name by which a post is found that a killed run has created. */
    private static function guid(ArticleRecord $record): string
    {
        return "urn:chat-widget:$record->key";
    }

    /** Keeps the post as a version if somebody has edited it by hand. Returns whether somebody has. */
    private function keepEdits(ArticleRecord $record, ?array $found, array $known): bool
    {
        $isEdited = $found !== null && $found['post_status'] !== 'trash' && $record->applied !== []
            && !in_array(self::digest($found), $known, true);
        if ($isEdited && $record->own !== null && !$record->isPublished()) {
            $record->own = $found;
        } elseif ($isEdited) {
            // During a repeated job, the edit is older than the version that the job has added.
            $isRepeated = count($known) > 1 && $record->isPublished();
            array_splice($record->versions, $isRepeated ? -1 : count($record->versions), 0, [$found]);
        }
        return $isEdited;
    }

    /** Returns the fields that an article of the service has as a post. Scripts are removed, as from authors' texts. */
    private function version(array $payload, ?array $own): array
    {
        foreach (['path', 'title', 'content'] as $field) {
            if (!is_string($payload[$field] ?? null) || $payload[$field] === '') {
                throw new JobFailure("The payload has no $field.");
            }
        }
        $path = rawurldecode((string) wp_parse_url($payload['path'], PHP_URL_PATH));
        $folder = explode('/', trim(Site::path(home_url('/')), '/'));
        $parts = array_values(array_filter(explode('/', $path)));
        if (array_slice($parts, 0, count($folder)) === $folder) {
            $parts = array_slice($parts, count($folder));
        }
        if ($parts === [] && $own === null) {
            throw new JobFailure('The site has no page at the path /.');
        }
        $fields = [
            'post_title' => wp_kses(htmlspecialchars($payload['title'], ENT_NOQUOTES, 'UTF-8'), []),
            'post_content' => wp_kses_post(self::withoutScripts($payload['content'])),
            'post_excerpt' => $own['post_excerpt'] ?? '',
            'post_status' => 'publish',
        ];
        if ($own !== null) {
            // The site's own page keeps its address.
            return $fields + $own;
        }
        $type = ($payload['type'] ?? 'post') === 'page' ? 'page' : 'post';
        $slug = (string) array_pop($parts);
        $parent = $type === 'page' && $parts !== [] ? get_page_by_path(implode('/', $parts)) : null;
        if ($type === 'page' && $parts !== [] && $parent === null) {
            throw new JobFailure('The site has no page /' . implode('/', $parts) . ' above the article.');
        }
        return $fields + [
            'post_name' => sanitize_title($slug),
            'post_parent' => $parent === null ? 0 : $parent->ID,
            'post_type' => $type,
        ];
    }

    /** WordPress removes the tags of scripts, and leaves their text. */
    private static function withoutScripts(string $html): string
    {
        return preg_replace('~<(script|style)\b[^>]*+>.*?</\1\s*+>~is', '', $html) ?? '';
    }

    /** Fails while a person has the post open in WordPress' editor: what they save next would undo the job. */
    private static function refuseWhileEdited(int $post): void
    {
        require_once ABSPATH . 'wp-admin/includes/post.php';
        $editor = $post === 0 ? false : wp_check_post_lock($post);
        if ($editor !== false) {
            $user = get_userdata($editor);
            $name = $user === false ? 'Somebody' : Text::line($user->display_name);
            throw new JobFailure("$name has the page open in the editor. Close it, and run the job again.");
        }
    }

    /** Fails if somebody has saved the post since the job read it. The job keeps that edit when it is repeated. */
    private function refuseIfChanged(int $post, string $before): void
    {
        if (self::digest($this->fields($post)) !== $before) {
            throw new JobFailure('Somebody has saved the page while the job ran. Run the job again.');
        }
    }

    /** Makes the post what its record wants. `$before` is the digest of the post as the job has read it. */
    private function reconcile(ArticleRecord $record, string $before, string $locale, callable $step): void
    {
        $wanted = $record->wanted();
        $found = $this->fields($record->post);
        if ($wanted === null) {
            if ($found !== null && $found['post_status'] !== 'trash') {
                $step('trash');
                $this->refuseIfChanged($record->post, $before);
                wp_trash_post($record->post);
            }
        } elseif ($found === null) {
            $this->create($record, $wanted, $locale, $step);
        } elseif (self::digest($found) !== self::digest($wanted)) {
            $this->refuseIfChanged($record->post, $before);
            if ($found['post_status'] === 'trash') {
                $step('untrash');
                wp_untrash_post($record->post);
                $before = self::digest($this->fields($record->post));
            }
            if ($found['post_status'] === 'draft' && $record->own === null) {
                // A killed run has created the post.
                Language::assign($record->post, $locale);
            }
            $step('update');
            $this->refuseIfChanged($record->post, $before);
            self::check(wp_update_post(wp_slash(['ID' => $record->post] + $wanted), true));
        }
        $now = $this->fields($record->post);
        $record->written = self::digest($now);
        if ($now !== null && $now['post_status'] !== 'trash') {
            $record->url = (string) get_permalink($record->post);
        }
        $step('written');
        $record->write();
    }

    /** Creates a post as a draft, and publishes it once it is complete, so that visitors never see a part of it. */
    private function create(ArticleRecord $record, array $wanted, string $locale, callable $step): void
    {
        $category = Language::category((int) Site::get('category'), $locale);
        $author = (int) Site::get('author');
        $step('insert');
        $record->post = self::check(wp_insert_post(wp_slash([
            'post_status' => 'draft',
            'guid' => self::guid($record),
            'post_author' => get_userdata($author) === false ? 0 : $author,
            'post_category' => $category > 0 && $wanted['post_type'] === 'post' ? [$category] : [],
            'comment_status' => get_default_comment_status($wanted['post_type']),
        ] + $wanted), true));
        $step('inserted');
        $record->write();
        Language::assign($record->post, $locale);
        $step('publish');
        self::check(wp_update_post(wp_slash(['ID' => $record->post] + $wanted), true));
    }

    /** @param int|\WP_Error $result */
    private static function check($result): int
    {
        if (is_wp_error($result) || $result === 0) {
            $reason = is_wp_error($result) ? $result->get_error_message() : 'no reason given';
            throw new JobFailure("WordPress refused the post: $reason");
        }
        return $result;
    }

    /** Returns the result of a job, after a look at the public page. */
    private function verified(ArticleRecord $record, string $externalId, string $path, callable $step): array
    {
        $step('verify');
        $name = $record->post !== 0 ? "post-$record->post" : $externalId;
        if (!$record->isPublished()) {
            $last = end($record->versions);
            $url = $record->url !== '' ? $record->url : Site::url($path);
            if ($record->own === null && $last !== false && $this->shows($url, $last, $record->post)) {
                throw new JobFailure("The article was deleted, but $url still shows it. A cache may hold it.");
            }
            if ($record->own !== null && PublicPage::read($url) === null) {
                throw new JobFailure("The page that was there before is stored, but $url does not show it.");
            }
            $message = $record->own === null ? null : 'The page that was there before is back.';
            $status = $last === false ? 'restored' : 'deleted';
            return array_filter(['externalId' => $name, 'status' => $status, 'message' => $message]);
        }
        $url = $record->url;
        if (!$this->shows($url, $record->wanted(), $record->post)) {
            throw new JobFailure("WordPress stored the article, but $url does not show it. A cache may be in between.");
        }
        $result = ['externalId' => $name, 'url' => $url, 'path' => (string) wp_parse_url($url, PHP_URL_PATH)];
        $result['status'] = 'published';
        if ($path !== '' && Site::path($url) !== Site::path(Site::url($path))) {
            $result['message'] = "WordPress' permalinks give the article another path than $path.";
        }
        return $result;
    }

    /** Returns whether a page shows a version: its title, and the beginning and the end of its content. */
    private function shows(string $url, array $version, int $post): bool
    {
        $html = PublicPage::read($url);
        if ($html === null) {
            return false;
        }
        $page = Text::letters($html);
        $title = apply_filters('the_title', $version['post_title'], $post);
        foreach ([$title, apply_filters('the_content', $version['post_content'])] as $part) {
            $letters = Text::letters($part);
            foreach ([mb_substr($letters, 0, self::COMPARED), mb_substr($letters, -self::COMPARED)] as $text) {
                if ($text !== '' && strpos($page, $text) === false) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns a post's fields as they are stored, or null if there is no such post. */
    private function fields(int $id): ?array
    {
        clean_post_cache($id);
        $post = $id === 0 ? null : get_post($id, ARRAY_A);
        return $post === null ? null : array_intersect_key($post, array_flip(self::FIELDS));
    }

    /** Returns the digest of fields as WordPress stores them. */
    private static function digest(?array $fields): string
    {
        if ($fields === null) {
            return '';
        }
        $stored = [];
        foreach (self::FIELDS as $field) {
            $stored[] = (string) sanitize_post_field($field, wp_slash((string) $fields[$field]), 0, 'db');
        }
        return hash('sha256', Text::json(array_map('wp_unslash', $stored)));
    }
}
