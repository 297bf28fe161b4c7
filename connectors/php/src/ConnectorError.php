<?php

declare(strict_types=1);

namespace SiteConnector;

/** A failed call. Its message never contains the token. */
final class ConnectorError extends \RuntimeException
{
    /** The HTTP status, or 0 without a response. */
    public int $status;
    /** `error.code` of the contract, or an empty text. */
    public string $errorCode;
    /** Whether the same call may succeed later. */
    public bool $retryable;
    /** The seconds that the service asks to wait, or null. */
    public ?int $retryAfterS;

    private function __construct(string $message, int $status, string $code, bool $retryable, ?int $retryAfterS)
    {
        parent::__construct($message);
        $this->status = $status;
        $this->errorCode = $code;
        $this->retryable = $retryable;
        $this->retryAfterS = $retryAfterS;
    }

    public static function setup(string $message): self
    {
        return new self($message, 0, '', false, null);
    }

    public static function unreachable(string $reason): self
    {
        return new self("cannot reach the service: $reason", 0, '', true, null);
    }

    public static function invalidResponse(int $status, string $problem): self
    {
        return new self("the response is not one of the connector API: $problem", $status, '', false, null);
    }

    /**
     * Creates the error of a refusal. Retryable are 408, 425, 429, the 5xx statuses of overload, and a conflict with
     * Retry-After, unless the key itself conflicts.
     */
    public static function refused(int $status, string $code, string $message, ?int $retryAfterS): self
    {
        $retryable = in_array($status, [408, 425, 429, 500, 502, 503, 504, 507], true)
            || ($status === 409 && $retryAfterS !== null && $code !== 'IDEMPOTENCY_CONFLICT');
        $reason = $code === '' ? "status $status" : "$code: " . Text::line($message);
        $advice = $code === 'INVALID_TOKEN' ? ' Activate the site again.' : '';
        return new self("the service refused: $reason$advice", $status, $code, $retryable, $retryAfterS);
    }

    /** Returns whether the claim no longer holds the reported job, so that nothing is left to do for it. */
    public function isJobLost(): bool
    {
        return in_array($this->errorCode, ['NOT_FOUND', 'RESOURCE_CONFLICT'], true) && !$this->retryable;
    }

    /** Returns whether all further claims would fail as well. */
    public function isFinal(): bool
    {
        return !$this->retryable && in_array($this->status, [0, 400, 401, 403, 404, 405], true);
    }
}
