use base64::{Engine, prelude::BASE64_STANDARD};
use ring::hmac;

pub fn verify_webhook(secret: &str, id: &str, time: &str, signatures: &str, body: &str, now_s: i64) -> bool {
    let is_recent = time.parse::<i64>().is_ok_and(|time| now_s.abs_diff(time) < 300);
    let key = secret.strip_prefix("whsec_").and_then(|key| BASE64_STANDARD.decode(key).ok());
    let Some(key) = key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, &key)) else { return false };
    let signed = format!("{id}.{time}.{body}");
    let given = signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,"));
    let mut given = given.filter_map(|signature| BASE64_STANDARD.decode(signature).ok());
    is_recent && given.any(|signature| hmac::verify(&key, signed.as_bytes(), &signature).is_ok())
}
