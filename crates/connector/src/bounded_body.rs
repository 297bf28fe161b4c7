//! Reads a response's body up to a maximum size.

use reqwest::Response;

/// A body could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// The body is larger than allowed.
    #[error("invalid response: expected at most {max_bytes} bytes")]
    TooLarge {
        /// The maximum size.
        max_bytes: usize,
    },
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// Reads the whole body. A body whose `Content-Length` exceeds the maximum is refused before it arrives.
pub(crate) async fn read_bounded(response: &mut Response, max_bytes: usize) -> Result<Vec<u8>, BodyError> {
    if response.content_length().is_some_and(|length| length > max_bytes as u64) {
        return Err(BodyError::TooLarge { max_bytes });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_bytes {
            return Err(BodyError::TooLarge { max_bytes });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
