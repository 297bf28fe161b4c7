<?php
// The chat's proxy for PHP 7.4 or newer with the extension curl: the five paths, and nothing else. Configure the web server
// to run this file for every path below /connector. Copy the folder connectors/php as `site-connector` beside this file.
// Keep the token where visitors cannot read it.

declare(strict_types=1);

require __DIR__ . '/site-connector/autoload.php';

$setting = static fn (string $constant, string $variable): string =>
    (string) (defined($constant) ? constant($constant) : getenv($variable));

$token = $setting('CHAT_TOKEN', 'CONNECTOR_TOKEN') ?: (string) @file_get_contents((string) getenv('CONNECTOR_TOKEN_FILE'));
$origin = $setting('CHAT_ORIGIN', 'CONNECTOR_ORIGIN') ?: 'https://service.example';
$proxy = new SiteConnector\Proxy($origin, $token, '/connector');

// With a secret, CHAT_VISITOR names a function that returns the visitor of this request, such as
// ['id' => 'crm-4711', 'name' => 'Ada', 'email' => 'ada@shop.example'], or null.
$secret = trim($setting('CHAT_VISITOR_SECRET', 'CONNECTOR_VISITOR_SECRET'));
if ($secret !== '') {
    $proxy->verifyVisitors($secret, defined('CHAT_VISITOR') ? CHAT_VISITOR : null);
}
$proxy->serve();
