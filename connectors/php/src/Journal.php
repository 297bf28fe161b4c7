<?php

declare(strict_types=1);

namespace SiteConnector;

/** The jobs that were done, and the reports that the service has not accepted yet. One runner at a time holds it. */
interface Journal
{
    /** Takes the journal for this runner. Returns false if another runner holds it. */
    public function lock(): bool;

    /** Returns whether this runner still holds the journal. */
    public function isHeld(): bool;

    public function unlock(): void;

    /** Returns the result of a job that succeeded, or null. */
    public function done(string $job): ?array;

    /** Returns the pending reports by the ids of their jobs, oldest first. */
    public function unreported(): array;

    /** Records the outcome of a job, before it is reported. */
    public function recordExecuted(array $job, array $report): void;

    /** Records that the service has accepted a report (an empty note), or has refused it for good. */
    public function recordReported(string $job, string $note): void;
}
