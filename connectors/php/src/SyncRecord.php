<?php

declare(strict_types=1);

namespace SiteConnector;

/** The items that the service has, with the digest of each, in a table of the site's database. */
final class SyncRecord
{
    private Database $database;
    private string $table;

    public function __construct(Database $database, string $table)
    {
        $this->database = $database;
        $this->table = $table;
    }

    /** Returns the statement that creates the table. */
    public static function schema(string $table, string $options = ''): string
    {
        return "CREATE TABLE IF NOT EXISTS $table (
            item_key CHAR(64) NOT NULL PRIMARY KEY,
            item TEXT NOT NULL,
            digest CHAR(64) NOT NULL
        )$options";
    }

    /** Returns the digests of the items by their keys. */
    public function digests(): array
    {
        return array_column($this->database->rows("SELECT item_key, digest FROM $this->table"), 'digest', 'item_key');
    }

    /** Returns the kind, the `externalId` and the locale of items by their keys. */
    public function names(array $keys): array
    {
        $names = [];
        foreach (array_chunk($keys, 100) as $some) {
            $places = implode(', ', array_fill(0, count($some), '?'));
            $sql = "SELECT item_key, item FROM $this->table WHERE item_key IN ($places)";
            foreach ($this->database->rows($sql, $some) as $row) {
                $names[$row['item_key']] = json_decode($row['item'], true);
            }
        }
        return $names;
    }

    /** Returns the names of the items with an `externalId`, in all locales. */
    public function named(string $externalId): array
    {
        $like = '%' . addcslashes('"externalId":' . Text::json($externalId) . '}', '%_\\');
        $rows = $this->database->rows("SELECT item_key FROM $this->table WHERE item LIKE ?", [$like]);
        return array_column($rows, 'item_key');
    }

    public function remember(array $item, string $digest): void
    {
        $name = ['type' => $item['type'], 'locale' => $item['locale'] ?? null, 'externalId' => $item['externalId']];
        $this->database->put($this->table, [
            'item_key' => self::key($item),
            'item' => Text::json($name),
            'digest' => $digest,
        ]);
    }

    public function forget(string $key): void
    {
        $this->database->execute("DELETE FROM $this->table WHERE item_key = ?", [$key]);
    }

    /** Returns the key of an item: its kind, its `externalId` and its locale. */
    public static function key(array $item): string
    {
        return hash('sha256', Text::json([$item['type'], $item['externalId'], $item['locale'] ?? '']));
    }
}
