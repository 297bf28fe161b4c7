<?php

declare(strict_types=1);

namespace ChatWidget;

defined('ABSPATH') || exit;

use SiteConnector\TransportError;

/** Sends requests to the service with WordPress' own HTTP, and so through the proxy of wp-config.php. */
final class Transport implements \SiteConnector\Transport
{
    public function send(string $method, string $url, array $headers, ?string $body): array
    {
        $answer = wp_remote_request($url, [
            'method' => $method,
            'headers' => $headers,
            'body' => $body ?? '',
            'timeout' => 20,
            'redirection' => 0,
            'decompress' => false,
            'limit_response_size' => 4 * 1024 * 1024,
            'user-agent' => 'chat-widget-wordpress',
        ]);
        if (is_wp_error($answer)) {
            throw new TransportError($answer->get_error_message());
        }
        $back = [];
        foreach (wp_remote_retrieve_headers($answer) as $name => $value) {
            $back[strtolower($name)] = is_array($value) ? (string) reset($value) : $value;
        }
        $status = (int) wp_remote_retrieve_response_code($answer);
        return ['status' => $status, 'headers' => $back, 'body' => wp_remote_retrieve_body($answer)];
    }
}
