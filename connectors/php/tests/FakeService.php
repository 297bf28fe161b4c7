<?php

declare(strict_types=1);

use SiteConnector\Client;
use SiteConnector\Transport;
use SiteConnector\TransportError;

/** A service that gives prepared responses, and remembers the requests. The conformance suite has a real one. */
final class FakeService implements Transport
{
    /** @var array[] */
    public array $requests = [];
    /** @var int[] milliseconds that the client has waited */
    public array $waits = [];
    private array $responses;

    /** @param array $responses data of a success, `[status, code, headers]` of a failure, null for no connection */
    public function __construct(array $responses)
    {
        $this->responses = $responses;
    }

    public function client(): Client
    {
        return new Client('https://service.example', 'a-token', $this, 4, function (int $ms): void {
            $this->waits[] = $ms;
        });
    }

    public function send(string $method, string $url, array $headers, ?string $body): array
    {
        $path = substr($url, strlen('https://service.example/api/connector/v1'));
        $this->requests[] = ['call' => "$method $path", 'headers' => $headers, 'body' => $body];
        $response = array_shift($this->responses);
        if ($response === null) {
            throw new TransportError('connection refused');
        }
        if (isset($response[0])) {
            $text = json_encode(['ok' => false, 'error' => ['code' => $response[1], 'message' => 'No.']]);
            return ['status' => $response[0], 'headers' => $response[2] ?? [], 'body' => $text];
        }
        $text = json_encode(['ok' => true, 'data' => $response === [] ? new stdClass() : $response]);
        return ['status' => 200, 'headers' => [], 'body' => $text];
    }
}
