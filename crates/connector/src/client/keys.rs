//! Idempotency keys in the formats that the contract suggests (4.1).

use chat_protocol::{ClaimToken, FieldError, IdempotencyKey, JobId, limits};
use uuid::Uuid;

use super::error::ConnectorError;

pub(super) fn content_sync(site: &str, snapshot: &str, page: i64) -> Result<IdempotencyKey, ConnectorError> {
    bounded_key(&format!("content-sync-{site}-{snapshot}-{page}"))
}

pub(super) fn chat(visitor: &str, message: &str) -> Result<IdempotencyKey, ConnectorError> {
    bounded_key(&format!("chat-{visitor}-{message}"))
}

pub(super) fn job_next(run: &str) -> Result<IdempotencyKey, ConnectorError> {
    bounded_key(&format!("job-next-{run}"))
}

pub(super) fn job_complete(job: &JobId, claim: &ClaimToken) -> Result<IdempotencyKey, ConnectorError> {
    bounded_key(&format!("job-complete-{job}-{claim}"))
}

/// Returns a random key, for requests that only the client itself repeats.
pub(super) fn random_key(what: &str) -> Result<IdempotencyKey, ConnectorError> {
    bounded_key(&format!("{what}-{}", Uuid::new_v4().simple()))
}

/// Returns the text as a key. A text that is too long, or has characters that a header cannot carry, is
/// shortened and extended by its digest: the same ids give the same key, different ids different keys.
fn bounded_key(text: &str) -> Result<IdempotencyKey, ConnectorError> {
    let max_length = *limits::KEY_LENGTH.end();
    if text.len() <= max_length && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return parsed(IdempotencyKey::new(text));
    }
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string();
    let prefix_length = max_length - digest.len() - 1;
    let mut key: String = text.chars().filter(char::is_ascii_graphic).take(prefix_length).collect();
    key.push('-');
    key.push_str(&digest);
    parsed(IdempotencyKey::new(key))
}

fn parsed(key: Result<IdempotencyKey, FieldError>) -> Result<IdempotencyKey, ConnectorError> {
    key.map_err(|error| ConnectorError::setup(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(key: Result<IdempotencyKey, ConnectorError>) -> String {
        key.expect("a key").as_str().to_owned()
    }

    #[test]
    fn keys_have_the_formats_of_the_contract() {
        assert_eq!(text(content_sync("s1", "2026-01", 7)), "content-sync-s1-2026-01-7");
        assert_eq!(text(chat("v1", "m1")), "chat-v1-m1");
        assert_eq!(text(job_next("run1")), "job-next-run1");
        assert_eq!(text(job_complete(&"j1".into(), &"c1".into())), "job-complete-j1-c1");
    }

    #[test]
    fn an_id_that_no_header_can_carry_gives_a_unique_key() {
        let long = |end: &str| text(chat(&"v".repeat(200), end));
        assert_eq!(long("1"), long("1"));
        assert_ne!(long("1"), long("2"));
        assert_eq!(long("1").len(), 160);
        assert_ne!(text(chat("müller", "1")), text(chat("mller", "1")));
    }
}
