//! The proxy proves to the service who is signed in on the site.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_connector::proxy::{Identity, InvalidVisitorSecret, VisitorHook, VisitorSecret};
use ring::hmac;
use secrecy::SecretString;

use super::*;

const SECRET: &str = "svs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

/// Returns a hook that knows one session.
fn hook() -> VisitorHook {
    let secret = VisitorSecret::new(&SECRET.into()).expect("a secret");
    VisitorHook::new(secret, |request| {
        let session = request.headers.get("cookie").cloned();
        async move {
            (session? == "session=1").then(|| Identity {
                id: "crm-4711".to_owned(),
                email: Some("ada@shop.example".to_owned()),
                ..Identity::default()
            })
        }
    })
}

#[tokio::test]
async fn a_hook_proves_who_is_signed_in_and_drops_the_token_of_the_page() {
    let (address, seen) = service(|| "{}").await;
    for (path, cookie) in [("presence", "session=1"), ("presence", "session=2"), ("config", "session=1")] {
        let mut request = get(&format!("/connector/chat/{path}"));
        for (name, value) in [("cookie", cookie), ("visitor-token", "from.the.page")] {
            request.headers_mut().insert(name, value.parse().expect("a header"));
        }
        let options = ProxyOptions { visitor: Some(hook()), ..options(address) };
        assert_eq!(ask(options, request).await.status, 200);
    }
    let seen = seen.lock().expect("not poisoned");
    let token = seen[0].1["visitor-token"].to_str().expect("text");
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    let (header, claims) = signed.split_once('.').expect("claims");
    let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).expect("base64");
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    assert!(hmac::verify(&key, signed.as_bytes(), &decode(signature)).is_ok());
    assert_eq!(decode(header), br#"{"alg":"HS256","typ":"JWT"}"#);
    let mut claims: Value = serde_json::from_slice(&decode(claims)).expect("JSON");
    let exp = claims.as_object_mut().and_then(|claims| claims.remove("exp")).and_then(|exp| exp.as_u64());
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    assert!(exp.is_some_and(|exp| exp.abs_diff(now + 300) < 60), "{exp:?}");
    assert_eq!(claims, serde_json::json!({ "sub": "crm-4711", "email": "ada@shop.example" }));
    assert!(!seen[1].1.contains_key("visitor-token"), "nobody is signed in");
    assert!(!seen[2].1.contains_key("visitor-token"), "the config is the same for everybody");
}

#[test]
fn a_secret_is_checked_and_not_shown() {
    assert_eq!(VisitorSecret::new(&SecretString::from("short")).err(), Some(InvalidVisitorSecret));
    assert!(!format!("{:?}", hook()).contains("svs_"));
    let options =
        ProxyOptions { visitor: Some(hook()), ..ProxyOptions::new("https://service.example", TOKEN.into()) };
    assert!(!format!("{options:?}").contains("svs_"));
}
