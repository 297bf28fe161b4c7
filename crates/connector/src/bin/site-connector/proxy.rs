//! `site-connector proxy`

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chat_connector::proxy::{
    ClientRate, ConfigCache, IpNet, ProxyOptions, ProxyServer, ServerError, ServerOptions,
};
use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tracing::warn;

use crate::failure::Failure;
use crate::listen::ListenAddress;
use crate::service::secret;
use crate::shutdown::shutdown_signal;

/// Run the proxy: serve the five paths of the chat widget, and forward them with the site token
///
/// Every flag can also be set in a TOML file (--config), under the same name with _ instead of -. A flag
/// overrides its environment variable, which overrides the file. The token is read from the file named by
/// --token-file, or from the variable CONNECTOR_TOKEN. GET /healthz reports whether the server is up.
#[derive(Debug, Args)]
pub(crate) struct ProxyFlags {
    /// A configuration file in TOML
    #[arg(long, env = "CONNECTOR_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

/// The settings, by flag, variable or file.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The service's origin, such as https://service.example, without /api/connector/v1
    #[arg(long, env = "CONNECTOR_ORIGIN", value_name = "URL")]
    origin: Option<String>,
    /// The file that contains the site token
    #[arg(long, env = "CONNECTOR_TOKEN_FILE", value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// The address to serve on [default: 127.0.0.1:8081]
    #[arg(long, env = "CONNECTOR_LISTEN", value_name = "ADDRESS")]
    listen: Option<ListenAddress>,
    /// The prefix of the five paths [default: /connector]
    #[arg(long, env = "CONNECTOR_PREFIX", value_name = "PATH")]
    prefix: Option<String>,
    /// The address to serve GET /metrics on, for Prometheus; not served by default
    #[arg(long, env = "CONNECTOR_METRICS_LISTEN", value_name = "ADDRESS")]
    metrics_listen: Option<ListenAddress>,
    /// An origin of pages on another host that may use the proxy; can be repeated
    #[arg(
        long = "allowed-origin",
        env = "CONNECTOR_ALLOWED_ORIGINS",
        value_name = "URL",
        value_delimiter = ','
    )]
    allowed_origins: Option<Vec<String>>,
    /// A network or address whose X-Forwarded-For is trusted, such as 10.0.0.0/8; can be repeated
    #[arg(
        long = "trusted-hop",
        env = "CONNECTOR_TRUSTED_HOPS",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    trusted_hops: Option<Vec<String>>,
    /// Maximum requests of one client in a minute; 0 for no limit [default: 240]
    #[arg(long, env = "CONNECTOR_RATE_PER_MINUTE", value_name = "COUNT")]
    rate_per_minute: Option<u32>,
    /// Requests of one client in a burst [default: 60]
    #[arg(long, env = "CONNECTOR_RATE_BURST", value_name = "COUNT")]
    rate_burst: Option<NonZeroU32>,
    /// Maximum size of a message, in bytes [default: 65536]
    #[arg(long, env = "CONNECTOR_MESSAGE_LIMIT", value_name = "BYTES")]
    message_limit: Option<usize>,
    /// Maximum size of a batch of events, in bytes [default: 262144]
    #[arg(long, env = "CONNECTOR_EVENTS_LIMIT", value_name = "BYTES")]
    events_limit: Option<usize>,
    /// Seconds to wait for the browser's body, and then for the service's response [default: 35]
    #[arg(long, env = "CONNECTOR_TIMEOUT", value_name = "SECONDS")]
    timeout: Option<NonZeroU64>,
    /// Seconds that the chat's config is cached: the maximum delay until a chat that was switched off
    /// disappears [default: 60]
    #[arg(long, env = "CONNECTOR_CONFIG_FRESH", value_name = "SECONDS")]
    config_fresh: Option<u64>,
    /// Seconds that a stale config is used while the service is unavailable [default: 86400]
    #[arg(long, env = "CONNECTOR_CONFIG_STALE", value_name = "SECONDS")]
    config_stale: Option<u64>,
    /// Seconds to wait for the head of a request, and to keep an idle connection [default: 30]
    #[arg(long, env = "CONNECTOR_CONNECTION_TIMEOUT", value_name = "SECONDS")]
    connection_timeout: Option<NonZeroU64>,
    /// Maximum open connections of one address, unless it is a trusted hop [default: 256]
    #[arg(long, env = "CONNECTOR_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    connections_per_address: Option<NonZeroUsize>,
    /// Seconds that requests in progress have to finish after the server is told to stop [default: 20]
    #[arg(long, env = "CONNECTOR_GRACE", value_name = "SECONDS")]
    grace: Option<u64>,
}

pub(crate) async fn run(flags: ProxyFlags) -> Result<(), Failure> {
    let file = match &flags.config {
        Some(file) => read(file)?,
        None => Settings::default(),
    };
    let options = flags.settings.or(file).options()?;
    let server = ProxyServer::bind(options).await.map_err(|error| failed(&error))?;
    // Installed before the announcement, because its reader may send a signal at once.
    let stop = shutdown_signal().map_err(|error| Failure::new(error.to_string()))?;
    let mut addresses = match server.address() {
        Ok(address) => format!("Proxy    http://{address}\n"),
        Err(_) => String::new(),
    };
    if let Some(address) = server.metrics_address() {
        addresses.push_str("Metrics  http://");
        addresses.push_str(&address.to_string());
        addresses.push_str("/metrics\n");
    }
    let _ = io::stdout().write_all(addresses.as_bytes());
    tokio::spawn(server.check_token());
    server.serve(stop).await.map_err(|error| failed(&error))
}

