//! The subscription of a browser: where its pushes go, and for whom they are encrypted.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::admin::PushSubscription;
use secrecy::ExposeSecret;

use super::encryption::{AUTH_BYTES, PUBLIC_KEY_BYTES, RecipientKeys, encrypt};
use crate::ServiceKey;
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::notify::target::TargetUrl;

/// A checked subscription.
#[derive(Clone)]
pub(in crate::notify) struct Subscription {
    pub(super) endpoint: TargetUrl,
    pub(super) keys: RecipientKeys,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Subscription(…)")
    }
}

impl Subscription {
    /// Checks what a browser sent. `private` allows private addresses.
    pub(in crate::notify) fn parse(sent: &PushSubscription, private: bool) -> Result<Self, ApiError> {
        let invalid = |problem: &str| ApiError::InvalidRequest(problem.to_owned());
        let endpoint = TargetUrl::parse(&sent.endpoint, private).map_err(|_| {
            invalid("invalid endpoint: expected the https:// URL of a push service, at a public address.")
        })?;
        let public = decode::<PUBLIC_KEY_BYTES>(&sent.p256dh)
            .ok_or_else(|| invalid("invalid p256dh: expected 65 bytes in base64url."))?;
        let auth = decode::<AUTH_BYTES>(&sent.auth)
            .ok_or_else(|| invalid("invalid auth: expected 16 bytes in base64url."))?;
        let keys = RecipientKeys { public, auth };
        encrypt(&keys, b"").map_err(|error| invalid(&format!("{error}.")))?;
        Ok(Self { endpoint, keys })
    }

    /// Returns the hash of the endpoint.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        fingerprint(&[self.endpoint.to_string().as_bytes()])
    }

    /// Encrypts the subscription of a device, to be stored.
    pub(super) fn seal(&self, key: &ServiceKey, device_id: &str) -> Vec<u8> {
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let stored = PushSubscription {
            endpoint: self.endpoint.to_string(),
            p256dh: encode(&self.keys.public),
            auth: encode(&self.keys.auth),
            locale: None,
        };
        key.seal(&purpose(device_id), &serde_json::to_string(&stored).unwrap_or_default())
    }

    /// Decrypts the stored subscription of a device; `None` if it cannot be used any more.
    pub(super) fn unseal(key: &ServiceKey, device_id: &str, sealed: &[u8], private: bool) -> Option<Self> {
        let members = key.unseal(&purpose(device_id), sealed).ok()?;
        let stored: PushSubscription = serde_json::from_str(members.expose_secret()).ok()?;
        Self::parse(&stored, private).ok()
    }
}

/// Names the place of a sealed subscription.
fn purpose(device_id: &str) -> String {
    format!("push device {device_id}")
}

/// Decodes base64url with or without padding, which browsers disagree about.
fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    // Refused before it is decoded: a request may be long.
    let text = text.trim_end_matches('=');
    let bytes = (text.len() <= N * 2).then(|| BASE64_URL_SAFE_NO_PAD.decode(text))?.ok()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_test_servers::push::PushBrowser;

    const ENDPOINT: &str = "https://push.example/send/abc";

    fn sent(change: impl FnOnce(&mut PushSubscription)) -> PushSubscription {
        let json = PushBrowser::new(1, ENDPOINT).subscription();
        let mut sent = serde_json::from_value(json).expect("a subscription");
        change(&mut sent);
        sent
    }

    #[test]
    fn only_public_push_services_with_tls_are_accepted() {
        for endpoint in [
            "http://push.example/send",
            "https://localhost/send",
            "https://127.0.0.1/send",
            "https://[::1]/send",
            "https://192.168.1.1/send",
            "https://169.254.169.254/latest",
            "https://user:secret@push.example/send",
            "ftp://push.example/send",
            "/send",
            "",
        ] {
            let sent = sent(|sent| endpoint.clone_into(&mut sent.endpoint));
            assert!(Subscription::parse(&sent, false).is_err(), "{endpoint}");
        }
        let long = format!("https://push.example/{}", "x".repeat(2000));
        assert!(Subscription::parse(&sent(|sent| sent.endpoint = long), false).is_err());
        assert!(Subscription::parse(&sent(|_| ()), false).is_ok());
    }

    #[test]
    fn keys_have_their_length_and_lie_on_the_curve() {
        let off_the_curve = BASE64_URL_SAFE_NO_PAD.encode([4; PUBLIC_KEY_BYTES]);
        for p256dh in ["", "BCVx", "no base64!", &off_the_curve, &"A".repeat(100_000)] {
            let sent = sent(|sent| p256dh.clone_into(&mut sent.p256dh));
            assert!(Subscription::parse(&sent, false).is_err(), "{p256dh:.20}");
        }
        for auth in ["", "AAAA", &"A".repeat(24)] {
            let sent = sent(|sent| auth.clone_into(&mut sent.auth));
            assert!(Subscription::parse(&sent, false).is_err(), "{auth}");
        }
        let padded = sent(|sent| sent.auth.push_str("=="));
        assert!(Subscription::parse(&padded, false).is_ok());
    }

    #[test]
    fn a_stored_subscription_is_read_in_its_place_only() {
        let (key, subscription) = (ServiceKey::random(), Subscription::parse(&sent(|_| ()), false));
        let subscription = subscription.expect("valid");
        let sealed = subscription.seal(&key, "push_1");
        assert!(!sealed.windows(4).any(|window| window == b"push"));
        let read = Subscription::unseal(&key, "push_1", &sealed, false).expect("the same place");
        assert_eq!(read.endpoint, subscription.endpoint);
        assert!(read.keys == subscription.keys);
        assert!(Subscription::unseal(&key, "push_2", &sealed, false).is_none());
        assert!(Subscription::unseal(&ServiceKey::random(), "push_1", &sealed, false).is_none());
    }
}
