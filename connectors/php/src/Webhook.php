<?php

declare(strict_types=1);

namespace SiteConnector;

/** The signature of the service's webhooks. */
final class Webhook
{
    /** Maximum age of a request, in seconds. */
    private const MAX_AGE_S = 300;

    /** Returns whether a request is signed with the secret, and recent. The body is as it arrived, byte for byte. */
    public static function isSigned(
        string $secret,
        string $id,
        string $time,
        string $signatures,
        string $body,
        ?int $nowS = null
    ): bool {
        $key = strncmp($secret, 'whsec_', 6) === 0 ? base64_decode(substr($secret, 6), true) : false;
        $isRecent = preg_match('/^\d{1,12}$/D', $time) === 1 && abs(($nowS ?? time()) - (int) $time) < self::MAX_AGE_S;
        if ($key === false || $key === '' || $id === '' || !$isRecent) {
            return false;
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
        $isSigned = false;
        foreach (explode(' ', $signatures) as $signature) {
            $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
        return $isSigned;
    }
}
