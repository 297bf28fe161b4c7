//! The second factor: time-based one-time passwords (RFC 6238), and recovery codes.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::Value;
use secrecy::ExposeSecret;
use totp_rs::{Builder, Secret, Totp};

use crate::ServiceKey;
use crate::clock::millis;
use crate::db::{DbError, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::{fingerprint, is_same_hash};
use crate::secrets::{WrongKey, random_bytes};

/// The length of a secret, in bytes (RFC 4226, 4).
const SECRET_BYTES: usize = 20;
/// The length of a recovery code, in bytes: 80 bits, which are 16 characters.
const RECOVERY_BYTES: usize = 10;
/// The number of recovery codes.
const RECOVERY_CODES: usize = 10;
/// The time in which an enrolment must be confirmed.
const ENROLMENT_LIFETIME: Duration = Duration::from_mins(10);
const ISSUER: &str = "Site Connector";

/// The secret of an account's one-time passwords.
pub(super) struct TotpSecret([u8; SECRET_BYTES]);

impl TotpSecret {
    pub(super) fn random() -> Self {
        Self(random_bytes())
    }

    /// Returns the secret as authenticator apps take it.
    pub(super) fn base32(&self) -> String {
        base32(&self.0)
    }

    /// Returns the URI that authenticator apps read from a QR code.
    pub(super) fn uri(&self, email: &str) -> String {
        let label = format!("{}:{}", escape(ISSUER), escape(email));
        format!("otpauth://totp/{label}?secret={}&issuer={}", self.base32(), escape(ISSUER))
    }

    /// Returns the time step of a code, which is the current one, the one before or the one after.
    pub(super) fn check(&self, code: &str, now_ms: i64) -> Option<i64> {
        let step = self.totp().check(code, u64::try_from(now_ms / 1000).ok()?)?;
        i64::try_from(step).ok()
    }

    fn totp(&self) -> Totp {
        // The defaults are those of every app: SHA-1, six digits, 30 seconds, one step of tolerance.
        Builder::new().with_secret(Secret::new_stack(self.0)).build_noncompliant()
    }

    #[cfg(test)]
    pub(super) fn code_at(&self, now_ms: i64) -> String {
        self.totp().generate(u64::try_from(now_ms / 1000).expect("after 1970")).to_string()
    }

    /// Encrypts the secret, so that it is of use for this account only.
    pub(super) fn seal(&self, key: &ServiceKey, account_id: &str) -> Vec<u8> {
        key.seal(&purpose(account_id), &BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }

    pub(super) fn unseal(key: &ServiceKey, account_id: &str, sealed: &[u8]) -> Result<Self, WrongKey> {
        let text = key.unseal(&purpose(account_id), sealed)?;
        Self::from_base64(text.expose_secret()).ok_or(WrongKey)
    }

    fn from_base64(text: &str) -> Option<Self> {
        Some(Self(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }

    /// Returns the secret as an enrolment: encrypted text that the browser returns with the first code, so
    /// that nothing is stored before it is confirmed.
    pub(super) fn enrolment(&self, key: &ServiceKey, account_id: &str, now_ms: i64) -> String {
        let expires_ms = now_ms.saturating_add(millis(ENROLMENT_LIFETIME));
        let text = format!("{} {expires_ms}", BASE64_URL_SAFE_NO_PAD.encode(self.0));
        BASE64_URL_SAFE_NO_PAD.encode(key.seal(&enrolment_purpose(account_id), &text))
    }

    /// Reads an enrolment; `None` if it is invalid, too old, or another account's.
    pub(super) fn from_enrolment(
        key: &ServiceKey,
        account_id: &str,
        enrolment: &str,
        now_ms: i64,
    ) -> Option<Self> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(enrolment).ok()?;
        let text = key.unseal(&enrolment_purpose(account_id), &sealed).ok()?;
        let (secret, expires_ms) = text.expose_secret().split_once(' ')?;
        (expires_ms.parse::<i64>().ok()? > now_ms).then(|| Self::from_base64(secret))?
    }
}

fn purpose(account_id: &str) -> String {
    format!("one-time passwords of {account_id}")
}

fn enrolment_purpose(account_id: &str) -> String {
    format!("enrolment of one-time passwords of {account_id}")
}

/// Creates recovery codes. Returns them, to be shown once, and their hashes, to be stored.
pub(super) fn recovery_codes() -> (Vec<String>, String) {
    let codes: Vec<String> = (0..RECOVERY_CODES)
        .map(|_| {
            let code = base32(&random_bytes::<RECOVERY_BYTES>()).to_lowercase();
            format!("{}-{}-{}-{}", &code[..4], &code[4..8], &code[8..12], &code[12..])
        })
        .collect();
    let hashes = codes.iter().map(|code| hash_code(code)).collect();
    (codes, store_hashes(hashes))
}

fn hash_code(code: &str) -> String {
    let code: String = code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[code.as_bytes()]))
}

fn store_hashes(hashes: Vec<String>) -> String {
    hashes.into_iter().collect::<Value>().to_string()
}

/// The second factor of an account, as stored.
pub(super) struct SecondFactor {
    pub(super) secret: TotpSecret,
    /// The hashes of the recovery codes that are left, as JSON.
    pub(super) recovery_codes: String,
}

/// Uses up a one-time password or a recovery code. Returns whether it was valid.
pub(super) async fn redeem(
    tx: &mut Tx,
    now_ms: i64,
    account_id: &str,
    factor: &SecondFactor,
    code: &str,
) -> Result<bool, ApiError> {
    let code: String = code.chars().filter(|character| !character.is_whitespace()).collect();
    if let Some(step) = factor.secret.check(&code, now_ms) {
        // A step that was used, or one before it, is a replay.
        let sql = "UPDATE accounts SET totp_step = $1 WHERE id = $2 AND totp_step < $1";
        return Ok(tx.execute(sql, args![step, account_id]).await? == 1);
    }
    let hash = hash_code(&code);
    let stored: Vec<String> = serde_json::from_str(&factor.recovery_codes).unwrap_or_default();
    let is_this = |stored: &String| is_same_hash(stored.as_bytes(), hash.as_bytes());
    let (used, left): (Vec<String>, Vec<String>) = stored.into_iter().partition(is_this);
    if used.is_empty() {
        return Ok(false);
    }
    // Of two requests at once, the second finds other codes stored.
    let sql = "UPDATE accounts SET recovery_codes = $1 WHERE id = $2 AND recovery_codes = $3";
    let values = args![store_hashes(left), account_id, &factor.recovery_codes];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Stores an account's second factor, or removes it.
pub(super) async fn store(
    tx: &mut Tx,
    account_id: &str,
    factor: Option<(Vec<u8>, i64, String)>,
) -> Result<(), DbError> {
    let (secret, step, codes) = match factor {
        Some((secret, step, codes)) => (Some(secret), step, codes),
        None => (None, 0, store_hashes(Vec::new())),
    };
    let sql = "UPDATE accounts SET totp_secret = $1, totp_step = $2, recovery_codes = $3 WHERE id = $4";
    tx.execute(sql, args![secret, step, codes, account_id]).await?;
    Ok(())
}

/// Encodes bytes in Base32 (RFC 4648), without padding.
fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits = |index: usize| {
        (0..5).fold(0_usize, |value, offset| {
            let bit = index * 5 + offset;
            let byte = bytes.get(bit / 8).copied().unwrap_or_default();
            value << 1 | usize::from(byte >> (7 - bit % 8) & 1)
        })
    };
    (0..(bytes.len() * 8).div_ceil(5)).map(|index| char::from(ALPHABET[bits(index)])).collect()
}

/// Escapes a text for a URI.
fn escape(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_rfc_4648_does() {
        for (text, encoded) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn gives_the_codes_of_rfc_6238() {
        let secret = TotpSecret(*b"12345678901234567890");
        for (second, code) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")] {
            assert_eq!(secret.code_at(second * 1000), code);
            let step = second / 30;
            assert_eq!(secret.check(code, second * 1000), Some(step));
            assert_eq!(secret.check(code, (second + 30) * 1000), Some(step), "a slow clock");
            assert_eq!(secret.check(code, (second - 30) * 1000), Some(step), "a fast clock");
            assert_eq!(secret.check(code, (second + 60) * 1000), None, "too old");
        }
        for code in ["", "28708", "2870820", "+87082", "28708２", "abcdef"] {
            assert_eq!(secret.check(code, 59_000), None, "{code}");
        }
        assert_eq!(secret.check("287082", -1000), None);
    }

    #[test]
    fn an_enrolment_is_of_use_to_its_operator_for_a_while() {
        let (key, secret) = (ServiceKey::random(), TotpSecret::random());
        let enrolment = secret.enrolment(&key, "op_1", 1000);
        let read = |operator: &str, text: &str, now_ms: i64| {
            TotpSecret::from_enrolment(&key, operator, text, now_ms).map(|secret| secret.0)
        };
        assert_eq!(read("op_1", &enrolment, 1000), Some(secret.0));
        assert_eq!(read("op_2", &enrolment, 1000), None);
        assert_eq!(read("op_1", &enrolment, 1000 + millis(ENROLMENT_LIFETIME)), None);
        assert_eq!(read("op_1", "", 1000), None);
        assert_eq!(read("op_1", &"A".repeat(10_000), 1000), None);
        let sealed = secret.seal(&key, "op_1");
        assert!(TotpSecret::unseal(&key, "op_1", &sealed).is_ok());
        assert!(TotpSecret::unseal(&key, "op_2", &sealed).is_err());
        assert_eq!(read("op_1", &BASE64_URL_SAFE_NO_PAD.encode(sealed), 1000), None, "another purpose");
    }

    #[test]
    fn the_uri_is_what_apps_read() {
        let secret = TotpSecret(*b"12345678901234567890");
        assert_eq!(
            secret.uri("ada+x@example.com"),
            "otpauth://totp/Site%20Connector:ada%2Bx%40example.com\
             ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Site%20Connector"
        );
    }

    #[test]
    fn recovery_codes_are_stored_as_hashes() {
        let (codes, stored) = recovery_codes();
        assert_eq!(codes.len(), RECOVERY_CODES);
        for code in &codes {
            assert!(!stored.contains(code.as_str()) && code.len() == 19);
            assert!(stored.contains(&hash_code(&code.to_uppercase().replace('-', " "))), "as people type it");
        }
    }
}
