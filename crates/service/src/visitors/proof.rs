//! Checks the token by which a site proves who a visitor is: a JWT, HS256, in the header `Visitor-Token`.

use axum::http::{HeaderMap, HeaderName};
use chat_protocol::VisitorProfile;
use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtSigner, JwtVerifier};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Validation, decode};
use ring::hmac;
use secrecy::ExposeSecret;
use serde::Deserialize;
use tracing::warn;

use super::bounded;
use super::identity::Identity;
use crate::ServiceKey;
use crate::error::ApiError;
use crate::sites::Site;

pub(crate) const HEADER: HeaderName = HeaderName::from_static(chat_protocol::VISITOR_TOKEN);
/// The beginning of the proof that the link of an e-mail has in place of a token. It opens a conversation,
/// and says nothing of who the visitor is.
pub(crate) const MAIL_PREFIX: &str = "mail.";
/// Maximum bytes of a token.
const MAX_TOKEN_BYTES: usize = 4096;
/// Maximum bytes of the site's id of a visitor. It is never cut off, as two visitors could then be one.
const MAX_SUBJECT_BYTES: usize = 256;
/// Maximum time for which a token is valid, in seconds: whoever finds one later is not the visitor.
const MAX_LIFETIME_S: i64 = 60 * 60;
/// The tolerated difference between the clocks of the site and of the service, in seconds.
const LEEWAY_S: i64 = 60;

/// The members of a token.
#[derive(Debug, Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    nbf: Option<i64>,
    name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    company: Option<String>,
    wechat: Option<String>,
    whatsapp: Option<String>,
    country: Option<String>,
}

/// Returns the visitor that the token of a request proves; `None` without a token.
pub(crate) fn of_request(
    key: &ServiceKey,
    site: &Site,
    headers: &HeaderMap,
    now_ms: i64,
) -> Result<Option<Identity>, ApiError> {
    let mut tokens = headers.get_all(HEADER).iter();
    let Some(token) = tokens.next() else { return Ok(None) };
    let (Ok(token), None) = (token.to_str(), tokens.next()) else {
        return Err(refused("The visitor token must be one header of visible ASCII characters."));
    };
    // As proxies send it that set a header which the page did not.
    if token.is_empty() || token.starts_with(MAIL_PREFIX) {
        return Ok(None);
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(refused("The visitor token may have at most 4096 bytes."));
    }
    let secrets = site.visitor_secrets(key, now_ms).map_err(|error| {
        warn!(site = site.id, "cannot check visitor tokens: {error}");
        ApiError::Internal
    })?;
    if secrets.is_empty() {
        return Err(refused("The site has no secret for visitor tokens: create one in its settings."));
    }
    let claims = secrets.iter().find_map(|secret| verified(token, secret.expose_secret(), &site.id));
    let claims =
        claims.ok_or(refused("The visitor token is invalid: sign it with HS256 and the site's secret."))?;
    check_times(&claims, now_ms / 1000)?;
    if !(1..=MAX_SUBJECT_BYTES).contains(&claims.sub.len()) {
        return Err(refused("The visitor token's sub must have 1 to 256 bytes."));
    }
    let Claims { sub, name, email, phone, company, wechat, whatsapp, country, .. } = claims;
    let profile = VisitorProfile { visitor_id: None, name, email, phone, company, wechat, whatsapp, country };
    Ok(Some(Identity::new(&sub, bounded(&profile))))
}

fn refused(message: &'static str) -> ApiError {
    ApiError::Unauthorized { code: "INVALID_VISITOR_TOKEN", message }
}

/// Returns the members of a token that is signed with a secret, and meant for the site. Their times are not
/// checked yet.
fn verified(token: &str, secret: &str, site_id: &str) -> Option<Claims> {
    // Fails when it is installed already.
    let _ = PROVIDER.install_default();
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_required_spec_claims(&["exp", "sub"]);
    validation.set_audience(&[site_id]);
    // By the service's clock, in `check_times`.
    validation.validate_exp = false;
    let key = DecodingKey::from_secret(secret.as_bytes());
    decode(token, &key, &validation).ok().map(|token| token.claims)
}

fn check_times(claims: &Claims, now_s: i64) -> Result<(), ApiError> {
    if claims.exp <= now_s.saturating_sub(LEEWAY_S) {
        return Err(refused("The visitor token has expired."));
    }
    if claims.exp > now_s.saturating_add(MAX_LIFETIME_S + LEEWAY_S) {
        return Err(refused("The visitor token's exp must be at most one hour ahead."));
    }
    if claims.nbf.is_some_and(|nbf| nbf > now_s.saturating_add(LEEWAY_S)) {
        return Err(refused("The visitor token is not valid yet."));
    }
    Ok(())
}

