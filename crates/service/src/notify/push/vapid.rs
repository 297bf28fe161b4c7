//! The key pair by which push services know the service (RFC 8292). It is created at the first start and
//! stored encrypted, so that all nodes and a restored backup have the same one.

use std::fmt;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chat_protocol::Value;
use reqwest::Url;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use secrecy::ExposeSecret;

use crate::ServiceKey;
use crate::db::{Db, DbError, args, transaction};
use crate::error::ApiError;

/// The name of the stored key pair, and the purpose that it is encrypted for.
const NAME: &str = "push-key";
/// The validity of a token from the beginning of its hour. Push services refuse more than a day.
const TOKEN_HOURS: i64 = 13;
const HOUR_S: i64 = 3600;

/// The key pair of the service.
pub(crate) struct PushKey {
    pair: EcdsaKeyPair,
    /// The public key, as browsers and push services take it.
    public: String,
}

impl fmt::Debug for PushKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PushKey({})", self.public)
    }
}

impl PushKey {
    /// Returns the stored pair; `None` unless it was encrypted with this key.
    fn unseal(key: &ServiceKey, stored: &str) -> Option<Self> {
        let sealed = BASE64_STANDARD.decode(stored).ok()?;
        let document = key.unseal(NAME, &sealed).ok()?;
        let document = BASE64_STANDARD.decode(document.expose_secret()).ok()?;
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &document, &random).ok()?;
        let public = BASE64_URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        Some(Self { pair, public })
    }

    /// Returns a new pair, as it is stored.
    fn generate(key: &ServiceKey) -> Result<String, ApiError> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| ApiError::Internal)?;
        Ok(BASE64_STANDARD.encode(key.seal(NAME, &BASE64_STANDARD.encode(document.as_ref()))))
    }

    /// Returns the stored pair, or creates one. Of nodes that do this at the same time, the first one's pair
    /// counts. A pair that was encrypted with another key, as in the database of a demo, is replaced.
    pub(super) async fn load(db: &Db, key: &ServiceKey) -> Result<Self, ApiError> {
        let stored = stored(db).await?;
        if let Some(pair) = stored.as_deref().and_then(|stored| Self::unseal(key, stored)) {
            return Ok(pair);
        }
        let (new, old) = (Self::generate(key)?, stored.unwrap_or_default());
        let written: Result<u64, DbError> = transaction!(db, |tx| {
            let sql = "INSERT INTO service_values (name, value) VALUES ($1, $2)
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value
                       WHERE service_values.value = $3";
            tx.execute(sql, args![NAME, new, old]).await
        })
        .await;
        written?;
        let stored = self::stored(db).await?.unwrap_or_default();
        Self::unseal(key, &stored).ok_or(ApiError::Internal)
    }

    /// Returns the public key, as browsers take it: an uncompressed point in base64url.
    pub(in crate::notify) fn public(&self) -> &str {
        &self.public
    }

    /// Returns the header `Authorization` of a push to an endpoint.
    pub(super) fn authorization(
        &self,
        endpoint: &Url,
        contact: Option<&str>,
        now_ms: i64,
    ) -> Result<String, ApiError> {
        // Tokens of the same hour expire together, so that they do not tell when which push was sent.
        let hour = now_ms.div_euclid(1000 * HOUR_S);
        let mut claims = vec![
            ("aud".to_owned(), Value::from(endpoint.origin().ascii_serialization())),
            ("exp".to_owned(), Value::from((hour + TOKEN_HOURS) * HOUR_S)),
        ];
        claims.extend(contact.map(|contact| ("sub".to_owned(), contact.into())));
        let encode = |json: &str| BASE64_URL_SAFE_NO_PAD.encode(json);
        let signed = format!(
            "{}.{}",
            encode(r#"{"typ":"JWT","alg":"ES256"}"#),
            encode(&Value::Object(claims).to_json())
        );
        let signature =
            self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| ApiError::Internal)?;
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signature.as_ref());
        Ok(format!("vapid t={signed}.{signature}, k={}", self.public))
    }
}

async fn stored(db: &Db) -> Result<Option<String>, DbError> {
    let sql = "SELECT value FROM service_values WHERE name = $1";
    db.optional(sql, args![NAME]).await?.map(|row| row.text(0)).transpose()
}

/// Returns the address at which a push service reaches who runs the service: its public origin, or the
/// sender of its e-mails. A service on this machine only has none.
pub(super) fn contact(public_origin: Option<&str>, mail_sender: Option<&str>) -> Option<String> {
    let origin = public_origin.filter(|origin| origin.starts_with("https://"));
    let sender = || {
        let from: lettre::message::Mailbox = mail_sender?.parse().ok()?;
        Some(format!("mailto:{}", from.email))
    };
    origin.map(str::to_owned).or_else(sender)
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    const NOW_MS: i64 = 1_795_000_000_123;

    fn decode(text: &str) -> Vec<u8> {
        BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64url")
    }

    #[test]
    fn a_token_names_the_push_service_and_is_signed_by_the_public_key() {
        let key = ServiceKey::random();
        let pair = PushKey::unseal(&key, &PushKey::generate(&key).expect("a pair")).expect("the same key");
        let endpoint = "https://push.example:8443/send/secret?x=1".parse().expect("a URL");
        let header = pair.authorization(&endpoint, Some("https://chat.example"), NOW_MS).expect("signed");
        let (token, public) =
            header.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k=")).expect("both");
        assert_eq!(public, pair.public());
        let (signed, signature) = token.rsplit_once('.').expect("a signature");
        let verifier = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public));
        verifier.verify(signed.as_bytes(), &decode(signature)).expect("signed by this key");
        let (head, claims) = signed.split_once('.').expect("claims");
        assert_eq!(decode(head), br#"{"typ":"JWT","alg":"ES256"}"#);
        let claims: serde_json::Value = serde_json::from_slice(&decode(claims)).expect("JSON");
        assert_eq!(claims["aud"], "https://push.example:8443");
        assert_eq!(claims["sub"], "https://chat.example");
        let seconds = claims["exp"].as_i64().expect("a time") - NOW_MS / 1000;
        assert!((12 * HOUR_S..=24 * HOUR_S).contains(&seconds), "{seconds}");
        assert_eq!(claims.as_object().expect("claims").len(), 3);
    }

    #[test]
    fn another_service_key_does_not_read_the_pair() {
        let stored = PushKey::generate(&ServiceKey::random()).expect("a pair");
        assert!(PushKey::unseal(&ServiceKey::random(), &stored).is_none());
        assert!(PushKey::unseal(&ServiceKey::random(), "").is_none());
    }

    #[test]
    fn the_contact_is_the_public_origin_or_the_sender_of_emails() {
        let local = Some("http://localhost:8090");
        assert_eq!((contact(None, None), contact(local, None)), (None, None));
        let sender = Some("Chat <chat@shop.example>");
        assert_eq!(contact(local, sender).as_deref(), Some("mailto:chat@shop.example"));
        let public = Some("https://chat.example");
        assert_eq!(contact(public, sender).as_deref(), public);
    }
}
