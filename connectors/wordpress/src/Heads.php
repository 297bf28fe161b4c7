<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\JobFailure;
use SiteConnector\Overlay;
use SiteConnector\Text;

/** The service's page heads: stored by the paths of their pages, and put into the pages when WordPress renders them. */
final class Heads
{
    private Database $database;

    public function __construct(Database $database)
    {
        $this->database = $database;
    }

    /** Returns the overlay of a path, or null. */
    public function of(string $path): ?Overlay
    {
        $sql = 'SELECT overlay FROM ' . Database::table('overlays') . ' WHERE path_key = ?';
        $row = $this->database->rows($sql, [self::key($path)])[0] ?? null;
        return $row === null ? null : Overlay::read(json_decode($row['overlay'], true));
    }

    /** Executes a job: stores the overlay, and looks at the page. One that does not show it gets its old head back. */
    public function execute(array $job, callable $step): array
    {
        $payload = is_array($job['payload'] ?? null) ? $job['payload'] : [];
        $data = $payload['overlay'] ?? $payload;
        $overlay = Overlay::read($data);
        if ($overlay === null) {
            throw new JobFailure('The overlay names no page.');
        }
        $url = Site::url($overlay->path);
        if (PublicPage::read($url) === null) {
            throw new JobFailure('The site has no page ' . Text::line($overlay->path) . '.');
        }
        $before = $this->row($overlay->path);
        $step('overlay');
        $this->store($overlay, $data);
        $step('verify');
        $difference = $overlay->difference((string) PublicPage::read($url));
        if ($difference !== null && ($before['overlay'] ?? null) !== Text::json($data)) {
            $step('restore');
            $this->restore($overlay->path, $before);
        }
        if ($difference !== null) {
            throw new JobFailure("The page head was not applied to $url: $difference. A cache may hold the old page.");
        }
        return ['path' => $overlay->path, 'url' => $url, 'status' => 'applied'];
    }

    /** Stores the overlays that the service has published, such as those from before the plugin was installed. */
    public function pull(array $overlays): void
    {
        foreach ($overlays as $overlay) {
            if ($overlay->hasContent()) {
                $this->store($overlay, get_object_vars($overlay));
            }
        }
    }

    private function store(Overlay $overlay, array $data): void
    {
        if (!$overlay->hasContent()) {
            $this->restore($overlay->path, null);
            return;
        }
        $row = ['path_key' => self::key($overlay->path), 'path' => $overlay->path, 'overlay' => Text::json($data)];
        $this->database->put(Database::table('overlays'), $row);
    }

    private function row(string $path): ?array
    {
        $sql = 'SELECT * FROM ' . Database::table('overlays') . ' WHERE path_key = ?';
        return $this->database->rows($sql, [self::key($path)])[0] ?? null;
    }

    private function restore(string $path, ?array $row): void
    {
        if ($row !== null) {
            $this->database->put(Database::table('overlays'), $row);
        } else {
            $sql = 'DELETE FROM ' . Database::table('overlays') . ' WHERE path_key = ?';
            $this->database->execute($sql, [self::key($path)]);
        }
    }

    private static function key(string $path): string
    {
        return hash('sha256', rawurldecode(Site::path($path)));
    }

    /** Puts the overlay of the requested page into its head. */
    public static function inject(): void
    {
        $isPage = !is_admin() && !is_feed() && !is_404() && !is_preview();
        $overlay = $isPage ? self::requested() : null;
        if ($overlay === null) {
            return;
        }
        foreach (self::filters($overlay) as $filter => $value) {
            add_filter($filter, static fn () => $value, PHP_INT_MAX);
        }
        // Whatever else writes into the head, each element of the overlay is there once. The theme's own header.php
        // may write elements too, so the whole page is read.
        ob_start(static function (string $html) use ($overlay): string {
            return stripos($html, '</head>') === false ? $html : $overlay->apply($html);
        });
    }

    private static function requested(): ?Overlay
    {
        $path = wp_parse_url($_SERVER['REQUEST_URI'] ?? '', PHP_URL_PATH);
        try {
            return is_string($path) && Database::exists() ? (new self(Database::open()))->of($path) : null;
        } catch (\RuntimeException $error) {
            // The page is more important than its head.
            return null;
        }
    }

    /** Returns the values for the filters of WordPress, Yoast SEO and Rank Math, so that all they write agrees. */
    private static function filters(Overlay $overlay): array
    {
        $title = $overlay->title === null ? null : esc_html($overlay->title);
        $filters = [
            'pre_get_document_title' => $title,
            'wp_title' => $title,
            'wpseo_title' => $overlay->title,
            'rank_math/frontend/title' => $overlay->title,
            'wpseo_metadesc' => $overlay->description,
            'rank_math/frontend/description' => $overlay->description,
            'wpseo_canonical' => $overlay->canonicalUrl,
            'rank_math/frontend/canonical' => $overlay->canonicalUrl,
            'wpseo_robots' => $overlay->robots,
            'rank_math/frontend/robots' => $overlay->robots === null ? null : self::directives($overlay->robots),
        ];
        foreach ($overlay->openGraph as $name => $content) {
            $yoast = $name === 'description' ? 'desc' : $name;
            $filters["wpseo_opengraph_$yoast"] = $content;
            $filters["rank_math/opengraph/facebook/og_$name"] = $content;
            // Both plugins write the same texts for Twitter as well.
            $filters["wpseo_twitter_$name"] = $content;
            $filters["rank_math/opengraph/twitter/twitter_$name"] = $content;
        }
        return array_filter($filters, static fn ($value): bool => $value !== null);
    }

    /** Returns robots as Rank Math has them: directives by their names. */
    private static function directives(string $robots): array
    {
        $directives = array_filter(array_map('trim', explode(',', strtolower($robots))));
        return array_combine($directives, $directives) ?: [];
    }
}
