<?php

declare(strict_types=1);

namespace SiteConnector;

/**
 * Claims jobs, executes each once before its lease expires, and reports each once. A job that is claimed again after a
 * crash or a lost report is reported again, and not executed again.
 */
final class JobRunner
{
    /** The time before the end of the lease by which a job must be done, in seconds. */
    private const MARGIN_S = 5.0;
    /** The time limit of a job without a lease, and the maximum of any lease, in seconds. */
    private const DEFAULT_LEASE_S = 60.0;
    private const MAX_LEASE_S = 86400.0;
    /** Maximum consecutive claims of known jobs before a run ends. */
    private const MAX_REPEATS = 5;

    private Client $client;
    private JobHandler $handler;
    private Journal $journal;
    /** @var callable(string, string): void */
    private $observe;

    /** @param callable(string, string): void|null $observe is called before each step, with its name and a job's id */
    public function __construct(Client $client, JobHandler $handler, Journal $journal, ?callable $observe = null)
    {
        $this->client = $client;
        $this->handler = $handler;
        $this->journal = $journal;
        $this->observe = $observe ?? static function (): void {
        };
    }

    /**
     * Runs until there is no job, or until the time is up. Returns the counts of `succeeded` and `failed` jobs, and of
     * `unreported` ones; null if another runner is at work.
     *
     * @throws ConnectorError if the service cannot be reached, or refuses all claims
     */
    public function run(float $maxS = 20.0): ?array
    {
        if (!$this->journal->lock()) {
            return null;
        }
        try {
            return $this->runLocked(microtime(true) + $maxS);
        } finally {
            $this->journal->unlock();
        }
    }

    private function runLocked(float $until): array
    {
        $summary = ['succeeded' => 0, 'failed' => 0, 'unreported' => 0];
        $known = [];
        $repeats = 0;
        $this->reportPending();
        while (microtime(true) < $until && $repeats < self::MAX_REPEATS) {
            $claimedAt = microtime(true);
            ($this->observe)('claim', '');
            $job = $this->client->claimNextJob();
            if ($job === null) {
                break;
            }
            $repeats = isset($known[$job['id']]) ? $repeats + 1 : 0;
            $known[$job['id']] = true;
            $this->process($job, $claimedAt, $summary);
        }
        $summary['unreported'] = count($this->journal->unreported());
        return $summary;
    }

    private function process(array $job, float $claimedAt, array &$summary): void
    {
        $report = ['ok' => true, 'claimToken' => $job['claimToken']];
        $done = $this->journal->done($job['id']);
        if ($done !== null) {
            $report['result'] = $done;
        } else {
            $deadline = $this->deadline($job, $claimedAt);
            if (microtime(true) >= $deadline) {
                return;
            }
            try {
                $report['result'] = $this->handler->execute($job, $this->step($job['id'], $deadline));
                $summary['succeeded']++;
            } catch (RunnerStopped $stopped) {
                throw $stopped;
            } catch (\Throwable $failure) {
                $reason = $failure instanceof JobFailure || $failure instanceof ConnectorError
                    ? $failure->getMessage()
                    : 'The connector failed: ' . get_class($failure) . ': ' . $failure->getMessage();
                $report = ['ok' => false, 'claimToken' => $job['claimToken'], 'error' => Text::line($reason)];
                $summary['failed']++;
            }
        }
        ($this->observe)('journal', $job['id']);
        if (!$this->journal->isHeld()) {
            throw new RunnerStopped('Another runner has taken over.');
        }
        $this->journal->recordExecuted($job, $report);
        $this->reportPending();
    }

    /** Returns the function that a handler calls before each change. */
    private function step(string $job, float $deadline): callable
    {
        return function (string $name) use ($job, $deadline): void {
            ($this->observe)($name, $job);
            if (!$this->journal->isHeld()) {
                throw new RunnerStopped('Another runner has taken over.');
            }
            if (microtime(true) >= $deadline) {
                throw new JobFailure('The job took longer than its lease.');
            }
        };
    }

    /** Returns the deadline of a job. The lease counts from before the claim was sent, so the clocks need not agree. */
    private function deadline(array $job, float $claimedAt): float
    {
        $until = self::time($job['leaseUntil'] ?? null);
        $from = self::time($job['updatedAt'] ?? null) ?? $claimedAt;
        $lease = $until === null ? self::DEFAULT_LEASE_S : $until - $from;
        $lease = max(0.0, min(self::MAX_LEASE_S, $lease));
        // A lease shorter than the margin leaves half of itself for the work.
        return $claimedAt + $lease - min(self::MARGIN_S, $lease / 2);
    }

    /** Reads a time, in seconds since 1970. */
    private static function time($text): ?float
    {
        try {
            return is_string($text) ? (float) (new \DateTimeImmutable($text))->format('U.u') : null;
        } catch (\Exception $error) {
            return null;
        }
    }

    /** Sends all pending reports, each with its original key and claim token. */
    private function reportPending(): void
    {
        foreach ($this->journal->unreported() as $job => $report) {
            ($this->observe)('report', (string) $job);
            try {
                $this->client->completeJob((string) $job, $report);
                $note = '';
            } catch (ConnectorError $error) {
                if ($error->retryable) {
                    continue;
                }
                $note = $error->isJobLost() ? 'The job belongs to another claim.' : $error->getMessage();
            }
            ($this->observe)('reported', (string) $job);
            $this->journal->recordReported((string) $job, $note);
        }
    }
}
