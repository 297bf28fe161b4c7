//! The encryption of a push (RFC 8291) in one record of `aes128gcm` (RFC 8188). Only the browser that has
//! subscribed can read it.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::SystemRandom;

use crate::secrets::random_bytes;

/// The length of a public key, as an uncompressed point of P-256.
pub(super) const PUBLIC_KEY_BYTES: usize = 65;
/// The length of the secret that a browser shares with the service.
pub(super) const AUTH_BYTES: usize = 16;

const SALT_BYTES: usize = 16;
/// The record size that the header names. It is larger than any message, which has one record.
const RECORD_BYTES: u32 = 4096;
/// Messages are padded to a multiple of this length, so that their size does not tell what they say.
const PADDED_BYTES: usize = 256;
/// Marks the end of the last record. Zeros may follow.
const LAST_RECORD: u8 = 2;

/// The keys of a subscription.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RecipientKeys {
    pub(super) public: [u8; PUBLIC_KEY_BYTES],
    pub(super) auth: [u8; AUTH_BYTES],
}

/// A message cannot be encrypted, because the browser's key is no point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid p256dh: expected a public key of P-256")]
pub(super) struct InvalidKey;

/// Encrypts a message with a new key and a new salt.
pub(super) fn encrypt(recipient: &RecipientKeys, message: &[u8]) -> Result<Vec<u8>, InvalidKey> {
    let private = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).map_err(|_| InvalidKey)?;
    let padded_bytes = (message.len() + 1).next_multiple_of(PADDED_BYTES);
    encrypt_with(private, random_bytes(), recipient, message, padded_bytes)
}

/// Encrypts a message, which is padded to a length that includes its delimiter.
fn encrypt_with(
    private: EphemeralPrivateKey,
    salt: [u8; SALT_BYTES],
    recipient: &RecipientKeys,
    message: &[u8],
    padded_bytes: usize,
) -> Result<Vec<u8>, InvalidKey> {
    let sender = private.compute_public_key().map_err(|_| InvalidKey)?;
    let public = UnparsedPublicKey::new(&ECDH_P256, recipient.public);
    let key = agree_ephemeral(private, &public, |secret| {
        let info = [&b"WebPush: info\0"[..], &recipient.public, sender.as_ref()];
        let shared: [u8; 32] = expand(&Salt::new(HKDF_SHA256, &recipient.auth).extract(secret), &info);
        Salt::new(HKDF_SHA256, &salt).extract(&shared)
    });
    let key = key.map_err(|_| InvalidKey)?;
    let mut record = message.to_vec();
    record.push(LAST_RECORD);
    record.resize(padded_bytes.max(record.len()), 0);
    seal(&key, &mut record);
    let length = [u8::try_from(PUBLIC_KEY_BYTES).unwrap_or(u8::MAX)];
    Ok([&salt[..], &RECORD_BYTES.to_be_bytes(), &length, sender.as_ref(), &record].concat())
}

/// Encrypts a record, and appends its tag.
fn seal(key: &Prk, record: &mut Vec<u8>) {
    let content: [u8; 16] = expand(key, &[b"Content-Encoding: aes128gcm\0"]);
    let nonce = expand(key, &[b"Content-Encoding: nonce\0"]);
    let content = UnboundKey::new(&AES_128_GCM, &content).map(LessSafeKey::new);
    let sealed = content.and_then(|content| {
        content.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), record)
    });
    assert!(sealed.is_ok(), "the key has the cipher's length, and a message is far shorter than its limit");
}

/// Returns derived bytes.
fn expand<const N: usize>(key: &Prk, info: &[&[u8]]) -> [u8; N] {
    let mut bytes = [0; N];
    let filled = key.expand(info, Length(N)).and_then(|derived| derived.fill(&mut bytes));
    assert!(filled.is_ok(), "the length is far below the limit of HKDF");
    bytes
}

/// A number of derived bytes.
#[derive(Clone, Copy, Debug)]
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::*;
    use chat_test_servers::push::{PushBrowser, fixed_private_key};

    fn keys(browser: &PushBrowser) -> RecipientKeys {
        RecipientKeys { public: browser.public(), auth: browser.auth }
    }

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64").try_into().expect("the length")
    }

    /// The example of RFC 8291, section 5 and appendix A.
    #[test]
    fn encrypts_the_example_of_the_rfc_to_the_byte() {
        let recipient = RecipientKeys {
            public: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let private = fixed_private_key(&bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"));
        let message = b"When I grow up, I want to be a watermelon";
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw");
        let encrypted = encrypt_with(private, salt, &recipient, message, 0).expect("valid keys");
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
                        mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
                        pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(encrypted), expected);
    }

    #[test]
    fn the_browser_reads_what_was_encrypted_for_it() {
        let browser = PushBrowser::new(1, "");
        for length in [0, 1, 254, 255, 256, 3000] {
            let message = vec![b'x'; length];
            let encrypted = encrypt(&keys(&browser), &message).expect("valid keys");
            assert_eq!(browser.decrypt(&encrypted), message, "{length}");
            assert!(encrypted.len() <= 4096, "push services take 4 KiB");
        }
    }

    #[test]
    fn short_messages_have_one_length_and_never_repeat() {
        let browser = PushBrowser::new(2, "");
        let [one, other] = ["Hi", "My card number is 4000 1234"]
            .map(|text| encrypt(&keys(&browser), text.as_bytes()).expect("valid keys"));
        assert_eq!(one.len(), other.len());
        let again = encrypt(&keys(&browser), b"Hi").expect("valid keys");
        assert_ne!(one[..16], again[..16], "a new salt");
        assert_ne!(one[21..86], again[21..86], "a new key");
    }

    #[test]
    fn a_key_that_is_no_point_of_the_curve_is_refused() {
        for first in [0, 4] {
            let mut public = [7; PUBLIC_KEY_BYTES];
            public[0] = first;
            let recipient = RecipientKeys { public, auth: [1; AUTH_BYTES] };
            assert_eq!(encrypt(&recipient, b"Hi"), Err(InvalidKey));
        }
    }
}
