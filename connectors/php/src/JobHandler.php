<?php

declare(strict_types=1);

namespace SiteConnector;

/**
 * Executes jobs. A process that is killed after the work and before the journal records it will be given the job again:
 * the handler must recognise the job's id, and return the same result.
 */
interface JobHandler
{
    /**
     * Executes a job, and returns its result: `externalId`, `url`, `path`, `status`, `message` and `data`, all
     * optional.
     *
     * @param callable(string): void $step to be called before each change with a name for it. It fails when the lease
     *     is about to expire, or when another runner has taken over.
     * @throws JobFailure with a reason that people can read
     */
    public function execute(array $job, callable $step): array;
}
