<?php

declare(strict_types=1);

namespace SiteConnector;

/** The chat's proxy, with the extension curl: the five paths of the contract, and nothing else. */
final class Proxy
{
    /** Maximum body of each call, in bytes. */
    private const CALLS = [
        'GET /chat/config' => 0,
        'GET /chat/messages' => 0,
        'POST /chat/messages' => 64 * 1024,
        'GET /chat/presence' => 0,
        'POST /events' => 256 * 1024,
    ];
    private const MAX_ANSWER = 1024 * 1024;
    private const PASSED_BACK = [
        'retry-after',
        'x-request-id',
        'x-service-api-version',
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
    ];
    private const JSON_TYPE = '~^application/json\s*(;|$)~iD';
    /** Maximum requests a minute from one address, on average, and maximum requests at once. */
    private const PER_MINUTE = 240;
    private const BURST = 60;

    private string $origin;
    private string $token;
    private string $prefix;
    private ?string $secret = null;
    /** @var callable(): ?array|null */
    private $visitor = null;

    public function __construct(string $origin, string $token, string $prefix = '/connector')
    {
        $this->origin = rtrim($origin, '/');
        $this->token = trim($token);
        $this->prefix = $prefix;
    }

    /**
     * Proves who is signed in, instead of passing on the token that a page sent. The function returns the visitor of
     * this request, such as `['id' => 'crm-4711', 'name' => 'Ada', 'email' => 'ada@shop.example']`, or null.
     *
     * @param callable(): ?array|null $visitor
     */
    public function verifyVisitors(string $secret, ?callable $visitor): void
    {
        $this->secret = $secret;
        $this->visitor = $visitor;
    }

