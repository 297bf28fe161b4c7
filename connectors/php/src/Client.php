<?php

declare(strict_types=1);

namespace SiteConnector;

/**
 * A client of the connector API that holds the site token. A call with a transient failure is repeated after a random,
 * growing delay, or after the time that Retry-After names. A call that changes something has an idempotency key: each
 * attempt sends the same key and the same bytes, so that it is executed once.
 */
final class Client
{
    private const PATH = '/api/connector/v1';
    private const MAX_KEY = 160;
    /** Maximum Retry-After to wait for, in seconds. With a longer one, the call fails. */
    private const MAX_RETRY_AFTER_S = 60;

    private string $origin;
    private ?string $token;
    private Transport $transport;
    private int $attempts;
    /** @var callable(int): void */
    private $sleepMs;
    private ?string $siteId = null;

    /** @param callable(int): void|null $sleepMs waits between attempts; for tests */
    public function __construct(
        string $origin,
        ?string $token,
        Transport $transport,
        int $attempts = 4,
        ?callable $sleepMs = null
    ) {
        $this->origin = rtrim($origin, '/');
        if (preg_match('~^https?://[^/\s?#@]+$~D', $this->origin) !== 1) {
            throw ConnectorError::setup('invalid origin: expected https://service.example, without a path');
        }
        if ($token !== null && preg_match('/^[!-~]+$/D', $token) !== 1) {
            throw ConnectorError::setup('invalid site token: expected printable ASCII characters');
        }
        $this->token = $token;
        $this->transport = $transport;
        $this->attempts = $attempts;
        $this->sleepMs = $sleepMs ?? static function (int $ms): void {
            usleep($ms * 1000);
        };
    }

    /** Exchanges a license code for the site token: `siteToken`, and `siteId` where the service says it. */
    public function activate(array $site): array
    {
        $data = $this->call('POST', '/auth/activate', [], self::key('activate-' . Text::unique()), $site);
        $token = $data['siteToken'] ?? $data['token'] ?? null;
        if (!is_string($token) || $token === '') {
            throw ConnectorError::invalidResponse(200, 'siteToken is missing');
        }
        return ['siteToken' => $token, 'siteId' => is_string($data['siteId'] ?? null) ? $data['siteId'] : null];
    }

    public function siteStatus(): array
    {
        return $this->call('GET', '/site/status');
    }

    public function chatConfig(?string $locale = null): array
    {
        return $this->call('GET', '/chat/config', ['locale' => $locale]);
    }

    /** Sends a visitor's message. The same visitor, name and body are the same message, also in a later call. */
    public function sendMessage(array $body, ?string $messageId = null): array
    {
        $visitor = $body['visitor']['visitorId'] ?? 'anonymous';
        $key = self::key("chat-$visitor-" . ($messageId ?? Text::unique()));
        return $this->call('POST', '/chat/messages', [], $key, $body);
    }

    public function listMessages(string $conversationId, ?string $after = null): array
    {
        return $this->call('GET', '/chat/messages', ['conversationId' => $conversationId, 'after' => $after]);
    }

    public function presence(?string $conversationId = null): array
    {
        return $this->call('GET', '/chat/presence', ['conversationId' => $conversationId]);
    }

    /** Sends 1 to 50 visitor events. */
    public function trackBatch(array $events): array
    {
        return $this->call('POST', '/events', [], self::key('events-' . Text::unique()), ['events' => $events]);
    }

    /** Pushes one page of content: `snapshotId`, `page` from 1, `items`, and `complete` on the last page of all. */
    public function syncContent(array $page): array
    {
        $this->siteId = $this->siteId ?? (string) ($this->siteStatus()['siteId'] ?? 'site');
        $key = self::key("content-sync-$this->siteId-{$page['snapshotId']}-{$page['page']}");
        return $this->call('POST', '/content/sync', [], $key, $page);
    }

    /** Returns the published overlays, as far as they can be read. */
    public function overlays(?string $path = null, ?string $locale = null): array
    {
        $data = $this->call('GET', '/seo/overlays', ['path' => $path, 'locale' => $locale]);
        $list = $data['overlays'] ?? $data['items'] ?? $data;
        return array_values(array_filter(array_map([Overlay::class, 'read'], is_array($list) ? $list : [])));
    }

