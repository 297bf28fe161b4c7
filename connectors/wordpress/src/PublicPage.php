<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\JobFailure;

/** A page as visitors get it: what is reported as done was looked at. */
final class PublicPage
{
    /** Returns the HTML at an address, or null if visitors get no page there. */
    public static function read(string $url): ?string
    {
        $answer = wp_remote_get($url, [
            'timeout' => 15,
            'redirection' => 3,
            'headers' => ['Cache-Control' => 'no-cache', 'Accept' => 'text/html'],
            'user-agent' => 'chat-widget-wordpress',
            // As WordPress does for requests to itself: local certificates are often self-signed.
            'sslverify' => apply_filters('https_local_ssl_verify', false),
        ]);
        if (is_wp_error($answer)) {
            throw new JobFailure("The site could not read its own page $url: " . $answer->get_error_message());
        }
        $status = (int) wp_remote_retrieve_response_code($answer);
        if (in_array($status, [404, 410], true)) {
            return null;
        }
        if ($status !== 200) {
            throw new JobFailure("The site could not read its own page $url: status $status.");
        }
        return wp_remote_retrieve_body($answer);
    }
}
