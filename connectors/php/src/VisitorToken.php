<?php

declare(strict_types=1);

namespace SiteConnector;

/** The proof of who is signed in: a JWT with HS256 that is valid for five minutes. */
final class VisitorToken
{
    private const VALID_S = 300;

    /** Signs a visitor, such as `['id' => 'crm-4711', 'name' => 'Ada', 'email' => 'ada@shop.example']`. */
    public static function sign(array $visitor, string $secret, ?int $nowS = null): string
    {
        $encode = static fn (string $bytes): string => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
        $claims = ['sub' => (string) $visitor['id'], 'exp' => ($nowS ?? time()) + self::VALID_S];
        $claims += array_diff_key($visitor, ['id' => null]);
        $signed = $encode('{"alg":"HS256","typ":"JWT"}') . '.' . $encode(json_encode($claims, JSON_THROW_ON_ERROR));
        return "$signed." . $encode(hash_hmac('sha256', $signed, $secret, true));
    }
}