    /** Claims the next job, or returns null. A job without an id or a claim token is an invalid response. */
    public function claimNextJob(): ?array
    {
        $data = $this->call('POST', '/site/jobs/next', [], self::key('job-next-' . Text::unique()), []);
        $job = $data['job'] ?? null;
        if ($job === null) {
            return null;
        }
        foreach (['id', 'type', 'claimToken'] as $field) {
            if (!is_string($job[$field] ?? null) || $job[$field] === '') {
                throw ConnectorError::invalidResponse(200, "job.$field is missing");
            }
        }
        return $job;
    }

    /** Reports the outcome of a job. A second call with the same report repeats the key and the body. */
    public function completeJob(string $job, array $report): array
    {
        $key = self::key("job-complete-$job-{$report['claimToken']}");
        // Every byte but letters and digits is escaped, so that any id stays within its segment of the path.
        $segment = str_replace('.', '%2E', rawurlencode($job));
        return $this->call('POST', "/site/jobs/$segment/complete", [], $key, $report);
    }

    private function call(
        string $method,
        string $path,
        array $query = [],
        ?string $key = null,
        ?array $body = null
    ): array {
        $query = http_build_query(array_filter($query, 'is_string'), '', '&', PHP_QUERY_RFC3986);
        $url = $this->origin . self::PATH . $path . ($query === '' ? '' : "?$query");
        $headers = ['Accept' => 'application/json', 'Accept-Encoding' => 'identity'];
        if ($this->token !== null) {
            $headers['Authorization'] = "Bearer $this->token";
        }
        if ($key !== null) {
            $headers['Idempotency-Key'] = $key;
        }
        $bytes = null;
        if ($body !== null) {
            $headers['Content-Type'] = 'application/json';
            $bytes = $body === [] ? '{}' : Text::json($body);
        }
        for ($failed = 1; ; $failed++) {
            try {
                return $this->attempt($method, $url, $headers, $bytes);
            } catch (ConnectorError $error) {
                $wait = $error->retryAfterS;
                if (!$error->retryable || $failed >= $this->attempts || $wait > self::MAX_RETRY_AFTER_S) {
                    throw $error;
                }
                ($this->sleepMs)($wait !== null ? 1000 * $wait : random_int(0, min(20000, 500 * 2 ** ($failed - 1))));
            }
        }
    }

    private function attempt(string $method, string $url, array $headers, ?string $body): array
    {
        try {
            $answer = $this->transport->send($method, $url, $headers, $body);
        } catch (TransportError $error) {
            throw ConnectorError::unreachable(Text::line($error->getMessage()));
        }
        $status = $answer['status'];
        $envelope = json_decode($answer['body'], true);
        if ($status >= 200 && $status < 300) {
            if (!is_array($envelope) || ($envelope['ok'] ?? null) !== true || !is_array($envelope['data'] ?? null)) {
                throw ConnectorError::invalidResponse($status, 'ok and data are missing');
            }
            return $envelope['data'];
        }
        if ($status < 400) {
            throw ConnectorError::invalidResponse($status, "status $status");
        }
        $error = is_array($envelope) && is_array($envelope['error'] ?? null) ? $envelope['error'] : [];
        $text = static fn (string $name): string => is_string($error[$name] ?? null) ? $error[$name] : '';
        $retryAfter = self::seconds($answer['headers']['retry-after'] ?? '');
        throw ConnectorError::refused($status, $text('code'), $text('message'), $retryAfter);
    }

    /** Reads Retry-After: seconds, or a date. */
    private static function seconds(string $retryAfter): ?int
    {
        if (preg_match('/^\d{1,9}$/D', $retryAfter) === 1) {
            return (int) $retryAfter;
        }
        $time = $retryAfter === '' ? false : strtotime($retryAfter);
        return $time === false ? null : max(0, $time - time());
    }

    /** Returns a text as a key. One that no header can carry is shortened, and its digest is added. */
    private static function key(string $text): string
    {
        if (strlen($text) <= self::MAX_KEY && preg_match('/^[!-~]+$/D', $text) === 1) {
            return $text;
        }
        $digest = substr(hash('sha256', $text), 0, 32);
        return substr((string) preg_replace('/[^!-~]/', '', $text), 0, self::MAX_KEY - 33) . "-$digest";
    }
}
