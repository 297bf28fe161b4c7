<?php

declare(strict_types=1);

namespace SiteConnector;

/** The service's changes to the head of one page, and the head with them. */
final class Overlay
{
    /** The attribute of the elements that an overlay adds. */
    public const MARK = 'data-site-connector';

    public string $path = '';
    public ?string $title = null;
    public ?string $description = null;
    public ?string $canonicalUrl = null;
    public ?string $robots = null;
    /** @var array<string, string> contents by the properties without `og:` */
    public array $openGraph = [];
    /** @var array[] JSON-LD objects */
    public array $structuredData = [];

    /** Reads an overlay; null if it names no page. Parts that cannot be read are left out. */
    public static function read($data): ?self
    {
        $path = is_array($data) ? $data['path'] ?? $data['pagePath'] ?? null : null;
        // A path that begins with two slashes is the address of another host.
        if (!is_string($path) || preg_match('~^/(?![/\\\\])~', $path) !== 1) {
            return null;
        }
        $text = static function (string $one, string $other) use ($data): ?string {
            $value = $data[$one] ?? $data[$other] ?? null;
            return is_string($value) && $value !== '' && preg_match('//u', $value) === 1 ? $value : null;
        };
        $overlay = new self();
        $overlay->path = $path;
        $overlay->title = $text('title', 'metaTitle');
        $overlay->description = $text('description', 'metaDescription');
        $canonical = $text('canonicalUrl', 'canonical');
        $overlay->canonicalUrl = preg_match('~^https?://~', (string) $canonical) === 1 ? $canonical : null;
        $overlay->robots = $text('robots', 'robots');
        foreach (is_array($data['openGraph'] ?? null) ? $data['openGraph'] : [] as $name => $content) {
            $name = preg_replace('/^og:/', '', (string) $name);
            if (is_string($content) && preg_match('/^[A-Za-z0-9_:]+$/D', $name) === 1) {
                $overlay->openGraph[$name] = $content;
            }
        }
        $structured = $data['structuredData'] ?? $data['jsonLd'] ?? [];
        if (is_array($structured)) {
            $list = isset($structured[0]) ? $structured : [$structured];
            $isObject = static fn ($one): bool => is_array($one) && $one !== [];
            $overlay->structuredData = array_values(array_filter($list, $isObject));
        }
        return $overlay;
    }

    /** Returns whether the overlay changes the head. */
    public function hasContent(): bool
    {
        return $this->texts() !== [] || $this->structuredData !== [];
    }

    /** Returns the contents of the elements by their names: `title`, `canonical`, `meta description`, `og:title`. */
    public function texts(): array
    {
        $texts = [
            'title' => $this->title,
            'meta description' => $this->description,
            'meta robots' => $this->robots,
            'canonical' => $this->canonicalUrl,
        ];
        foreach ($this->openGraph as $name => $content) {
            $texts["og:$name"] = $content;
        }
        return array_filter($texts, 'is_string');
    }

    /**
     * Returns HTML with the overlay at the end of its head, or at its end if it is a part of a head, in place of the
     * page's own elements. Values are escaped: they add neither an element nor a script.
     */
    public function apply(string $html): string
    {
        $texts = $this->texts();
        $end = self::endOfHead($html) ?? strlen($html);
        $own = self::elements(
            substr($html, 0, $end),
            static fn (string $name, string $element): string =>
                isset($texts[$name]) || strpos($element, ' ' . self::MARK) !== false ? '' : $element
        );
        return $own . $this->tags() . substr($html, $end);
    }

