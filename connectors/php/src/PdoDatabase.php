<?php

declare(strict_types=1);

namespace SiteConnector;

/** A database of PDO: MySQL, MariaDB, PostgreSQL or SQLite. */
final class PdoDatabase implements Database
{
    private \PDO $pdo;
    private string $driver;
    /** @var array<string, resource> */
    private array $files = [];

    public function __construct(\PDO $pdo)
    {
        $pdo->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_EXCEPTION);
        $this->pdo = $pdo;
        $this->driver = $pdo->getAttribute(\PDO::ATTR_DRIVER_NAME);
    }

    public function rows(string $sql, array $values = []): array
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($values);
        return $statement->fetchAll(\PDO::FETCH_ASSOC);
    }

    public function execute(string $sql, array $values = []): void
    {
        $this->pdo->prepare($sql)->execute($values);
    }

    public function put(string $table, array $row): void
    {
        $names = array_keys($row);
        $columns = implode(', ', $names);
        $places = implode(', ', array_fill(0, count($names), '?'));
        $insert = "INTO $table ($columns) VALUES ($places)";
        if ($this->driver === 'pgsql') {
            // The first column is the key.
            $sets = implode(', ', array_map(static fn (string $name): string => "$name = excluded.$name", $names));
            $this->execute("INSERT $insert ON CONFLICT ($names[0]) DO UPDATE SET $sets", array_values($row));
        } else {
            $this->execute("REPLACE $insert", array_values($row));
        }
    }

    public function lock(string $name): bool
    {
        if ($this->driver === 'mysql') {
            return (string) ($this->rows('SELECT GET_LOCK(?, 0) AS held', [$name])[0]['held'] ?? '') === '1';
        }
        if ($this->driver === 'pgsql') {
            return (bool) $this->rows('SELECT pg_try_advisory_lock(hashtext(?)) AS held', [$name])[0]['held'];
        }
        $database = $this->rows('PRAGMA database_list')[0]['file'] ?? '';
        $file = fopen($database === '' ? 'php://temp' : "$database.$name.lock", 'c');
        if ($file === false || ($database !== '' && !flock($file, LOCK_EX | LOCK_NB))) {
            return false;
        }
        $this->files[$name] = $file;
        return true;
    }

    public function holds(string $name): bool
    {
        if ($this->driver === 'mysql') {
            $sql = 'SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS held';
            return (string) ($this->rows($sql, [$name])[0]['held'] ?? '') === '1';
        }
        // PDO does not connect again by itself.
        return $this->driver === 'pgsql' || isset($this->files[$name]);
    }

    public function unlock(string $name): void
    {
        if ($this->driver === 'mysql') {
            $this->rows('SELECT RELEASE_LOCK(?)', [$name]);
        } elseif ($this->driver === 'pgsql') {
            $this->rows('SELECT pg_advisory_unlock(hashtext(?))', [$name]);
        } else {
            unset($this->files[$name]);
        }
    }
}
