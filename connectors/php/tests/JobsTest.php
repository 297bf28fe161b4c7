<?php

declare(strict_types=1);

use SiteConnector\FileJournal;
use SiteConnector\JobFailure;
use SiteConnector\JobHandler;
use SiteConnector\JobRunner;
use SiteConnector\Journal;
use SiteConnector\PdoDatabase;
use SiteConnector\TableJournal;

/** A handler that counts, and fails on demand. */
final class CountingHandler implements JobHandler
{
    public array $executed = [];
    public ?Throwable $failure = null;

    public function execute(array $job, callable $step): array
    {
        $step('work');
        $this->executed[] = $job['id'];
        if ($this->failure !== null) {
            throw $this->failure;
        }
        return ['path' => '/a'];
    }
}

/** Returns functions that open the same journal again, by their names. */
function journals(): array
{
    $folder = folder();
    $table = static function () use ($folder): TableJournal {
        $database = new PdoDatabase(new PDO("sqlite:$folder/jobs.sqlite"));
        $database->execute(TableJournal::schema('jobs'));
        return new TableJournal($database, 'jobs');
    };
    return ['file' => static fn (): FileJournal => new FileJournal("$folder/journal"), 'table' => $table];
}

$job = static fn (string $id): array =>
    ['job' => ['id' => $id, 'type' => 'publish_article', 'claimToken' => "claim-$id"]];

foreach (array_keys(journals()) as $kind) {
    test("a job whose report was lost is only reported again ($kind)", static function () use ($kind, $job): void {
        $open = journals()[$kind];
        $handler = new CountingHandler();
        $lost = new FakeService([$job('j1'), null, null, null, null, $job('j2'), [], [], ['job' => null]]);
        $summary = (new JobRunner($lost->client(), $handler, $open()))->run();
        same(['succeeded' => 2, 'failed' => 0, 'unreported' => 0], $summary);
        $away = new FakeService([$job('j3'), null, null, null, null, null, null, null, null]);
        thrown(static fn () => (new JobRunner($away->client(), $handler, $open()))->run());
        $again = new FakeService([[], $job('j3'), [], ['job' => null]]);
        same(0, (new JobRunner($again->client(), $handler, $open()))->run()['succeeded']);
        same(['j1', 'j2', 'j3'], $handler->executed);
        same('POST /site/jobs/j3/complete', $again->requests[0]['call']);
        same('job-complete-j3-claim-j3', $again->requests[0]['headers']['Idempotency-Key']);
        same($again->requests[0]['body'], $again->requests[2]['body']);
    });

    test("one runner at a time holds the journal ($kind)", static function () use ($kind): void {
        $open = journals()[$kind];
        $first = $open();
        same(true, $first->lock());
        same(null, (new JobRunner((new FakeService([]))->client(), new CountingHandler(), $open()))->run());
        $first->unlock();
        same(true, $open()->lock());
    });

    test("ids of jobs that differ in case or script are different jobs ($kind)", static function () use ($kind): void {
        $journal = journals()[$kind]();
        $journal->lock();
        foreach (['j', 'J', 'ј', ' j', str_repeat('j', 500)] as $id) {
            same(null, $journal->done($id));
            $report = ['ok' => true, 'claimToken' => 'c', 'result' => ['path' => $id]];
            $journal->recordExecuted(['id' => $id, 'type' => 't'], $report);
            same(['path' => $id], $journal->done($id));
        }
        same(5, count($journal->unreported()));
    });
}

test('a failure is reported with its reason, and the job is executed again', static function () use ($job): void {
    $handler = new CountingHandler();
    $handler->failure = new JobFailure("no\nspace");
    $service = new FakeService([$job('j1'), [], $job('j1'), [], ['job' => null]]);
    $summary = (new JobRunner($service->client(), $handler, journals()['file']()))->run();
    same(['succeeded' => 0, 'failed' => 2, 'unreported' => 0], $summary);
    same('{"ok":false,"claimToken":"claim-j1","error":"no space"}', $service->requests[1]['body']);
});

test('a report that belongs to another claim is not sent again', static function () use ($job): void {
    $service = new FakeService([$job('j1'), [409, 'RESOURCE_CONFLICT'], ['job' => null]]);
    same(0, (new JobRunner($service->client(), new CountingHandler(), journals()['table']()))->run()['unreported']);
});

test('a job is not executed after its lease', static function () use ($job): void {
    $late = $job('j1');
    $late['job'] += ['updatedAt' => '2026-01-01T00:00:00.900Z', 'leaseUntil' => '2026-01-01T00:00:00.900Z'];
    $handler = new CountingHandler();
    $service = new FakeService([$late, ['job' => null]]);
    (new JobRunner($service->client(), $handler, journals()['file']()))->run();
    same([], $handler->executed);
    same(2, count($service->requests));
});

test('a service that returns the same job for ever does not keep the runner', static function () use ($job): void {
    $service = new FakeService(array_merge(...array_fill(0, 50, [$job('j1'), []])));
    $handler = new CountingHandler();
    (new JobRunner($service->client(), $handler, journals()['table']()))->run();
    same(['j1'], $handler->executed);
    same(true, count($service->requests) < 20);
});

test('a journal that is truncated at any byte is opened, and loses at most the last line', static function (): void {
    $path = folder() . '/journal';
    $open = static function () use ($path): Journal {
        $journal = new FileJournal($path);
        $journal->lock();
        return $journal;
    };
    $journal = $open();
    foreach (['jöb-1', 'jöb-2'] as $id) {
        $report = ['ok' => true, 'claimToken' => 'c', 'result' => ['path' => "/$id"]];
        $journal->recordExecuted(['id' => $id, 'type' => 't'], $report);
    }
    $journal->unlock();
    $whole = (string) file_get_contents($path);
    $first = strpos($whole, "\n");
    for ($cut = 0; $cut <= strlen($whole); $cut++) {
        file_put_contents($path, substr($whole, 0, $cut));
        $journal = $open();
        same($cut > $first, $journal->done('jöb-1') !== null);
        same($cut === strlen($whole), $journal->done('jöb-2') !== null);
        $journal->recordReported('jöb-1', '');
        $journal->unlock();
    }
});
