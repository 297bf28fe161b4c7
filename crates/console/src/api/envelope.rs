//! The envelope of all responses: `{"data": …}` or `{"error": {"code", "message"}}`.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::{ApiError, ErrorCode};
use crate::text::shell;

#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

#[derive(Deserialize)]
struct Failure {
    error: Details,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    code: String,
    message: String,
}

/// Reads a response.
pub(super) fn read<T: DeserializeOwned>(
    status: u16,
    retry_after_s: Option<u32>,
    body: &str,
) -> Result<T, ApiError> {
    if (200..300).contains(&status) {
        return serde_json::from_str(body).map(|Success { data }| data).map_err(|error| ApiError {
            status,
            code: ErrorCode::Other("INVALID_RESPONSE".to_owned()),
            message: format!("{} ({error})", shell::INVALID_RESPONSE.get()),
            retry_after_s: None,
        });
    }
    let details = serde_json::from_str(body).map(|Failure { error }| error).unwrap_or_default();
    let message = match details.message {
        message if message.is_empty() => shell::SERVICE_FAILED.with(&[("status", &status.to_string())]),
        message => message,
    };
    Err(ApiError { status, code: ErrorCode::parse(&details.code), message, retry_after_s })
}

#[cfg(test)]
mod tests {
    use chat_protocol::admin::Label;

    use super::*;

    #[test]
    fn reads_the_data_of_a_success_and_ignores_unknown_members() {
        let body =
            r#"{"success":true,"data":{"id":"l1","name":"Order","color":"red","new":1},"requestId":"r"}"#;
        assert_eq!(read::<Label>(200, None, body).unwrap().name, "Order");
    }

    #[test]
    fn reads_the_code_the_message_and_when_to_repeat() {
        let body = r#"{"success":false,"error":{"code":"RATE_LIMITED","message":"Too many requests."}}"#;
        let error = read::<Label>(429, Some(3), body).unwrap_err();
        assert_eq!(error.code, ErrorCode::Other("RATE_LIMITED".to_owned()));
        assert_eq!((error.message.as_str(), error.retry_after_s), ("Too many requests.", Some(3)));
        assert!(error.is_transient());
    }

    #[test]
    fn a_page_of_a_proxy_is_an_error_with_its_status() {
        let error = read::<Label>(502, None, "<html>Bad gateway</html>").unwrap_err();
        assert_eq!(error.status, 502);
        assert!(error.is_transient());
        let error = read::<Label>(200, None, "<html>Sign in to the network</html>").unwrap_err();
        assert!(!error.is_transient());
    }
}