/// Returns the number of connections that the limit on open files allows: each may need a second one, to the
/// service.
fn connections() -> usize {
    usize::try_from(open_files() / 2).unwrap_or(usize::MAX)
}

/// Raises the limit on open files to the system's maximum, as shells often set 1,024, and returns it.
pub(crate) fn open_files() -> u64 {
    rlimit::increase_nofile_limit(u64::MAX).unwrap_or_else(|error| {
        warn!("cannot raise the limit on open files: {error}");
        1024
    })
}

fn failed(error: &ServerError) -> Failure {
    match error {
        ServerError::Setup(_) | ServerError::Prefix => Failure::usage(error.to_string()),
        ServerError::Listen { .. } | ServerError::Server(_) => Failure::new(error.to_string()),
    }
}

/// Reads a configuration file.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> Result<T, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}: {}", file.display(), explained(&text, &error))))
}

/// Describes an error in the configuration by its line. The line and its value are not shown, as they may be
/// a token.
fn explained(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(String::new(), |before| format!("line {}: ", before.matches('\n').count() + 1));
    let message = error.message();
    if let Some(name) = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next())
        && name.to_ascii_lowercase().contains("token")
    {
        return format!(
            "{line}put the token in a separate file and set token_file, or set CONNECTOR_TOKEN: \
             a token in the configuration is ignored"
        );
    }
    match message.rsplit_once(", expected ") {
        Some((problem, expected)) if problem.starts_with("invalid") => {
            format!("{line}invalid {}: expected {expected}", setting(text, error).unwrap_or("value"))
        }
        _ => format!("{line}{message}"),
    }
}

/// Returns the name of the setting on the line of an error, if it looks like one.
fn setting<'text>(text: &'text str, error: &toml::de::Error) -> Option<&'text str> {
    let line = text.get(..error.span()?.start)?.lines().last()?;
    let name = line.split('=').next()?.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some(name)
}

impl Settings {
    /// Returns these settings, with missing ones taken from the others.
    fn or(self, other: Self) -> Self {
        Self {
            origin: self.origin.or(other.origin),
            token_file: self.token_file.or(other.token_file),
            listen: self.listen.or(other.listen),
            prefix: self.prefix.or(other.prefix),
            metrics_listen: self.metrics_listen.or(other.metrics_listen),
            allowed_origins: self.allowed_origins.or(other.allowed_origins),
            trusted_hops: self.trusted_hops.or(other.trusted_hops),
            rate_per_minute: self.rate_per_minute.or(other.rate_per_minute),
            rate_burst: self.rate_burst.or(other.rate_burst),
            message_limit: self.message_limit.or(other.message_limit),
            events_limit: self.events_limit.or(other.events_limit),
            timeout: self.timeout.or(other.timeout),
            config_fresh: self.config_fresh.or(other.config_fresh),
            config_stale: self.config_stale.or(other.config_stale),
            connection_timeout: self.connection_timeout.or(other.connection_timeout),
            connections_per_address: self.connections_per_address.or(other.connections_per_address),
            grace: self.grace.or(other.grace),
        }
    }

    fn options(self) -> Result<ServerOptions, Failure> {
        let origin = self.origin.ok_or_else(|| Failure::usage(
            "no service: set --origin https://service.example, CONNECTOR_ORIGIN, or origin in the --config file",
        ))?;
        let token = secret(self.token_file.as_deref(), "CONNECTOR_TOKEN")?
            .ok_or_else(|| Failure::usage("no site token: set --token-file or CONNECTOR_TOKEN"))?;
        let defaults = ProxyOptions::new(origin, token);
        let seconds = |value: Option<u64>, default| Duration::from_secs(value.unwrap_or(default));
        let burst = self.rate_burst.or(NonZeroU32::new(60));
        let rate = NonZeroU32::new(self.rate_per_minute.unwrap_or(240)).zip(burst);
        let proxy = ProxyOptions {
            message_body_limit: self.message_limit.unwrap_or(defaults.message_body_limit),
            events_body_limit: self.events_limit.unwrap_or(defaults.events_body_limit),
            timeout: self.timeout.map_or(defaults.timeout, |value| Duration::from_secs(value.get())),
            allowed_origins: self.allowed_origins.unwrap_or_default(),
            client_rate: rate.map(|(per_minute, burst)| ClientRate { per_minute, burst }),
            trusted_hops: self
                .trusted_hops
                .iter()
                .flatten()
                .map(|hop| network(hop))
                .collect::<Result<_, _>>()?,
            config_cache: Some(ConfigCache {
                fresh: seconds(self.config_fresh, 60),
                stale: seconds(self.config_stale, 24 * 60 * 60),
            }),
            ..defaults
        };
        Ok(ServerOptions {
            proxy,
            listen: self.listen.map_or(SocketAddr::from(([127, 0, 0, 1], 8081)), |address| address.0),
            prefix: self.prefix.unwrap_or_else(|| "/connector".to_owned()),
            metrics_listen: self.metrics_listen.map(|address| address.0),
            connection_timeout: seconds(self.connection_timeout.map(NonZeroU64::get), 30),
            connections: connections(),
            connections_per_address: self.connections_per_address.map_or(256, NonZeroUsize::get),
            grace: seconds(self.grace, 20),
        })
    }
}

/// Parses a network, or a single address.
pub(crate) fn network(text: &str) -> Result<IpNet, Failure> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse().or_else(|_| address()).map_err(|_| {
        Failure::usage(format!(
            "invalid trusted hop: expected a network such as 10.0.0.0/8, or an address, got {text}"
        ))
    })
}