    /** Answers the current request, and exits. */
    public function serve(): void
    {
        // An error message contains neither a path nor the arguments of a call.
        ini_set('display_errors', '0');
        set_exception_handler(static function (): void {
            self::refuse(502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
        });
        header_remove();
        header('Cache-Control: no-store');
        header('X-Content-Type-Options: nosniff');
        header("Content-Security-Policy: default-src 'none'");

        [$path, $query] = explode('?', $_SERVER['REQUEST_URI'], 2) + [1 => ''];
        $isBelow = strncmp($path, "$this->prefix/", strlen($this->prefix) + 1) === 0;
        $call = $_SERVER['REQUEST_METHOD'] . ' ' . ($isBelow ? substr($path, strlen($this->prefix)) : '');
        if (!array_key_exists($call, self::CALLS) || preg_match('/[^!-~]/', $query)) {
            self::refuse(404, 'NOT_FOUND', 'This path does not exist.');
        }
        $wait = self::secondsToWait($_SERVER['REMOTE_ADDR'] ?? '');
        if ($wait > 0) {
            header("Retry-After: $wait");
            self::refuse(429, 'RATE_LIMITED', 'Too many requests.');
        }
        $headers = ['Accept: application/json', 'Accept-Encoding: identity', "Authorization: Bearer $this->token"];
        $passed = ['HTTP_IDEMPOTENCY_KEY' => 'Idempotency-Key', 'HTTP_ACCEPT_LANGUAGE' => 'Accept-Language'];
        foreach ($passed as $from => $name) {
            if (isset($_SERVER[$from])) {
                $headers[] = "$name: $_SERVER[$from]";
            }
        }
        // The config is the same for everybody.
        $visitor = $call === 'GET /chat/config' ? null : $this->visitorToken();
        if ($visitor !== null) {
            $headers[] = "Visitor-Token: $visitor";
        }
        $body = null;
        if ($_SERVER['REQUEST_METHOD'] === 'POST') {
            $body = self::bodyOf($call);
            // Without this header, curl sends `Expect: 100-continue` and waits before it sends the body.
            array_push($headers, 'Content-Type: application/json', 'Expect:');
        }
        $url = "$this->origin/api/connector/v1" . explode(' ', $call)[1] . ($query === '' ? '' : "?$query");
        [$status, $back, $text] = self::ask($url, $headers, $body);
        http_response_code($status);
        // A response that is not JSON is returned as plain text.
        $isJson = preg_match(self::JSON_TYPE, $back['content-type'] ?? '') === 1;
        header('Content-Type: ' . ($isJson ? 'application/json' : 'text/plain; charset=utf-8'));
        foreach (self::PASSED_BACK as $name) {
            if (isset($back[$name])) {
                header("$name: $back[$name]");
            }
        }
        echo $text;
        exit;
    }

    /** Sends an error of the proxy as JSON, and exits. */
    private static function refuse(int $status, string $code, string $message): void
    {
        $requestId = 'proxy_' . bin2hex(random_bytes(16));
        http_response_code($status);
        header('Content-Type: application/json');
        header("X-Request-Id: $requestId");
        $error = ['code' => $code, 'message' => $message];
        exit(json_encode(['ok' => false, 'error' => $error, 'requestId' => $requestId]));
    }

    /**
     * Counts requests by address, and returns the seconds to wait, or 0. The file has a fixed size: addresses with the
     * same hash share a counter. Behind a server or a CDN that hides the visitor's address, all visitors count as one.
     * Limit the rate there instead.
     */
    private static function secondsToWait(string $address): int
    {
        // An IPv6 client usually has a whole /64 network.
        $packed = (string) @inet_pton($address);
        $place = 12 * (crc32(strlen($packed) === 16 ? substr($packed, 0, 8) : $packed) % 65536);
        $file = @fopen(sys_get_temp_dir() . '/chat-connector-' . md5(__DIR__), 'c+');
        // Without the file, the rate is not limited, and the chat works.
        if ($file === false || !flock($file, LOCK_EX)) {
            return 0;
        }
        $now = microtime(true);
        fseek($file, $place);
        $kept = (string) fread($file, 12);
        $empty = ['at' => 0.0, 'left' => 0.0];
        ['at' => $at, 'left' => $left] = strlen($kept) === 12 ? unpack('Eat/Gleft', $kept) : $empty;
        $filled = min((float) self::BURST, $left + max(0.0, $now - $at) * self::PER_MINUTE / 60);
        fseek($file, $place);
        fwrite($file, pack('EG', $now, max(0.0, $filled - 1)));
        fclose($file);
        return $filled >= 1 ? 0 : (int) ceil((1 - $filled) * 60 / self::PER_MINUTE);
    }

    /** Returns the body of a POST, or refuses it. */
    private static function bodyOf(string $call): string
    {
        if (!preg_match(self::JSON_TYPE, $_SERVER['CONTENT_TYPE'] ?? '')) {
            // A page of another site cannot send JSON without a preflight request. This check blocks its forms.
            self::refuse(415, 'INVALID_REQUEST', 'Content-Type must be application/json.');
        }
        $limit = self::CALLS[$call];
        $isTooLarge = (int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > $limit;
        $body = $isTooLarge ? '' : (string) file_get_contents('php://input', false, null, 0, $limit + 1);
        if ($isTooLarge || strlen($body) > $limit) {
            self::refuse(413, 'INVALID_REQUEST', 'The body is too large.');
        }
        return $body;
    }

    /** Returns the token that proves who is signed in, or null. */
    private function visitorToken(): ?string
    {
        if ($this->secret === null) {
            return $_SERVER['HTTP_VISITOR_TOKEN'] ?? null;
        }
        $visitor = $this->visitor === null ? null : ($this->visitor)();
        return $visitor === null ? null : VisitorToken::sign($visitor, $this->secret);
    }

    /** Sends one request to the service. Follows no redirect, decompresses nothing, reads at most MAX_ANSWER bytes. */
    private static function ask(string $address, array $headers, ?string $body): array
    {
        $answer = ['headers' => [], 'whole' => false, 'body' => ''];
        $read = array_merge(self::PASSED_BACK, ['content-type', 'content-encoding', 'content-length']);
        $request = curl_init($address);
        curl_setopt_array($request, [
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_CONNECTTIMEOUT => 5,
            // An AI may take a while to answer.
            CURLOPT_TIMEOUT => 35,
            CURLOPT_HEADERFUNCTION => static function ($request, string $line) use (&$answer, $read): int {
                if (strncmp($line, 'HTTP/', 5) === 0) {
                    $answer['headers'] = [];
                }
                $answer['whole'] = trim($line) === '';
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $name = strtolower($name);
                // Trailers, after the body, are ignored.
                if ($answer['body'] === '' && in_array($name, $read, true)) {
                    $answer['headers'] += [$name => trim($value)];
                }
                $usable = (int) ($answer['headers']['content-length'] ?? 0) <= self::MAX_ANSWER
                    && strcasecmp($answer['headers']['content-encoding'] ?? 'identity', 'identity') === 0;
                return $usable ? strlen($line) : -1;
            },
            CURLOPT_WRITEFUNCTION => static function ($request, string $part) use (&$answer): int {
                $answer['body'] .= $part;
                return strlen($answer['body']) > self::MAX_ANSWER ? -1 : strlen($part);
            },
        ]);
        if ($body !== null) {
            curl_setopt($request, CURLOPT_POSTFIELDS, $body);
        }
        $done = curl_exec($request);
        $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        if (!$done && curl_errno($request) === CURLE_OPERATION_TIMEDOUT) {
            self::refuse(504, 'UPSTREAM_TIMEOUT', 'The chat service did not answer in time.');
        }
        if (!$done || !$answer['whole'] || !(($status >= 200 && $status < 300) || ($status >= 400 && $status < 600))) {
            self::refuse(502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
        }
        return [$status, $answer['headers'], $answer['body']];
    }
}
