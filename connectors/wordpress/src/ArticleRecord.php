<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\Text;

/**
 * The record of one article: its versions, the jobs that were applied, and the post. It is written in one statement
 * before the post, so that a job that is repeated after a crash completes what it began, and changes nothing else.
 */
final class ArticleRecord
{
    /** Maximum versions and applied jobs that are remembered. */
    private const MAX_REMEMBERED = 20;

    public string $key;
    public int $post = 0;
    /** The site's own post as it was before the first job, or null if a job created the post. */
    public ?array $own = null;
    /** @var array[] the post's fields, oldest first */
    public array $versions = [];
    public bool $isWithdrawn = false;
    /** @var string[] ids of jobs */
    public array $applied = [];
    /** The digest of the post as the last job found it, and as it wrote it. Any other state is an edit by hand. */
    public string $found = '';
    public string $written = '';
    /** The public address that the article had last. */
    public string $url = '';
    private Database $database;

    private function __construct(Database $database, string $key)
    {
        $this->database = $database;
        $this->key = $key;
    }

    /** Reads the record of the content that a name of the service or of the site identifies. */
    public static function of(Database $database, string $name): self
    {
        $record = new self($database, hash('sha256', $name));
        $sql = 'SELECT post_id, record FROM ' . Database::table('articles') . ' WHERE article_key = ?';
        $row = $database->rows($sql, [$record->key])[0] ?? null;
        if ($row !== null) {
            $record->post = (int) $row['post_id'];
            foreach (json_decode($row['record'], true) as $field => $value) {
                $record->$field = $value;
            }
        }
        return $record;
    }

    public function write(): void
    {
        $fields = ['own', 'versions', 'isWithdrawn', 'applied', 'found', 'written', 'url'];
        $this->versions = array_slice($this->versions, -self::MAX_REMEMBERED);
        $this->applied = array_slice($this->applied, -self::MAX_REMEMBERED);
        $this->database->put(Database::table('articles'), [
            'article_key' => $this->key,
            'post_id' => $this->post === 0 ? null : (string) $this->post,
            'record' => Text::json(array_intersect_key(get_object_vars($this), array_flip($fields))),
        ]);
    }

    /** Returns the fields that the post should have: the version, or the site's own; null if there should be none. */
    public function wanted(): ?array
    {
        return $this->versions === [] || $this->isWithdrawn ? $this->own : end($this->versions);
    }

    /** Returns whether the service's article is visible. */
    public function isPublished(): bool
    {
        return $this->versions !== [] && !$this->isWithdrawn;
    }

    /** Goes back to the version before; a withdrawn article is published again. Returns false if there is none. */
    public function rollBack(): bool
    {
        if ($this->isWithdrawn && $this->versions !== []) {
            $this->isWithdrawn = false;
            return true;
        }
        return count($this->versions) >= ($this->own === null ? 2 : 1) && array_pop($this->versions) !== null;
    }
}
