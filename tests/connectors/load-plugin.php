<?php
// Loads every class of the plugin for WordPress, without WordPress, and runs what needs nothing of it. Any warning of PHP
// is a failure. For the versions of PHP in which the tests have no WordPress.

declare(strict_types=1);

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): void {
    throw new ErrorException($message, 0, $level, $file, $line);
});
define('ABSPATH', '/');
define('MINUTE_IN_SECONDS', 60);
require __DIR__ . '/../../connectors/php/autoload.php';
spl_autoload_register(static function (string $class): void {
    require __DIR__ . '/../../connectors/wordpress/src/' . substr($class, strlen('ChatWidget\\')) . '.php';
});

$passed = 0;
foreach (glob(__DIR__ . '/../../connectors/wordpress/src/*.php') as $file) {
    $class = 'ChatWidget\\' . basename($file, '.php');
    class_exists($class);
    $passed++;
    echo "ok PHP ", PHP_VERSION, " loads $class\n";
}
$options = ChatWidget\Chat::optionsOf('<script async data-proxy="https://a.example" data-strings="{&quot;a&quot;: 1}">');
$expected = ['data-proxy' => 'https://a.example', 'data-strings' => '{"a": 1}'];
$isRead = $options === $expected;
echo $isRead ? 'ok' : 'FAILED', " the code of the chat is read\n";
printf("# pass %d\n# fail %d\n", $passed + (int) $isRead, (int) !$isRead);
exit($isRead ? 0 : 1);