/// HS256 by ring, which the service has anyway.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    jwk_utils: JwkUtils::new_unimplemented(),
};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the type of the crate's field")]
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::InvalidAlgorithm.into())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the type of the crate's field")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match algorithm {
        Algorithm::HS256 => {
            Ok(Box::new(Hs256(hmac::Key::new(hmac::HMAC_SHA256, key.try_get_hmac_secret()?))))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Hs256(hmac::Key);

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        hmac::verify(&self.0, message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::transaction;
    use crate::sites::{find, rotate_visitor_secret};
    use crate::visitors::fixture::{NOW, open, signed_token};

    const NOW_S: i64 = NOW / 1000;

    #[test]
    fn accepts_a_token_of_another_library_only_with_its_key() {
        // A token of another library: jwt.io's default, with the secret "your-256-bit-secret".
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
                     eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.\
                     SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"your-256-bit-secret");
        let (message, signature) = token.rsplit_once('.').expect("a signature");
        let signature = base64::Engine::decode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, signature);
        let signature = signature.expect("base64");
        assert!(Hs256(key).verify(message.as_bytes(), &signature).is_ok());
        let other = hmac::Key::new(hmac::HMAC_SHA256, b"another secret");
        assert!(Hs256(other).verify(message.as_bytes(), &signature).is_err());
        assert!(verified(token, "your-256-bit-secret", "shop").is_none(), "it never expires");
    }

    on_both_databases! {
        async fn proves_only_what_the_sites_secret_signed_for_a_short_time(database: &TestDatabase) {
            let (db, key) = (open(database).await, ServiceKey::random());
            let shop = find(&db, "shop").await.expect("read").expect("a site");
            let headers = |token: &str| {
                let value = HeaderValue::from_str(token).expect("a header value");
                HeaderMap::from_iter([(HEADER, value)])
            };
            let message = |site: &Site, token: &str| match of_request(&key, site, &headers(token), NOW) {
                Ok(identity) => format!("{:?}", identity.map(|identity| identity.id)),
                Err(error) => error.to_string(),
            };
            assert_eq!(of_request(&key, &shop, &HeaderMap::new(), NOW), Ok(None));
            assert!(message(&shop, "a.b.c").contains("has no secret"));
            let (site, sealing) = (shop.clone(), key.clone());
            let new = transaction!(&db, |tx| rotate_visitor_secret(tx, &sealing, NOW, &site, 0).await).await;
            let secret = new.expect("a secret").secret;
            let shop = find(&db, "shop").await.expect("read").expect("a site");
            let sign = |claims: Value| signed_token(&secret, &claims);
            let good = json!({ "sub": "crm-4711", "exp": NOW_S + 600, "email": "ada@shop.example" });
            let proved = of_request(&key, &shop, &headers(&sign(good.clone())), NOW).expect("valid").expect("a visitor");
            assert_eq!(proved.id.as_str(), "verified:crm-4711");
            assert_eq!(proved.profile.email.as_deref(), Some("ada@shop.example"));

            let with = |name: &str, value: Value| {
                let mut claims = good.clone();
                claims[name] = value;
                message(&shop, &sign(claims))
            };
            assert!(with("aud", json!("shop")).contains("crm-4711"));
            assert!(with("exp", json!(NOW_S - 59)).contains("crm-4711"), "the clocks may differ");
            for (name, value, refusal) in [
                ("exp", json!(NOW_S - 60), "expired"),
                ("exp", json!(NOW_S + 3661), "one hour"),
                ("exp", json!("soon"), "invalid"),
                ("exp", Value::Null, "invalid"),
                ("nbf", json!(NOW_S + 61), "not valid yet"),
                ("aud", json!("blog"), "invalid"),
                ("sub", json!(""), "1 to 256"),
                ("sub", json!("x".repeat(257)), "1 to 256"),
                ("sub", json!(4711), "invalid"),
            ] {
                let answer = with(name, value.clone());
                assert!(answer.contains(refusal), "{name} {value}: {answer}");
            }
            let token = sign(good.clone());
            let mut parts: Vec<&str> = token.split('.').collect();
            // {"alg":"none"}, and {"alg":"HS512"} with the signature of HS256.
            for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzUxMiJ9"] {
                parts[0] = header;
                assert!(message(&shop, &parts.join(".")).contains("invalid"));
            }
            assert_eq!(of_request(&key, &shop, &headers(""), NOW), Ok(None));
            assert_eq!(of_request(&key, &shop, &headers("mail.x.y"), NOW), Ok(None), "the link of an e-mail");
            for token in [signed_token("another", &good), "x".repeat(5000), "a.b".to_owned()] {
                assert!(message(&shop, &token).starts_with("The visitor token"), "{token}");
            }
            let mut twice = headers(&token);
            twice.append(HEADER, HeaderValue::from_static("x"));
            assert!(of_request(&key, &shop, &twice, NOW).is_err());
        }
    }
}
