<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\SyncRecord;
use SiteConnector\TableJournal;

/** WordPress' database, with the plugin's tables for one site of a network. */
final class Database implements \SiteConnector\Database
{
    private const VERSION = '1';
    private const VERSION_OPTION = 'chat_widget_tables';
    public const TABLES = ['jobs', 'synced', 'articles', 'overlays'];

    /** Returns the full name of one of the plugin's tables. */
    public static function table(string $name): string
    {
        global $wpdb;
        return "{$wpdb->prefix}chat_widget_$name";
    }

    /** Returns the database, with its tables. */
    public static function open(): self
    {
        $database = new self();
        if (get_option(self::VERSION_OPTION) !== self::VERSION) {
            $database->createTables();
            update_option(self::VERSION_OPTION, self::VERSION);
        }
        return $database;
    }

    /** Returns whether the site has the tables: a site that was never connected has none. */
    public static function exists(): bool
    {
        return get_option(self::VERSION_OPTION) !== false;
    }

    private function createTables(): void
    {
        global $wpdb;
        $options = ' ' . $wpdb->get_charset_collate();
        [$jobs, $synced, $articles, $overlays] = array_map([self::class, 'table'], self::TABLES);
        $this->execute(TableJournal::schema($jobs, $options));
        $this->execute(SyncRecord::schema($synced, $options));
        $this->execute("CREATE TABLE IF NOT EXISTS $articles (
            article_key CHAR(64) NOT NULL PRIMARY KEY,
            post_id BIGINT UNSIGNED UNIQUE,
            record LONGTEXT NOT NULL
        )$options");
        $this->execute("CREATE TABLE IF NOT EXISTS $overlays (
            path_key CHAR(64) NOT NULL PRIMARY KEY,
            path TEXT NOT NULL,
            overlay LONGTEXT NOT NULL
        )$options");
    }

    /** Deletes the plugin's tables of the current site. */
    public static function dropTables(): void
    {
        global $wpdb;
        foreach (self::TABLES as $name) {
            $wpdb->query('DROP TABLE IF EXISTS ' . self::table($name));
        }
        delete_option(self::VERSION_OPTION);
    }

    public function rows(string $sql, array $values = []): array
    {
        global $wpdb;
        $rows = $this->run(static fn () => $wpdb->get_results(self::prepared($sql, $values), ARRAY_A));
        return is_array($rows) ? $rows : [];
    }

    public function execute(string $sql, array $values = []): void
    {
        global $wpdb;
        $this->run(static fn () => $wpdb->query(self::prepared($sql, $values)));
    }

    public function put(string $table, array $row): void
    {
        global $wpdb;
        $this->run(static fn () => $wpdb->replace($table, $row));
    }

    public function lock(string $name): bool
    {
        return ($this->rows('SELECT GET_LOCK(?, 0) AS held', [$this->lockName($name)])[0]['held'] ?? null) === '1';
    }

    public function holds(string $name): bool
    {
        // wpdb connects again by itself, and the lock ends with the connection.
        $sql = 'SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS held';
        return ($this->rows($sql, [$this->lockName($name)])[0]['held'] ?? null) === '1';
    }

    public function unlock(string $name): void
    {
        $this->rows('SELECT RELEASE_LOCK(?)', [$this->lockName($name)]);
    }

    /** Locks belong to the server, so their names begin with the database's. At most 64 characters. */
    private function lockName(string $name): string
    {
        return substr(hash('sha256', DB_NAME), 0, 16) . "-$name";
    }

    private static function prepared(string $sql, array $values): string
    {
        global $wpdb;
        return $values === [] ? $sql : $wpdb->prepare(str_replace('?', '%s', $sql), $values);
    }

    /** Runs a query, and fails if the database refuses it. */
    private function run(callable $query)
    {
        global $wpdb;
        $shown = $wpdb->suppress_errors();
        $wpdb->last_error = '';
        $result = $query();
        $wpdb->suppress_errors($shown);
        if ($wpdb->last_error !== '' || $result === false) {
            throw new \RuntimeException("the database refused a query: $wpdb->last_error");
        }
        return $result;
    }
}
