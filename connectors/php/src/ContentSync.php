<?php

declare(strict_types=1);

namespace SiteConnector;

/** Pushes the site's content: the items that changed, or a snapshot of all. */
final class ContentSync
{
    private const PAGE_ITEMS = 50;
    /** Maximum bytes of a page's items. Most servers accept a megabyte. */
    private const PAGE_BYTES = 900 * 1024;
    /** Maximum removals without confirmation, if they are at most a fifth of all items. */
    private const MAX_REMOVALS = 10;

    private Client $client;
    private SyncRecord $record;
    private string $snapshot = '';
    private int $page = 0;
    /** @var array[] */
    private array $items = [];
    /** @var string[] digests by the index of the item */
    private array $digests = [];
    private int $bytes = 0;

    public function __construct(Client $client, SyncRecord $record)
    {
        $this->client = $client;
        $this->record = $record;
    }

    /**
     * Compares all items with those that the service has, and pushes the changed and the missing ones. A snapshot
     * pushes all of them, so that the service removes all others. Items that the iteration cannot read must make it
     * fail: then nothing is removed.
     *
     * @param iterable<array> $items
     * @return array{items: int, pushed: int, removed: int}
     * @throws JobFailure if it would remove too many items
     */
    public function reconcile(iterable $items, string $snapshot, bool $isSnapshot): array
    {
        $known = $this->record->digests();
        $gone = $known;
        $count = $pushed = 0;
        $this->begin($snapshot);
        foreach ($items as $item) {
            $key = SyncRecord::key($item);
            unset($gone[$key]);
            $count++;
            $digest = hash('sha256', Text::json($item));
            if ($isSnapshot || ($known[$key] ?? null) !== $digest) {
                $this->add($item, $digest);
                $pushed++;
            }
        }
        $removals = count($gone);
        if ($removals > 0 && ($count === 0 || ($removals > self::MAX_REMOVALS && $removals > count($known) / 5))) {
            throw new JobFailure("The sync would remove $removals of " . count($known) . ' items. Check the site.');
        }
        if ($isSnapshot) {
            $this->flush(true);
            array_map([$this->record, 'forget'], array_keys($gone));
        } else {
            $this->remove(array_keys($gone));
            $this->flush(false);
        }
        return ['items' => $count, 'pushed' => $pushed, 'removed' => $removals];
    }

    /** Pushes items that changed, and removes those that are gone. */
    public function push(iterable $items, array $goneKeys, string $snapshot): void
    {
        $this->begin($snapshot);
        foreach ($items as $item) {
            $this->add($item, hash('sha256', Text::json($item)));
        }
        $this->remove($goneKeys);
        $this->flush(false);
    }

    private function begin(string $snapshot): void
    {
        $this->snapshot = $snapshot;
        $this->page = 0;
        $this->items = $this->digests = [];
        $this->bytes = 0;
    }

    private function remove(array $keys): void
    {
        foreach ($this->record->names($keys) as $name) {
            $this->add(array_filter($name) + ['deleted' => true], '');
        }
    }

    private function add(array $item, string $digest): void
    {
        $bytes = strlen(Text::json($item));
        $isFull = count($this->items) === self::PAGE_ITEMS || $this->bytes + $bytes > self::PAGE_BYTES;
        if ($this->items !== [] && $isFull) {
            $this->flush(false);
        }
        $this->items[] = $item;
        $this->digests[] = $digest;
        $this->bytes += $bytes;
    }

    private function flush(bool $isComplete): void
    {
        if ($this->items === [] && !$isComplete) {
            return;
        }
        $this->page++;
        $page = ['snapshotId' => $this->snapshot, 'page' => $this->page, 'items' => $this->items];
        $this->client->syncContent($isComplete ? $page + ['complete' => true] : $page);
        foreach ($this->items as $index => $item) {
            if ($item['deleted'] ?? false) {
                $this->record->forget(SyncRecord::key($item));
            } else {
                $this->record->remember($item, $this->digests[$index]);
            }
        }
        $this->items = $this->digests = [];
        $this->bytes = 0;
    }
}
