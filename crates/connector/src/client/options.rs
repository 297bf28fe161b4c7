//! The client's settings.

use std::time::Duration;

use super::back_off::BackOff;

/// Where the service is, and how patient to be with it.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The service's origin, such as `https://service.example`: without `/api/connector/v1`, which is added here.
    pub origin: String,
    /// The site's id, part of the keys of a content sync (4.1). Where it is not given, the site's status is asked for it.
    pub site_id: Option<String>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often a call is tried, at least once, and how long to wait in between.
    pub back_off: BackOff,
    /// The largest answer that is read, in bytes.
    pub answer_limit: usize,
}

impl ClientOptions {
    /// 35 s an attempt, as an AI may think for a while; 4 attempts; answers of up to 8 MiB.
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
