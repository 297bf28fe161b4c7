<?php
// The chat's proxy for PHP 8.1 or newer with the extension curl: the five paths, and nothing else. Configure the web
// server to run this file for every path below /connector. Keep the token where visitors cannot read it.

declare(strict_types=1);

namespace ChatConnector;

/** Maximum body of each call, in bytes. */
const CALLS = [
    'GET /chat/config' => 0,
    'GET /chat/messages' => 0,
    'POST /chat/messages' => 64 * 1024,
    'GET /chat/presence' => 0,
    'POST /events' => 256 * 1024,
];
const MAX_ANSWER = 1024 * 1024;
const PASSED_BACK = ['retry-after', 'x-request-id', 'x-service-api-version', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
const JSON_TYPE = '~^application/json\s*(;|$)~iD';
/** Maximum requests a minute from one address, on average, and maximum requests at once. */
const PER_MINUTE = 240;
const BURST = 60;

/** Sends an error of the proxy as JSON, and exits. */
function refuse(int $status, string $code, string $message): never
{
    $requestId = 'proxy_' . bin2hex(random_bytes(16));
    http_response_code($status);
    header('Content-Type: application/json');
    header("X-Request-Id: $requestId");
    exit(json_encode(['ok' => false, 'error' => ['code' => $code, 'message' => $message], 'requestId' => $requestId]));
}

/**
 * Counts requests by address, and returns the seconds to wait, or 0. The file has a fixed size: addresses with the same
 * hash share a counter. Behind a server or a CDN that hides the visitor's address, all visitors count as one. Limit the
 * rate there instead.
 */
function seconds_to_wait(string $address): int
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
    ['at' => $at, 'left' => $left] = strlen($kept) === 12 ? unpack('Eat/Gleft', $kept) : ['at' => 0.0, 'left' => 0.0];
    $filled = min((float) BURST, $left + max(0.0, $now - $at) * PER_MINUTE / 60);
    fseek($file, $place);
    fwrite($file, pack('EG', $now, max(0.0, $filled - 1)));
    fclose($file);
    return $filled >= 1 ? 0 : (int) ceil((1 - $filled) * 60 / PER_MINUTE);
}

