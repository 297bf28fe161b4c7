//! The proxy's settings, and the errors in them.

use std::time::Duration;

use secrecy::SecretString;

use super::config_cache::ConfigCache;
use super::metrics::ProxyMetrics;
use super::rate::ClientRate;
use super::visitor::{InvalidVisitorSecret, VisitorHook};
use crate::connection::client_error;
use crate::origin::OriginError;

use ipnet::IpNet;

/// The settings of a proxy. `Debug` redacts the token.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The service's origin, such as `https://service.example`, without `/api/connector/v1`.
    pub origin: String,
    /// The site token (5).
    pub token: SecretString,
    /// Maximum size of the body of `POST /chat/messages`, in bytes.
    pub message_body_limit: usize,
    /// Maximum size of the body of `POST /events`, in bytes.
    pub events_body_limit: usize,
    /// Maximum size of a response of the service, in bytes.
    pub answer_limit: usize,
    /// The time limit of the browser's body, and then of the service's response.
    pub timeout: Duration,
    /// Origins of pages on other hosts that may use this proxy (CORS), such as `https://www.shop.example`.
    /// The proxy's own origin needs no entry.
    pub allowed_origins: Vec<String>,
    /// The rate limit of each client. It needs the client's address: serve the application with
    /// `into_make_service_with_connect_info::<SocketAddr>()`, or no client is limited.
    pub client_rate: Option<ClientRate>,
    /// Networks of reverse proxies whose `X-Forwarded-For` is trusted.
    pub trusted_hops: Vec<IpNet>,
    /// The cache of the chat's config; `None` disables it.
    pub config_cache: Option<ConfigCache>,
    /// The metrics to record into; `None` records none.
    pub metrics: Option<ProxyMetrics>,
    /// Tells who is signed in; `None` forwards the token that the page has.
    pub visitor: Option<VisitorHook>,
}

impl ProxyOptions {
    /// Returns the defaults: 64 KiB for a message, 256 KiB for events, 1 MiB for a response, and 35 s, as an
    /// AI may take that long. No allowed origins, no rate limit, no trusted hops, no cache, no hook.
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
            visitor: None,
        }
    }
}

/// A proxy cannot be set up. No message contains the token.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The service's origin is invalid.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The site token is invalid.
    #[error(
        "invalid site token: expected one line of visible ASCII characters; copy it again from where it was issued"
    )]
    Token,
    /// The secret for visitor tokens is invalid.
    #[error(transparent)]
    VisitorSecret(#[from] InvalidVisitorSecret),
    /// An allowed origin is invalid.
    #[error("invalid allowed origin: expected one such as https://www.shop.example without a path, got {0}")]
    AllowedOrigin(String),
    /// An allowed origin is `null`, which every sandboxed frame of any site sends.
    #[error(
        "invalid allowed origin: expected one such as https://www.shop.example, got null. Every site can send it from a \
         sandboxed frame: add allow-same-origin to the frame's sandbox attribute, and allow the frame's own origin"
    )]
    NullOrigin,
    /// The HTTP client cannot be created, for example because the system has no root certificates.
    #[error("{}", client_error(.0))]
    Client(#[source] reqwest::Error),
}
