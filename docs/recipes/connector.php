<?php
// The chat's proxy for PHP 8.1 or newer with the extension curl: the five paths, and nothing else. Put it where the web
// server runs it for every path below /connector, and the token where visitors cannot read it.

declare(strict_types=1);

const CALLS = [
    'GET /chat/config' => 0,
    'GET /chat/messages' => 0,
    'POST /chat/messages' => 64 * 1024,
    'GET /chat/presence' => 0,
    'POST /events' => 256 * 1024,
];
const PASSED_BACK = ['content-type', 'retry-after', 'x-request-id', 'x-service-api-version',
    'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

function refuse(int $status, string $code, string $message): never
{
    $requestId = 'proxy_' . bin2hex(random_bytes(16));
    http_response_code($status);
    header('Content-Type: application/json');
    header("X-Request-Id: $requestId");
    exit(json_encode(['ok' => false, 'error' => ['code' => $code, 'message' => $message], 'requestId' => $requestId]));
}

$origin = getenv('CONNECTOR_ORIGIN') ?: 'https://service.example';
$token = trim((string) (getenv('CONNECTOR_TOKEN') ?: @file_get_contents((string) getenv('CONNECTOR_TOKEN_FILE'))));
$prefix = '/connector';

header_remove('X-Powered-By');
header('Cache-Control: no-store');
header('X-Content-Type-Options: nosniff');
header("Content-Security-Policy: default-src 'none'");

[$path, $query] = explode('?', $_SERVER['REQUEST_URI'], 2) + [1 => ''];
$call = $_SERVER['REQUEST_METHOD'] . ' ' . (str_starts_with($path, "$prefix/") ? substr($path, strlen($prefix)) : '');
if (!array_key_exists($call, CALLS)) {
    refuse(404, 'NOT_FOUND', 'The proxy has no such path.');
}
$headers = ['Accept: application/json', "Authorization: Bearer $token"];
foreach (['HTTP_IDEMPOTENCY_KEY' => 'Idempotency-Key', 'HTTP_ACCEPT_LANGUAGE' => 'Accept-Language'] as $from => $name) {
    if (isset($_SERVER[$from])) {
        $headers[] = "$name: $_SERVER[$from]";
    }
}
$answer = [];
$request = curl_init("$origin/api/connector/v1" . substr($call, strpos($call, ' ') + 1) . ($query === '' ? '' : "?$query"));
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    // A page of another site can send no JSON without asking first: what is none is refused.
    if (!preg_match('~^application/json\s*(;|$)~i', $_SERVER['CONTENT_TYPE'] ?? '')) {
        refuse(415, 'INVALID_REQUEST', 'Content-Type must be application/json.');
    }
    $body = (string) file_get_contents('php://input', length: CALLS[$call] + 1);
    if (strlen($body) > CALLS[$call]) {
        refuse(413, 'INVALID_REQUEST', 'The body is too large.');
    }
    $headers[] = 'Content-Type: application/json';
    // Without this curl asks first whether it may send a body, and waits.
    $headers[] = 'Expect:';
    curl_setopt($request, CURLOPT_POSTFIELDS, $body);
}
curl_setopt_array($request, [
    CURLOPT_HTTPHEADER => $headers,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FOLLOWLOCATION => false,
    CURLOPT_CONNECTTIMEOUT => 5,
    CURLOPT_TIMEOUT => 35,
    CURLOPT_HEADERFUNCTION => function ($request, string $line) use (&$answer): int {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $answer[strtolower($name)] = trim($value);
        return strlen($line);
    },
]);
$text = curl_exec($request);
if ($text === false) {
    curl_errno($request) === CURLE_OPERATION_TIMEDOUT
        ? refuse(504, 'UPSTREAM_TIMEOUT', 'The chat service did not answer in time.')
        : refuse(502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
}
http_response_code(curl_getinfo($request, CURLINFO_RESPONSE_CODE));
foreach (PASSED_BACK as $name) {
    if (isset($answer[$name])) {
        header("$name: $answer[$name]");
    }
}
echo $text;