    /** Returns the first difference between the head of a page and the overlay, or null. */
    public function difference(string $html): ?string
    {
        $found = [];
        $head = substr($html, 0, self::endOfHead($html) ?? strlen($html));
        self::elements($head, static function (string $name, string $element) use (&$found): string {
            $isText = preg_match('~^<title[^>]*+>(.*)</title~is', $element, $text) === 1;
            $value = $isText ? $text[1] : self::attribute($element, $name === 'canonical' ? 'href' : 'content');
            $found[$name][] = html_entity_decode((string) $value, ENT_QUOTES | ENT_HTML5, 'UTF-8');
            return $element;
        });
        foreach ($this->texts() as $name => $text) {
            $values = $found[$name] ?? [];
            if (count($values) !== 1) {
                return "the page has $name " . count($values) . ' times';
            }
            if (Text::line($values[0]) !== Text::line($text)) {
                return "the page has another $name: " . Text::line($values[0]);
            }
        }
        foreach ($this->structuredData as $data) {
            if (strpos($html, self::ascii($data)) === false) {
                return 'the page lacks the structured data';
            }
        }
        return null;
    }

    /** Returns the elements of the overlay. */
    private function tags(): string
    {
        $mark = self::MARK;
        $tags = '';
        foreach ($this->texts() as $name => $text) {
            $value = htmlspecialchars($text, ENT_QUOTES, 'UTF-8');
            if ($name === 'title') {
                $tags .= "<title $mark>$value</title>";
            } elseif ($name === 'canonical') {
                $tags .= "<link $mark rel=\"canonical\" href=\"$value\">";
            } elseif (strncmp($name, 'og:', 3) === 0) {
                $tags .= "<meta $mark property=\"$name\" content=\"$value\">";
            } else {
                $tags .= "<meta $mark name=\"" . substr($name, 5) . "\" content=\"$value\">";
            }
        }
        foreach ($this->structuredData as $data) {
            $tags .= "<script $mark type=\"application/ld+json\">" . self::ascii($data) . "</script>";
        }
        return $tags;
    }

    private static function endOfHead(string $html): ?int
    {
        return preg_match('~</head\s*+>~i', $html, $found, PREG_OFFSET_CAPTURE) === 1 ? $found[0][1] : null;
    }

    /** Returns JSON in ASCII, without the beginning of a tag. */
    private static function ascii(array $data): string
    {
        return json_encode($data, JSON_HEX_TAG | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
    }

    /**
     * Replaces the elements of a head that an overlay may set, each by what the function returns for its name and its
     * text. Elements in comments, scripts and the like are no elements.
     */
    private static function elements(string $html, callable $replace): string
    {
        $attributes = '(?:[^>"\']++|"[^"]*+"|\'[^\']*+\')*+';
        $pattern = "~<!--.*?-->|<(script|style|noscript|template|svg)\\b$attributes>.*?</\\1\\s*+>|"
            . "<title\\b$attributes>.*?</title\\s*+>|<(?:meta|link)\\b$attributes>~is";
        $done = preg_replace_callback($pattern, static function (array $found) use ($replace): string {
            $element = $found[0];
            if (isset($found[1]) && $found[1] !== '') {
                // An earlier overlay's structured data is replaced as well.
                return strpos($element, '<script ' . self::MARK) === 0 ? $replace('structured', $element) : $element;
            }
            $name = self::name($element);
            return $name === null ? $element : $replace($name, $element);
        }, $html);
        return $done ?? $html;
    }

    private static function name(string $element): ?string
    {
        if (strncasecmp($element, '<title', 6) === 0) {
            return 'title';
        }
        $words = static fn (string $attribute): array =>
            preg_split('/\s+/', strtolower((string) self::attribute($element, $attribute)), -1, PREG_SPLIT_NO_EMPTY);
        if (strncasecmp($element, '<link', 5) === 0) {
            return in_array('canonical', $words('rel'), true) ? 'canonical' : null;
        }
        if (strncasecmp($element, '<meta', 5) !== 0) {
            return null;
        }
        foreach (['description', 'robots'] as $name) {
            if (in_array($name, $words('name'), true)) {
                return "meta $name";
            }
        }
        $property = $words('property')[0] ?? '';
        return strncmp($property, 'og:', 3) === 0 ? $property : null;
    }

    private static function attribute(string $element, string $name): ?string
    {
        $found = preg_match("~\\s$name\\s*+=\\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\\s>]++))~i", $element, $value) === 1;
        return $found ? $value[3] ?? $value[2] ?? $value[1] : null;
    }
}
