<?php

declare(strict_types=1);

namespace SiteConnector;

/** Sends one HTTP request. */
interface Transport
{
    /**
     * Returns the response as `status`, `headers` by their names in lower case, and `body`. Follows no redirect.
     *
     * @param array<string, string> $headers
     * @return array{status: int, headers: array<string, string>, body: string}
     * @throws TransportError if there is no complete response
     */
    public function send(string $method, string $url, array $headers, ?string $body): array;
}
