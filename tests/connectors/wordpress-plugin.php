<?php
// A must-use plugin for tests: stops the process as if it had been killed, and shows pages as other plugins would.

declare(strict_types=1);

// Stops before a step of a job: `STOP_AT=publish`.
add_action('chat_widget_step', static function (string $step): void {
    if ($step === getenv('STOP_AT')) {
        posix_kill(getmypid(), 9);
    }
    if ($step === getenv('PAUSE_AT')) {
        echo "paused\n";
        flush();
        fgets(STDIN);
    }
});

// Stops before the query with this number, counted from the first claim: `STOP_AT_QUERY=12`.
add_filter('query', static function (string $query): string {
    static $count = 0;
    if (did_action('chat_widget_step') > 0 && ++$count === (int) getenv('STOP_AT_QUERY')) {
        posix_kill(getmypid(), 9);
    }
    return $query;
});

/** Returns what a test has written into the folder of WordPress. */
function test_file(string $name): string
{
    return is_file(ABSPATH . "test-$name") ? (string) file_get_contents(ABSPATH . "test-$name") : '';
}

// A cache in front of the site, which goes on showing an old page.
if (PHP_SAPI !== 'cli' && test_file('cache') !== '' && strpos($_SERVER['REQUEST_URI'], 'wp-') === false) {
    exit(test_file('cache'));
}

// A connection that breaks, to addresses that begin with a text.
if (test_file('offline') !== '') {
    add_filter('pre_http_request', static fn ($answer, array $request, string $url) =>
        strpos($url, test_file('offline')) === 0 ? new WP_Error('http_request_failed', 'Connection reset') : $answer, 10, 3);
}

// A theme that writes elements by itself, with odd quotes, and again in a comment.
if (test_file('theme') !== '') {
    add_action('wp_head', static function (): void {
        echo "<meta name='description' content='A second one of the theme > with a bracket'>\n";
        echo "<!-- <meta name=\"description\" content=\"in a comment\"> -->\n";
    });
}

// A language that WordPress has no pack for here. The direction is in the pack.
if (test_file('locale') !== '') {
    add_filter('locale', static fn (): string => test_file('locale'));
    add_filter('gettext_with_context', static fn (string $translated, string $text, string $context): string =>
        $context === 'text direction' && test_file('locale') === 'ar' ? 'rtl' : $translated, 10, 3);
}

// WordPress looks for its updates when an administrator opens a page, and warns if it cannot.
foreach (['update_core', 'update_plugins', 'update_themes'] as $update) {
    add_filter("pre_site_transient_$update", static fn () => (object) ['last_checked' => time(), 'version_checked' =>
        $GLOBALS['wp_version'], 'updates' => [], 'response' => [], 'translations' => [], 'checked' => []]);
}
