//! The secrets of webhooks, and the signatures of Standard Webhooks.

use std::fmt;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};

use crate::ServiceKey;
use crate::secrets::{WrongKey, random_secret};

/// The beginning of a secret, by which libraries and secret scanners recognise it.
const PREFIX: &str = "whsec_";

/// The secret that a webhook's requests are signed with: `whsec_` and 32 bytes in base64.
#[derive(Clone)]
pub(in crate::notify) struct WebhookSecret(SecretString);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    pub(super) fn random() -> Self {
        // The specification wants the alphabet with + and /.
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(random_secret()).unwrap_or_default();
        Self(format!("{PREFIX}{}", BASE64_STANDARD.encode(bytes)).into())
    }

    /// Encrypts the secret for the row of its webhook.
    pub(super) fn seal(&self, key: &ServiceKey, webhook_id: &str) -> Vec<u8> {
        key.seal(&purpose(webhook_id), self.0.expose_secret())
    }

    pub(super) fn unseal(key: &ServiceKey, webhook_id: &str, sealed: &[u8]) -> Result<Self, WrongKey> {
        Ok(Self(key.unseal(&purpose(webhook_id), sealed)?))
    }

    /// Returns the text that the receiver is configured with.
    pub(in crate::notify) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the signature `v1,…` of a request.
    pub(super) fn sign(&self, event_id: &str, timestamp_s: i64, body: &str) -> String {
        let encoded = self.expose().strip_prefix(PREFIX).unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(encoded).unwrap_or_default();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let signature = hmac::sign(&key, format!("{event_id}.{timestamp_s}.{body}").as_bytes());
        format!("v1,{}", BASE64_STANDARD.encode(signature))
    }
}

/// Names the place of a secret, so that one that is moved to another webhook's row is refused.
fn purpose(webhook_id: &str) -> String {
    format!("webhook {webhook_id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_like_the_example_of_the_specification() {
        let secret = WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned().into());
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_have_256_bits_in_the_alphabet_of_the_specification() {
        let secret = WebhookSecret::random();
        let bytes = BASE64_STANDARD.decode(&secret.expose()[PREFIX.len()..]).expect("base64");
        assert_eq!(bytes.len(), 32);
        assert_ne!(secret.expose(), WebhookSecret::random().expose());
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
    }

    #[test]
    fn a_secret_is_bound_to_its_webhook() {
        let key = ServiceKey::random();
        let secret = WebhookSecret::random();
        let sealed = secret.seal(&key, "wh_1");
        let opened = WebhookSecret::unseal(&key, "wh_1", &sealed).expect("the same place");
        assert_eq!(opened.expose(), secret.expose());
        assert!(WebhookSecret::unseal(&key, "wh_2", &sealed).is_err());
    }
}
