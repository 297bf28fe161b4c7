<?php
// Runs the tests of the library, without a framework and in any version of PHP from 7.4.

declare(strict_types=1);

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): void {
    throw new ErrorException($message, 0, $level, $file, $line);
});
require __DIR__ . '/../autoload.php';
require __DIR__ . '/FakeService.php';

$GLOBALS['tests'] = [];

/** Adds a test. Its name is the sentence that it proves. */
function test(string $sentence, callable $check): void
{
    $GLOBALS['tests'][$sentence] = $check;
}

function same($expected, $found): void
{
    if ($expected !== $found) {
        throw new RuntimeException('expected ' . var_export($expected, true) . ', got ' . var_export($found, true));
    }
}

/** Returns what a function throws. */
function thrown(callable $work): Throwable
{
    try {
        $work();
    } catch (Throwable $error) {
        return $error;
    }
    throw new RuntimeException('nothing was thrown');
}

/** Returns a new folder, which is removed at the end. */
function folder(): string
{
    $folder = sys_get_temp_dir() . '/site-connector-' . bin2hex(random_bytes(8));
    mkdir($folder);
    register_shutdown_function(static function () use ($folder): void {
        array_map('unlink', glob("$folder/*"));
        rmdir($folder);
    });
    return $folder;
}

foreach (glob(__DIR__ . '/*Test.php') as $file) {
    require $file;
}
$failed = 0;
foreach ($GLOBALS['tests'] as $sentence => $check) {
    try {
        $check();
        echo "ok $sentence\n";
    } catch (Throwable $error) {
        $failed++;
        echo "FAILED $sentence: {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})\n";
    }
}
printf("# pass %d\n# fail %d\n", count($GLOBALS['tests']) - $failed, $failed);
exit($failed === 0 ? 0 : 1);
