//! The client's settings.

use std::time::Duration;

use super::back_off::BackOff;

/// The client's settings.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The service's origin, such as `https://service.example`, without `/api/connector/v1`.
    pub origin: String,
    /// The site's id, part of the keys of a content sync (4.1). `None` reads it from the site's status.
    pub site_id: Option<String>,
    /// The time limit of one attempt.
    pub timeout: Duration,
    /// The number of attempts, and the delays between them.
    pub back_off: BackOff,
    /// Maximum size of a response, in bytes.
    pub answer_limit: usize,
}

impl ClientOptions {
    /// 35 s for an attempt, as an AI may take that long; 4 attempts; 8 MiB for a response.
    pub fn new(origin: impl Into<String>) -> Self {
        Self {
            origin: origin.into(),
            site_id: None,
            timeout: Duration::from_secs(35),
            back_off: BackOff::default(),
            answer_limit: 8 * 1024 * 1024,
        }
    }
}
