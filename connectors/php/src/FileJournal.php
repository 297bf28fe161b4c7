<?php

declare(strict_types=1);

namespace SiteConnector;

/**
 * A journal in a file: each step is one line of JSON, appended and flushed before the next step is taken. A line that a
 * crash has truncated is ignored; other lines that cannot be read are saved beside the file.
 */
final class FileJournal implements Journal
{
    /** Maximum completed jobs that are remembered; the oldest are forgotten first. */
    private const MAX_REMEMBERED = 10000;
    /** Maximum lines beyond those needed, before the file is written anew. */
    private const MAX_OBSOLETE = 1000;

    private string $path;
    /** @var resource|null */
    private $lock = null;
    private array $done = [];
    private array $unreported = [];
    private int $lines = 0;

    public function __construct(string $path)
    {
        $this->path = $path;
    }

    public function lock(): bool
    {
        $lock = fopen("$this->path.lock", 'c');
        if ($lock === false) {
            throw new \RuntimeException("cannot write $this->path.lock");
        }
        if (!flock($lock, LOCK_EX | LOCK_NB)) {
            fclose($lock);
            return false;
        }
        $this->lock = $lock;
        $this->read();
        return true;
    }

    public function isHeld(): bool
    {
        return $this->lock !== null;
    }

    public function unlock(): void
    {
        if ($this->lock !== null) {
            fclose($this->lock);
            $this->lock = null;
        }
    }

    public function done(string $job): ?array
    {
        return $this->done[$job] ?? null;
    }

    public function unreported(): array
    {
        return $this->unreported;
    }

    public function recordExecuted(array $job, array $report): void
    {
        $this->append(['job' => $job['id'], 'executed' => $report]);
    }

    public function recordReported(string $job, string $note): void
    {
        $this->append(['job' => $job, 'reported' => true]);
    }

    private function read(): void
    {
        $this->done = $this->unreported = [];
        $text = is_file($this->path) ? (string) file_get_contents($this->path) : '';
        $lines = explode("\n", $text);
        $isWhole = array_pop($lines) === '';
        $damaged = [];
        foreach ($lines as $line) {
            $step = json_decode($line, true);
            if (is_array($step) && is_string($step['job'] ?? null) && count($step) === 2) {
                $this->apply($step);
            } else {
                $damaged[] = $line;
            }
        }
        $this->lines = count($lines);
        if ($damaged !== []) {
            file_put_contents("$this->path.damaged", implode("\n", $damaged) . "\n", FILE_APPEND);
        }
        if (!$isWhole || $damaged !== []) {
            $this->rewrite();
        }
    }

    private function apply(array $step): void
    {
        $job = $step['job'];
        $isOk = ($step['executed']['ok'] ?? null) === true;
        $result = $step['done'] ?? ($isOk ? $step['executed']['result'] ?? [] : null);
        if (is_array($result)) {
            $this->done[$job] = $result;
            if (count($this->done) > self::MAX_REMEMBERED) {
                unset($this->done[array_key_first($this->done)]);
            }
        }
        if (is_array($step['executed'] ?? null) && is_string($step['executed']['claimToken'] ?? null)) {
            unset($this->unreported[$job]);
            $this->unreported[$job] = $step['executed'];
        } elseif (isset($step['reported'])) {
            unset($this->unreported[$job]);
        }
    }

    private function append(array $step): void
    {
        $this->write('a', [$step]);
        $this->apply($step);
        $this->lines++;
        if ($this->lines > 2 * (count($this->done) + count($this->unreported)) + self::MAX_OBSOLETE) {
            $this->rewrite();
        }
    }

    private function rewrite(): void
    {
        $steps = [];
        foreach ($this->done as $job => $result) {
            $steps[] = ['job' => (string) $job, 'done' => $result];
        }
        foreach ($this->unreported as $job => $report) {
            $steps[] = ['job' => (string) $job, 'executed' => $report];
        }
        $this->write('w', $steps);
        $this->lines = count($steps);
    }

    private function write(string $mode, array $steps): void
    {
        $target = $mode === 'a' ? $this->path : "$this->path.new";
        $isNew = !is_file($target);
        $file = fopen($target, $mode);
        $text = implode('', array_map(static fn (array $step): string => Text::json($step) . "\n", $steps));
        if ($file === false || fwrite($file, $text) !== strlen($text) || !fflush($file)) {
            throw new \RuntimeException("cannot write $target");
        }
        // PHP 8.1 and newer.
        if (function_exists('fsync')) {
            fsync($file);
        }
        fclose($file);
        if ($isNew) {
            chmod($target, 0600);
        }
        if ($mode === 'w' && !rename($target, $this->path)) {
            throw new \RuntimeException("cannot write $this->path");
        }
    }
}
