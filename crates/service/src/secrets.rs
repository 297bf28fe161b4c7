//! Random secrets, and secrets that are stored encrypted.
//!
//! Secrets that others show to the service (site tokens, cookies, one-time links) are stored as hashes only.
//! Secrets that the service shows to others (keys of AI endpoints, secrets of webhooks and of one-time
//! passwords) are stored encrypted with the service's key, which is not in the database.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::SecretString;
use uuid::Uuid;

/// The length of the service's key, in bytes.
pub const KEY_BYTES: usize = 32;

/// Returns a new secret of 256 random bits, in 43 characters that need no escaping in URLs.
pub(crate) fn random_secret() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(random_bytes::<KEY_BYTES>())
}

/// Returns a new id, such as `site_0123…`. It is unique, and no secret.
pub(crate) fn new_id(kind: &str) -> String {
    format!("{kind}_{}", Uuid::new_v4().simple())
}

/// # Panics
///
/// Panics if the operating system has no random numbers: nothing here is safe without them.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    assert!(SystemRandom::new().fill(&mut bytes).is_ok(), "the operating system has no random numbers");
    bytes
}

/// The service's key, which encrypts the secrets in the database.
#[derive(Clone)]
pub struct ServiceKey {
    aead: LessSafeKey,
    mac: hmac::Key,
}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServiceKey(…)")
    }
}

/// A stored secret cannot be decrypted.
#[derive(Debug, thiserror::Error)]
#[error("a stored secret cannot be decrypted: it was encrypted with another service key")]
pub(crate) struct WrongKey;

impl ServiceKey {
    /// Creates a key from its bytes; `None` unless there are [`KEY_BYTES`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let aead = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, bytes).ok()?);
        // A key of its own for each algorithm.
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, bytes), b"keyed hashes");
        Some(Self { aead, mac: hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()) })
    }

    /// Creates a random key, for a service whose data does not outlive it.
    pub fn random() -> Self {
        Self::new(&random_bytes::<KEY_BYTES>()).unwrap_or_else(|| unreachable!("the length is right"))
    }

    /// Encrypts a secret. `purpose` names its place: a secret that is moved to another place is refused.
    pub(crate) fn seal(&self, purpose: &str, secret: &str) -> Vec<u8> {
        let nonce = random_bytes::<NONCE_LEN>();
        let mut sealed = secret.as_bytes().to_vec();
        let tag = self.aead.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(purpose.as_bytes()),
            &mut sealed,
        );
        assert!(tag.is_ok(), "a secret is far shorter than the cipher's limit");
        [&nonce[..], &sealed].concat()
    }

    /// Returns a keyed hash, by which a text is found again that must not be guessed from what is stored.
    /// `purpose` names its place.
    pub(crate) fn keyed_hash(&self, purpose: &str, text: &str) -> Vec<u8> {
        hmac::sign(&self.mac, [purpose, "\0", text].concat().as_bytes()).as_ref().to_vec()
    }

    /// Decrypts a secret.
    pub(crate) fn unseal(&self, purpose: &str, sealed: &[u8]) -> Result<SecretString, WrongKey> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(WrongKey)?;
        let mut sealed = sealed.to_vec();
        let secret = self
            .aead
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(purpose.as_bytes()), &mut sealed)
            .map_err(|_| WrongKey)?;
        Ok(String::from_utf8(secret.to_vec()).map_err(|_| WrongKey)?.into())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn decrypts_what_it_encrypted_in_the_same_place_only() {
        let key = ServiceKey::random();
        let sealed = key.seal("webhook wh_1", "a secret");
        assert!(!sealed.windows(8).any(|window| window == b"a secret"));
        assert_ne!(sealed, key.seal("webhook wh_1", "a secret"), "each has a nonce of its own");
        let opened = key.unseal("webhook wh_1", &sealed).expect("the same key");
        assert_eq!(opened.expose_secret(), "a secret");
        assert!(key.unseal("webhook wh_2", &sealed).is_err(), "another place");
        assert!(ServiceKey::random().unseal("webhook wh_1", &sealed).is_err(), "another key");
        let mut changed = sealed.clone();
        changed[NONCE_LEN] ^= 1;
        assert!(key.unseal("webhook wh_1", &changed).is_err(), "a changed byte");
        assert!(key.unseal("webhook wh_1", &sealed[..5]).is_err(), "cut off");
    }

    #[test]
    fn a_keyed_hash_differs_by_key_place_and_text() {
        let key = ServiceKey::random();
        let hash = key.keyed_hash("address of site_1", "ada@shop.example");
        assert_eq!(hash, key.keyed_hash("address of site_1", "ada@shop.example"));
        for other in [
            key.keyed_hash("address of site_2", "ada@shop.example"),
            key.keyed_hash("address of site_1", "bob@shop.example"),
            ServiceKey::random().keyed_hash("address of site_1", "ada@shop.example"),
        ] {
            assert_ne!(hash, other);
        }
    }

    #[test]
    fn secrets_have_256_bits_and_never_repeat() {
        let secrets: std::collections::HashSet<String> = (0..1000).map(|_| random_secret()).collect();
        assert_eq!(secrets.len(), 1000);
        assert!(secrets.iter().all(|secret| secret.len() == 43));
    }
}
