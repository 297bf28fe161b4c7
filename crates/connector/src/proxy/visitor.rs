//! Proves to the service who a visitor is: a short-lived JWT in the header `Visitor-Token`, signed with HS256
//! and the site's secret.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderValue;
use axum::http::request::Parts;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

/// The time for which a token is valid, in seconds.
const LIFETIME_S: u64 = 300;
/// Minimum bytes of a secret. The service's have 47.
const MIN_SECRET_BYTES: usize = 32;
const HEADER: &[u8] = br#"{"alg":"HS256","typ":"JWT"}"#;

/// A visitor who is signed in on the site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The site's own id of the visitor, 1 to 256 bytes. It never changes, and never belongs to somebody
    /// else.
    pub id: String,
    /// The name.
    pub name: Option<String>,
    /// The e-mail address.
    pub email: Option<String>,
    /// The phone number.
    pub phone: Option<String>,
    /// The company.
    pub company: Option<String>,
    /// The `WeChat` id.
    pub wechat: Option<String>,
    /// The `WhatsApp` number.
    pub whatsapp: Option<String>,
    /// The country or region.
    pub country: Option<String>,
}

/// The text is no secret for visitor tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid secret for visitor tokens: expected the one that the service's console shows once")]
pub struct InvalidVisitorSecret;

/// The site's secret for visitor tokens, which the service's console shows once. `Debug` redacts it.
#[derive(Clone)]
pub struct VisitorSecret(hmac::Key);

impl VisitorSecret {
    /// Takes the secret, without white space around it.
    ///
    /// # Errors
    ///
    /// Fails if the text is too short to be one.
    pub fn new(secret: &SecretString) -> Result<Self, InvalidVisitorSecret> {
        let secret = secret.expose_secret().trim();
        if secret.len() < MIN_SECRET_BYTES {
            return Err(InvalidVisitorSecret);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())))
    }

    /// Returns a token that proves a visitor for five minutes, for pages whose proxy knows no session. A
    /// proxy with a [`VisitorHook`] signs its own.
    #[must_use]
    pub fn sign(&self, visitor: &Identity) -> String {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let Identity { id, name, email, phone, company, wechat, whatsapp, country } = visitor;
        let mut claims = Map::new();
        claims.insert("sub".to_owned(), id.as_str().into());
        claims.insert("exp".to_owned(), (now_s + LIFETIME_S).into());
        for (member, text) in [
            ("name", name),
            ("email", email),
            ("phone", phone),
            ("company", company),
            ("wechat", wechat),
            ("whatsapp", whatsapp),
            ("country", country),
        ] {
            if let Some(text) = text {
                claims.insert(member.to_owned(), text.as_str().into());
            }
        }
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let signed = format!("{}.{}", encode(HEADER), encode(Value::Object(claims).to_string().as_bytes()));
        let signature = hmac::sign(&self.0, signed.as_bytes());
        format!("{signed}.{}", encode(signature.as_ref()))
    }
}

impl fmt::Debug for VisitorSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("VisitorSecret")
    }
}

type Find = dyn Fn(&Parts) -> BoxFuture<'static, Option<Identity>> + Send + Sync;

/// Tells who is signed in. With it, a proxy signs a token for each of that visitor's messages, events and
/// presence requests, and drops the token that a page sent.
#[derive(Clone)]
pub struct VisitorHook {
    secret: VisitorSecret,
    find: Arc<Find>,
}

impl VisitorHook {
    /// Takes a function that returns the visitor of a request, by its session: by the headers, or by the
    /// extensions that a layer in front of the proxy has added. `None` proves nobody.
    pub fn new<F>(secret: VisitorSecret, find: impl Fn(&Parts) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Identity>> + Send + 'static,
    {
        Self { secret, find: Arc::new(move |parts| find(parts).boxed()) }
    }

    pub(super) async fn token(&self, parts: &Parts) -> Option<HeaderValue> {
        let visitor = (self.find)(parts).await?;
        HeaderValue::try_from(self.secret.sign(&visitor)).ok()
    }
}

impl fmt::Debug for VisitorHook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("VisitorHook")
    }
}
