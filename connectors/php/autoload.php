<?php
// Loads the classes of this folder without Composer.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . substr($class, 14) . '.php';
    if (strncmp($class, 'SiteConnector\\', 14) === 0 && is_file($file)) {
        require $file;
    }
});
