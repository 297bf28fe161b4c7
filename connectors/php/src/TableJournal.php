<?php

declare(strict_types=1);

namespace SiteConnector;

/** A journal in a table of the site's database, with one row for each job. */
final class TableJournal implements Journal
{
    /** Maximum jobs that are remembered; the oldest are forgotten first. */
    private const MAX_REMEMBERED = 10000;

    private Database $database;
    private string $table;

    public function __construct(Database $database, string $table)
    {
        $this->database = $database;
        $this->table = $table;
    }

    /** Returns the statement that creates the table. `recorded_at` is in milliseconds. */
    public static function schema(string $table, string $options = ''): string
    {
        return "CREATE TABLE IF NOT EXISTS $table (
            job_id VARCHAR(191) NOT NULL PRIMARY KEY,
            type VARCHAR(64) NOT NULL,
            title VARCHAR(500) NOT NULL,
            is_ok SMALLINT NOT NULL,
            is_reported SMALLINT NOT NULL,
            result TEXT,
            report TEXT NOT NULL,
            note VARCHAR(500) NOT NULL,
            recorded_at BIGINT NOT NULL
        )$options";
    }

    public function lock(): bool
    {
        return $this->database->lock($this->lockName());
    }

    public function isHeld(): bool
    {
        return $this->database->holds($this->lockName());
    }

    public function unlock(): void
    {
        $this->database->unlock($this->lockName());
    }

    public function done(string $job): ?array
    {
        $rows = $this->database->rows("SELECT result FROM $this->table WHERE job_id = ?", [self::name($job)]);
        return is_string($rows[0]['result'] ?? null) ? json_decode($rows[0]['result'], true) : null;
    }

    public function unreported(): array
    {
        $sql = "SELECT report FROM $this->table WHERE is_reported = 0 ORDER BY recorded_at, job_id";
        $reports = [];
        foreach ($this->database->rows($sql) as $row) {
            $stored = json_decode($row['report'], true);
            $reports[$stored['job']] = $stored['report'];
        }
        return $reports;
    }

    public function recordExecuted(array $job, array $report): void
    {
        $done = $report['ok'] ? $report['result'] ?? [] : $this->done($job['id']);
        $this->database->put($this->table, [
            'job_id' => self::name($job['id']),
            'type' => substr($job['type'], 0, 64),
            'title' => Text::line(is_string($job['title'] ?? null) ? $job['title'] : ''),
            'is_ok' => $report['ok'] ? '1' : '0',
            'is_reported' => '0',
            'result' => $done === null ? null : Text::json($done),
            'report' => Text::json(['job' => $job['id'], 'report' => $report]),
            'note' => Text::line($report['error'] ?? ''),
            'recorded_at' => (string) (int) (microtime(true) * 1000),
        ]);
        $oldest = $this->database->rows(
            "SELECT recorded_at FROM $this->table ORDER BY recorded_at DESC LIMIT 1 OFFSET " . self::MAX_REMEMBERED
        );
        if ($oldest !== []) {
            $sql = "DELETE FROM $this->table WHERE is_reported = 1 AND recorded_at <= ?";
            $this->database->execute($sql, [$oldest[0]['recorded_at']]);
        }
    }

    public function recordReported(string $job, string $note): void
    {
        $sql = "UPDATE $this->table SET is_reported = 1 WHERE job_id = ?";
        $this->database->execute($sql, [self::name($job)]);
        if ($note !== '') {
            $sql = "UPDATE $this->table SET note = ? WHERE job_id = ?";
            $this->database->execute($sql, [Text::line($note), self::name($job)]);
        }
    }

    /** Returns the latest jobs, newest first. */
    public function latest(int $count): array
    {
        return $this->database->rows("SELECT * FROM $this->table ORDER BY recorded_at DESC LIMIT " . $count);
    }

    /** Returns a job's id as a key of the table: as it is, or its digest if it is long or could equal another's. */
    private static function name(string $job): string
    {
        return preg_match('/^[a-z0-9_-]{1,120}$/D', $job) === 1 ? $job : 'sha256:' . hash('sha256', $job);
    }

    private function lockName(): string
    {
        return 'jobs-' . substr(hash('sha256', $this->table), 0, 32);
    }
}
