<?php

declare(strict_types=1);

use SiteConnector\Client;
use SiteConnector\ConnectorError;
use SiteConnector\VisitorToken;
use SiteConnector\Webhook;

test('a call is repeated with the same key and the same body after a lost response', static function (): void {
    $service = new FakeService([null, [503, ''], ['conversationId' => 'c']]);
    $message = ['message' => 'Grüße', 'visitor' => ['visitorId' => 'v']];
    same('c', $service->client()->sendMessage($message, 'm1')['conversationId']);
    same(3, count($service->requests));
    same($service->requests[0], $service->requests[2]);
    same('chat-v-m1', $service->requests[0]['headers']['Idempotency-Key']);
    same('Bearer a-token', $service->requests[0]['headers']['Authorization']);
});

test('Retry-After is obeyed up to a minute, and the error says it otherwise', static function (): void {
    $service = new FakeService([[429, 'RATE_LIMITED', ['retry-after' => '7']], []]);
    $service->client()->siteStatus();
    same([7000], $service->waits);
    $service = new FakeService([[429, 'RATE_LIMITED', ['retry-after' => '600']], []]);
    same(600, thrown([$service->client(), 'siteStatus'])->retryAfterS);
    same(1, count($service->requests));
});

test('a refusal is not repeated, and its message never contains the token', static function (): void {
    foreach ([400 => 'INVALID_REQUEST', 401 => 'INVALID_TOKEN', 409 => 'RESOURCE_CONFLICT'] as $status => $code) {
        $no = [$status, $code];
        $service = new FakeService([$no, []]);
        $error = thrown([$service->client(), 'siteStatus']);
        same([1, $no[0], $no[1]], [count($service->requests), $error->status, $error->errorCode]);
        same(false, strpos($error->getMessage(), 'a-token'));
    }
});

test('a conflict is repeated only with Retry-After, unless the key itself conflicts', static function (): void {
    $after = ['retry-after' => '1'];
    foreach ([['RESOURCE_CONFLICT', 2], ['IDEMPOTENCY_CONFLICT', 1]] as [$code, $requests]) {
        $service = new FakeService([[409, $code, $after], [404, 'NOT_FOUND']]);
        thrown([$service->client(), 'siteStatus']);
        same($requests, count($service->requests));
    }
});

test('an id of any kind stays in its segment of the path, and gives a key of its own', static function (): void {
    $keys = [];
    foreach (['../../auth', str_repeat('x', 300), str_repeat('x', 301), "j\n1", 'jöb'] as $id) {
        $service = new FakeService([['job' => []]]);
        $service->client()->completeJob($id, ['ok' => true, 'claimToken' => 'c']);
        same(1, preg_match('~^POST /site/jobs/[^/?#.\s]+/complete$~D', $service->requests[0]['call']));
        $keys[] = $service->requests[0]['headers']['Idempotency-Key'];
        same(1, preg_match('/^[!-~]{8,160}$/D', end($keys)));
    }
    same(5, count(array_unique($keys)));
});

test('a claim without a claim token, and a success without data, are invalid responses', static function (): void {
    same('the response is not one of the connector API: job.claimToken is missing', thrown(
        [(new FakeService([['job' => ['id' => 'j', 'type' => 't']]]))->client(), 'claimNextJob']
    )->getMessage());
    same(null, (new FakeService([['job' => null]]))->client()->claimNextJob());
});

test('an origin with a path, and a token that no header can carry, are refused at once', static function (): void {
    $invalid = [['https://s.example/api', 't'], ['s.example', 't'], ['https://s.example', "t\r\nX: y"]];
    foreach ($invalid as [$origin, $token]) {
        $error = thrown(static fn () => new Client($origin, $token, new FakeService([])));
        same(ConnectorError::class, get_class($error));
    }
});

test('a visitor is proved with HS256 for five minutes', static function (): void {
    $token = VisitorToken::sign(['id' => 7, 'name' => 'Zoë'], 'secret', 1000);
    [$header, $claims, $signature] = explode('.', $token);
    same('{"sub":"7","exp":1300,"name":"Zo\u00eb"}', base64_decode(strtr($claims, '-_', '+/')));
    same(hash_hmac('sha256', "$header.$claims", 'secret', true), base64_decode(strtr($signature, '-_', '+/')));
});

test('a webhook needs a signature of the secret, and a recent time', static function (): void {
    $secret = 'whsec_' . base64_encode('key');
    $signature = 'v1,' . base64_encode(hash_hmac('sha256', 'id.1000.body', 'key', true));
    $unkeyed = 'v1,' . base64_encode(hash_hmac('sha256', 'id.1000.body', '', true));
    same(true, Webhook::isSigned($secret, 'id', '1000', "v1,other $signature", 'body', 1200));
    foreach (
        [
            [$secret, 'id', '1000', $signature, 'body', 1300],
            [$secret, 'id', '1000', $signature, 'other', 1200],
            [$secret, 'id2', '1000', $signature, 'body', 1200],
            [$secret, 'id', '1000', '', 'body', 1200],
            ['', 'id', '1000', $unkeyed, 'body', 1200],
            ['whsec_', 'id', '1000', $unkeyed, 'body', 1200],
        ] as $arguments
    ) {
        same(false, Webhook::isSigned(...$arguments));
    }
});
