<?php

declare(strict_types=1);

namespace SiteConnector;

/** Texts that others wrote, made safe to show, to compare and to send. */
final class Text
{
    /** Returns a text as one line without control characters, of at most 500 characters. */
    public static function line(string $text): string
    {
        $clean = preg_replace('/[\x00-\x20\x7f]+/', ' ', substr($text, 0, 2000));
        return preg_match('/^.{0,500}/u', trim((string) $clean), $found) === 1 ? $found[0] : 'unreadable text';
    }

    /** Returns the letters and digits of HTML, as a reader sees them, for comparisons. */
    public static function letters(string $html): string
    {
        $html = preg_replace('~<(script|style)\b[^>]*+>.*?</\1\s*+>|<!--.*?-->~is', ' ', $html) ?? $html;
        $text = html_entity_decode(strip_tags($html), ENT_QUOTES | ENT_HTML5, 'UTF-8');
        return (string) preg_replace('/[^\p{L}\p{N}]+/u', '', $text);
    }

    /** Returns JSON that decodes to the same value, or fails. */
    public static function json($value): string
    {
        return json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
    }

    /** Returns a random name. */
    public static function unique(): string
    {
        return bin2hex(random_bytes(16));
    }
}
