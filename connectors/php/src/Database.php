<?php

declare(strict_types=1);

namespace SiteConnector;

/** The site's own database, as the journal and the record of synced pages use it. */
interface Database
{
    /** Returns the rows of a query as arrays by the names of their columns. Each `?` is a text. */
    public function rows(string $sql, array $values = []): array;

    /** Executes a statement. Fails if the database refuses it. */
    public function execute(string $sql, array $values = []): void;

    /** Stores a row, in place of one with the same primary key. */
    public function put(string $table, array $row): void;

    /** Takes a lock that ends with the connection. Returns false if another connection holds it. */
    public function lock(string $name): bool;

    /** Returns whether this connection holds the lock. */
    public function holds(string $name): bool;

    public function unlock(string $name): void;
}
