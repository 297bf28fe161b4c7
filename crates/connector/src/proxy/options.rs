//! The proxy's settings, and why they may not be usable.

use std::time::Duration;

use secrecy::SecretString;

use super::config_cache::ConfigCache;
use super::metrics::ProxyMetrics;
use super::rate::ClientRate;
use crate::origin::OriginError;

use ipnet::IpNet;

/// What a proxy needs to know, and the bounds that it keeps.
///
/// `Debug` shows the token as redacted.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The service's origin, such as `https://service.example`: without `/api/connector/v1`, which is added here.
    pub origin: String,
    /// The site token (5).
    pub token: SecretString,
    /// The largest body of `POST /chat/messages` that is passed on, in bytes.
    pub message_body_limit: usize,
    /// The largest body of `POST /events` that is passed on, in bytes.
    pub events_body_limit: usize,
    /// The largest answer that is passed back, in bytes.
    pub answer_limit: usize,
    /// How long the browser may take to send its body, and then the service to answer.
    pub timeout: Duration,
    /// Origins of pages on other hosts that may use this proxy, such as `https://www.shop.example`. Pages of the proxy's
    /// own host need no entry.
    pub allowed_origins: Vec<String>,
    /// How often one client may ask. Needs the client's address, which axum knows when the application is served with
    /// `into_make_service_with_connect_info::<SocketAddr>()`; without it nobody is counted.
    pub client_rate: Option<ClientRate>,
    /// The networks whose word in `X-Forwarded-For` is believed.
    pub trusted_hops: Vec<IpNet>,
    /// How long the chat's config is cached, if at all.
    pub config_cache: Option<ConfigCache>,
    /// Where figures go, if anywhere.
    pub metrics: Option<ProxyMetrics>,
}

impl ProxyOptions {
    /// 64 KiB for a message, 256 KiB for events, 1 MiB for an answer, and 35 s, as an AI may think for a while. No other
    /// origins, no rate, no trusted hops, nothing kept.
    pub fn new(origin: impl Into<String>, token: SecretString) -> Self {
        Self {
            origin: origin.into(),
            token,
            message_body_limit: 64 * 1024,
            events_body_limit: 256 * 1024,
            answer_limit: 1024 * 1024,
            timeout: Duration::from_secs(35),
            allowed_origins: Vec::new(),
            client_rate: None,
            trusted_hops: Vec::new(),
            config_cache: None,
            metrics: None,
        }
    }
}

/// Why a proxy cannot be set up. No message repeats the token.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The service's origin cannot be used.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The site token cannot be sent.
    #[error(
        "the site token must be visible ASCII characters, and not empty: copy it again from where it was issued"
    )]
    Token,
    /// An origin is no origin.
    #[error("{0} is no origin of a page: it must be one such as https://www.shop.example, without a path")]
    AllowedOrigin(String),
    /// The HTTP client cannot be made, as when the system has no root certificates.
    #[error("the HTTP client cannot be made: {0}")]
    Client(#[source] reqwest::Error),
}
