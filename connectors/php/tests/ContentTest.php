<?php

declare(strict_types=1);

use SiteConnector\ContentSync;
use SiteConnector\JobFailure;
use SiteConnector\Overlay;
use SiteConnector\PdoDatabase;
use SiteConnector\SyncRecord;

function syncRecord(): SyncRecord
{
    $database = new PdoDatabase(new PDO('sqlite::memory:'));
    $database->execute(SyncRecord::schema('synced'));
    return new SyncRecord($database, 'synced');
}

function items(int $count, string $text = 'x'): array
{
    $item = static fn (int $number): array => ['externalId' => "p$number", 'type' => 'page', 'content' => $text];
    return array_map($item, range(1, $count));
}

/** Returns the number of items, and whether the page completes its snapshot, for each page that was pushed. */
function pages(FakeService $service): array
{
    $pages = [];
    foreach ($service->requests as $request) {
        if ($request['call'] === 'POST /content/sync') {
            $page = json_decode($request['body'], true);
            $pages[] = [count($page['items']), $page['complete'] ?? false];
        }
    }
    return $pages;
}

$site = ['siteId' => 's'];

test('a snapshot ends on its last page, and later syncs push what changed', static function () use ($site): void {
    $record = syncRecord();
    $service = new FakeService([$site, [], []]);
    $sync = new ContentSync($service->client(), $record);
    same(['items' => 60, 'pushed' => 60, 'removed' => 0], $sync->reconcile(items(60), 's1', true));
    same([[50, false], [10, true]], pages($service));
    $service = new FakeService([$site, []]);
    $changed = array_merge(items(58), [['externalId' => 'p59', 'type' => 'page', 'content' => 'changed']]);
    same(
        ['items' => 59, 'pushed' => 1, 'removed' => 1],
        (new ContentSync($service->client(), $record))->reconcile($changed, 's2', false)
    );
    $page = json_decode($service->requests[1]['body'], true);
    same(['p59', 'p60'], array_column($page['items'], 'externalId'));
    same(true, $page['items'][1]['deleted']);
    same(59, count($record->digests()));
});

test('content that cannot be read completely removes nothing', static function () use ($site): void {
    $record = syncRecord();
    (new ContentSync((new FakeService([$site, []]))->client(), $record))->reconcile(items(5), 's1', true);
    $broken = static function (): Generator {
        yield from items(2, 'changed');
        throw new RuntimeException('the database is gone');
    };
    foreach ([true, false] as $isSnapshot) {
        $service = new FakeService([$site, []]);
        thrown(static fn () => (new ContentSync($service->client(), $record))->reconcile($broken(), 's2', $isSnapshot));
        same([], pages($service));
    }
    same(5, count($record->digests()));
});

test('a sync that would remove many items fails before it removes one', static function () use ($site): void {
    $record = syncRecord();
    (new ContentSync((new FakeService([$site, []]))->client(), $record))->reconcile(items(40), 's1', true);
    foreach ([[], items(20)] as $some) {
        $service = new FakeService([$site, []]);
        $error = thrown(static fn () => (new ContentSync($service->client(), $record))->reconcile($some, 's2', true));
        same(JobFailure::class, get_class($error));
        same([], pages($service));
    }
});

test('pages are split before they exceed a megabyte', static function () use ($site): void {
    $service = new FakeService([$site, [], [], []]);
    (new ContentSync($service->client(), syncRecord()))->reconcile(items(3, str_repeat('x', 600000)), 's', true);
    same([[1, false], [1, false], [1, true]], pages($service));
});

$page = '<!doctype html><html><head><title>Old</title><meta name="description" content="old"><!-- <title>no</title> -->'
    . '<meta content="a > b" property=og:title><link rel="alternate canonical" href="/old"><script>"<title>"</script>'
    . '</head><body><svg><title>in an svg</title></svg></body></html>';

test('an overlay takes the place of the page\'s own elements only', static function () use ($page): void {
    $overlay = Overlay::read([
        'path' => '/a',
        'title' => 'New <title>',
        'metaDescription' => 'a "new" one',
        'canonical' => 'https://shop.example/a',
        'openGraph' => ['og:title' => 'OG', 'bad"name' => 'x'],
        'structuredData' => [['name' => '</script><script>alert(1)</script>ü']],
    ]);
    $html = $overlay->apply($page);
    same(null, $overlay->difference($html));
    same($html, $overlay->apply($html));
    foreach (['Old', 'content="old"', 'a > b', '/old', 'bad', 'alert(1)</script>'] as $gone) {
        same(false, strpos($html, $gone));
    }
    $others = ['<!-- <title>no</title> -->', '<script>"<title>"</script>', '<svg><title>in an svg</title></svg>'];
    foreach ($others as $kept) {
        same(true, strpos($html, $kept) !== false);
    }
});

test('a difference names an element that is there twice, or not at all', static function () use ($page): void {
    $of = static fn (array $fields): ?string => Overlay::read(['path' => '/'] + $fields)->difference($page);
    same('the page has another title: Old', $of(['title' => 'New']));
    same('the page has meta robots 0 times', $of(['robots' => 'noindex']));
    same('the page lacks the structured data', $of(['structuredData' => ['@type' => 'Product']]));
    $twice = str_replace('<title>', '<title>Old</title><title>', $page);
    same('the page has title 2 times', Overlay::read(['path' => '/', 'title' => 'Old'])->difference($twice));
});

test('an overlay of any shape is read, or is none', static function (): void {
    foreach ([7, '', 'https://evil.example/', '//evil.example/', '/\\evil.example/'] as $path) {
        same(null, Overlay::read(['path' => $path]));
    }
    foreach ([null, 7, []] as $data) {
        same(null, Overlay::read($data));
    }
    $odd = ['title' => ['x'], 'robots' => 7, 'openGraph' => 'x', 'jsonLd' => 'x', 'canonical' => 'javascript:1'];
    same(false, Overlay::read(['path' => '/'] + $odd)->hasContent());
    same(false, Overlay::read(['path' => '/', 'title' => "\xff"])->hasContent());
});