/** Returns the body of a POST, or refuses it. */
function body_of(string $call): string
{
    if (!preg_match(JSON_TYPE, $_SERVER['CONTENT_TYPE'] ?? '')) {
        // A page of another site cannot send JSON without a preflight request. This check blocks its forms.
        refuse(415, 'INVALID_REQUEST', 'Content-Type must be application/json.');
    }
    $limit = CALLS[$call];
    $body = (int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > $limit ? null : (string) file_get_contents('php://input', length: $limit + 1);
    if ($body === null || strlen($body) > $limit) {
        refuse(413, 'INVALID_REQUEST', 'The body is too large.');
    }
    return $body;
}

/**
 * Returns the token that proves who is signed in, or null. With a secret, CHAT_VISITOR names a function that returns the
 * visitor of this request, such as ['id' => 'crm-4711', 'name' => 'Ada', 'email' => 'ada@shop.example'], or null. The token
 * that a page sent is then dropped.
 */
function visitor_token(): ?string
{
    $secret = trim((string) (\defined('CHAT_VISITOR_SECRET') ? \CHAT_VISITOR_SECRET : getenv('CONNECTOR_VISITOR_SECRET')));
    if ($secret === '') {
        return $_SERVER['HTTP_VISITOR_TOKEN'] ?? null;
    }
    $visitor = \defined('CHAT_VISITOR') ? (\CHAT_VISITOR)() : null;
    if ($visitor === null) {
        return null;
    }
    $encode = fn (string $bytes): string => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    $claims = ['sub' => (string) $visitor['id'], 'exp' => time() + 300] + array_diff_key($visitor, ['id' => null]);
    $signed = $encode('{"alg":"HS256","typ":"JWT"}') . '.' . $encode(json_encode($claims, JSON_THROW_ON_ERROR));
    return "$signed." . $encode(hash_hmac('sha256', $signed, $secret, true));
}

/** Sends one request to the service. Follows no redirect, decompresses nothing, and reads at most MAX_ANSWER bytes. */
function ask(string $address, array $headers, ?string $body): array
{
    $answer = ['headers' => [], 'whole' => false, 'body' => ''];
    $request = curl_init($address);
    curl_setopt_array($request, [
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
        CURLOPT_FOLLOWLOCATION => false,
        CURLOPT_CONNECTTIMEOUT => 5,
        // An AI may take a while to answer.
        CURLOPT_TIMEOUT => 35,
        CURLOPT_HEADERFUNCTION => function ($request, string $line) use (&$answer): int {
            if (str_starts_with($line, 'HTTP/')) {
                $answer['headers'] = [];
            }
            $answer['whole'] = trim($line) === '';
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $name = strtolower($name);
            // Trailers, after the body, are ignored.
            if ($answer['body'] === '' && in_array($name, [...PASSED_BACK, 'content-type', 'content-encoding', 'content-length'], true)) {
                $answer['headers'][$name] ??= trim($value);
            }
            $usable = (int) ($answer['headers']['content-length'] ?? 0) <= MAX_ANSWER
                && strcasecmp($answer['headers']['content-encoding'] ?? 'identity', 'identity') === 0;
            return $usable ? strlen($line) : -1;
        },
        CURLOPT_WRITEFUNCTION => function ($request, string $part) use (&$answer): int {
            $answer['body'] .= $part;
            return strlen($answer['body']) > MAX_ANSWER ? -1 : strlen($part);
        },
    ]);
    if ($body !== null) {
        curl_setopt($request, CURLOPT_POSTFIELDS, $body);
    }
    $done = curl_exec($request);
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    if (!$done && curl_errno($request) === CURLE_OPERATION_TIMEDOUT) {
        refuse(504, 'UPSTREAM_TIMEOUT', 'The chat service did not answer in time.');
    }
    if (!$done || !$answer['whole'] || !(($status >= 200 && $status < 300) || ($status >= 400 && $status < 600))) {
        refuse(502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
    }
    return [$status, $answer['headers'], $answer['body']];
}

// An error message contains neither a path nor the arguments of a call.
ini_set('display_errors', '0');
set_exception_handler(fn () => refuse(502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.'));
header_remove();
header('Cache-Control: no-store');
header('X-Content-Type-Options: nosniff');
header("Content-Security-Policy: default-src 'none'");

$origin = \defined('CHAT_ORIGIN') ? \CHAT_ORIGIN : (getenv('CONNECTOR_ORIGIN') ?: 'https://service.example');
$token = trim((string) (\defined('CHAT_TOKEN') ? \CHAT_TOKEN : (getenv('CONNECTOR_TOKEN') ?: @file_get_contents((string) getenv('CONNECTOR_TOKEN_FILE')))));
$prefix = '/connector';

[$path, $query] = explode('?', $_SERVER['REQUEST_URI'], 2) + [1 => ''];
$call = $_SERVER['REQUEST_METHOD'] . ' ' . (str_starts_with($path, "$prefix/") ? substr($path, strlen($prefix)) : '');
if (!array_key_exists($call, CALLS) || preg_match('/[^!-~]/', $query)) {
    refuse(404, 'NOT_FOUND', 'This path does not exist.');
}
$wait = seconds_to_wait($_SERVER['REMOTE_ADDR'] ?? '');
if ($wait > 0) {
    header("Retry-After: $wait");
    refuse(429, 'RATE_LIMITED', 'Too many requests.');
}
$headers = ['Accept: application/json', 'Accept-Encoding: identity', "Authorization: Bearer $token"];
foreach (['HTTP_IDEMPOTENCY_KEY' => 'Idempotency-Key', 'HTTP_ACCEPT_LANGUAGE' => 'Accept-Language'] as $from => $name) {
    if (isset($_SERVER[$from])) {
        $headers[] = "$name: $_SERVER[$from]";
    }
}
// The config is the same for everybody.
$visitor = $call === 'GET /chat/config' ? null : visitor_token();
if ($visitor !== null) {
    $headers[] = "Visitor-Token: $visitor";
}
$body = null;
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $body = body_of($call);
    // Without this header, curl sends `Expect: 100-continue` and waits before it sends the body.
    array_push($headers, 'Content-Type: application/json', 'Expect:');
}
[$status, $back, $text] = ask("$origin/api/connector/v1" . explode(' ', $call)[1] . ($query === '' ? '' : "?$query"), $headers, $body);
http_response_code($status);
// A response that is not JSON is returned as plain text.
header('Content-Type: ' . (preg_match(JSON_TYPE, $back['content-type'] ?? '') ? 'application/json' : 'text/plain; charset=utf-8'));
foreach (PASSED_BACK as $name) {
    if (isset($back[$name])) {
        header("$name: $back[$name]");
    }
}
echo $text;
