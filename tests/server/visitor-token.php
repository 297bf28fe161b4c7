<?php
// Runs the recipe for PHP, or the plugin for WordPress, without the extension curl and without WordPress. The argument is JSON:
// the `script`, the `constants`, the `user` who is signed in, and the `path` of a request. Prints the headers that the proxy
// sends to the service as JSON.

declare(strict_types=1);

$given = json_decode($argv[1], true) + ['constants' => [], 'user' => null];
foreach ($given['constants'] as $name => $value) {
    define($name, $value);
}
$_SERVER = ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => $given['path'], 'HTTP_VISITOR_TOKEN' => 'from.the.page'] + $_SERVER;

const CURL = ['HTTPHEADER', 'PROTOCOLS', 'FOLLOWLOCATION', 'CONNECTTIMEOUT', 'TIMEOUT', 'HEADERFUNCTION', 'WRITEFUNCTION'];
foreach (CURL as $number => $name) {
    define("CURLOPT_$name", $number);
}
define('CURLPROTO_HTTP', 1);
define('CURLPROTO_HTTPS', 2);

function curl_init(string $address): object
{
    return new stdClass();
}

function curl_setopt_array(object $request, array $options): never
{
    exit(json_encode($options[CURLOPT_HTTPHEADER]));
}

function add_action(string $name, callable $run): void
{
    if ($name === 'plugins_loaded') {
        $GLOBALS['loaded'] = $run;
    }
}

function add_filter(string $name, callable $run): void
{
}

function plugin_basename(string $file): string
{
    return $file;
}

function get_option(string $name, mixed $default): mixed
{
    return $default;
}

function wp_get_current_user(): object
{
    return (object) ($GLOBALS['given']['user'] ?? ['ID' => 0]);
}

/** What the recipe's CHAT_VISITOR may name. */
function signed_in(): ?array
{
    return $GLOBALS['given']['user'];
}

require $given['script'];
$GLOBALS['loaded']();
