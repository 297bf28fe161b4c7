<?php

declare(strict_types=1);

namespace SiteConnector;

/** Sends requests with the extension curl. */
final class CurlTransport implements Transport
{
    /** Maximum bytes of a response. */
    private const MAX_ANSWER = 4 * 1024 * 1024;

    private int $timeoutS;

    public function __construct(int $timeoutS = 30)
    {
        $this->timeoutS = $timeoutS;
    }

    public function send(string $method, string $url, array $headers, ?string $body): array
    {
        $answer = ['status' => 0, 'headers' => [], 'body' => ''];
        $lines = ['Expect:', 'Accept-Encoding: identity'];
        foreach ($headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        $request = curl_init($url);
        curl_setopt_array($request, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_CONNECTTIMEOUT => 5,
            CURLOPT_TIMEOUT => $this->timeoutS,
            CURLOPT_HEADERFUNCTION => static function ($request, string $line) use (&$answer): int {
                if (strncmp($line, 'HTTP/', 5) === 0) {
                    $answer['headers'] = [];
                }
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $answer['headers'] += [strtolower($name) => trim($value)];
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function ($request, string $part) use (&$answer): int {
                $answer['body'] .= $part;
                return strlen($answer['body']) > self::MAX_ANSWER ? -1 : strlen($part);
            },
        ]);
        if ($body !== null) {
            curl_setopt($request, CURLOPT_POSTFIELDS, $body);
        }
        if (!curl_exec($request)) {
            throw new TransportError(curl_error($request));
        }
        $answer['status'] = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        return $answer;
    }
}
