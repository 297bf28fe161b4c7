//! The settings of the service: by flag, by variable, or in a file.

pub(crate) mod key;
pub(crate) mod origin;
mod smtp;

use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chat_connector::proxy::IpNet;
use chat_connector::serve::ServeOptions;
use chat_connector::tls::TlsFiles;
use chat_service::{RateLimit, ServiceKey, ServiceOptions, StorageBudgets};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use tracing::Level;

use self::key::is_postgres;
use self::origin::public_origin;
use crate::failure::Failure;
use crate::listen::ListenAddress;
use crate::log::LogFormat;
use crate::proxy::{network, open_files, read};

/// The default database.
const DATABASE: &str = "data/service.db";
/// The default key file of a service on PostgreSQL. On SQLite, it is beside the database.
const KEY_FILE: &str = "data/service.key";
/// Open files that are not visitors' connections: of the database, of AI endpoints, of webhooks.
const OTHER_FILES: u64 = 256;

/// The settings of the service.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The address to serve on [default: 127.0.0.1:8090]
    #[arg(long, env = "SERVICE_LISTEN", value_name = "ADDRESS")]
    pub(crate) listen: Option<ListenAddress>,
    /// The origin under which browsers reach the service, such as https://chat.example
    #[arg(long, env = "SERVICE_PUBLIC_ORIGIN", value_name = "URL")]
    pub(crate) public_origin: Option<String>,
    /// The database: an SQLite file, or postgres://user@host/name [default: data/service.db]
    #[arg(long, env = "SERVICE_DATABASE", value_name = "ADDRESS", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// The file of the key that encrypts secrets in the database; created at the first start [default:
    /// service.key beside the database]
    #[arg(long, env = "SERVICE_KEY_FILE", value_name = "PATH")]
    pub(crate) key_file: Option<PathBuf>,
    /// The folder of the built widget, served at /chat-widget/ [default: the folder widget beside the
    /// program]
    #[arg(long, env = "SERVICE_WIDGET_DIR", value_name = "PATH")]
    pub(crate) widget_dir: Option<PathBuf>,
    /// The TLS certificate and those of its issuers, in PEM; read again when it changes
    #[arg(long, env = "SERVICE_TLS_CERTIFICATE", value_name = "PATH")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The key of the TLS certificate, in PEM
    #[arg(long, env = "SERVICE_TLS_KEY", value_name = "PATH")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A network or address whose X-Forwarded-For and X-Forwarded-Proto are trusted, such as 10.0.0.0/8; can
    /// be repeated
    #[arg(long = "trusted-hop", env = "SERVICE_TRUSTED_HOPS", value_name = "NETWORK", value_delimiter = ',')]
    pub(crate) trusted_hops: Option<Vec<String>>,
    /// The address to serve GET /metrics on, for Prometheus; not served by default
    #[arg(long, env = "SERVICE_METRICS_LISTEN", value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<ListenAddress>,
    /// The SMTP server for e-mails; without it, none are sent
    #[arg(long, env = "SERVICE_SMTP_HOST", value_name = "NAME")]
    pub(crate) smtp_host: Option<String>,
    /// The port of the SMTP server [default: 587; 465 with tls; 25 with none]
    #[arg(long, env = "SERVICE_SMTP_PORT", value_name = "PORT")]
    pub(crate) smtp_port: Option<NonZeroU16>,
    /// The encryption of the connection to the SMTP server [default: starttls]
    #[arg(long, env = "SERVICE_SMTP_TLS", value_name = "MODE")]
    pub(crate) smtp_tls: Option<SmtpMode>,
    /// The public name by which the service introduces itself to the SMTP server [default: the host of the
    /// public origin]
    #[arg(long, env = "SERVICE_SMTP_HELLO", value_name = "NAME")]
    pub(crate) smtp_hello: Option<String>,
    /// The user name at the SMTP server
    #[arg(long, env = "SERVICE_SMTP_USER", value_name = "NAME")]
    pub(crate) smtp_user: Option<String>,
    /// The file that contains the password of the SMTP user; without it, the variable SERVICE_SMTP_PASSWORD
    /// is read
    #[arg(long, env = "SERVICE_SMTP_PASSWORD_FILE", value_name = "PATH")]
    pub(crate) smtp_password_file: Option<PathBuf>,
    /// The sender of e-mails, such as "Chat <chat@example.com>"
    #[arg(long, env = "SERVICE_MAIL_FROM", value_name = "ADDRESS")]
    pub(crate) mail_from: Option<String>,
    /// The address that receives the answers to e-mails [default: the sender]
    #[arg(long, env = "SERVICE_MAIL_REPLY_TO", value_name = "ADDRESS")]
    pub(crate) mail_reply_to: Option<String>,
    /// Whether e-mails quote the beginning of a visitor's message [default: true]
    #[arg(long, env = "SERVICE_MAIL_EXCERPTS", value_name = "BOOLEAN")]
    pub(crate) mail_excerpts: Option<bool>,
    /// Minutes after which operators are told by e-mail that a visitor waits [default: 5]
    #[arg(long, env = "SERVICE_MAIL_UNANSWERED", value_name = "MINUTES")]
    pub(crate) mail_unanswered: Option<NonZeroU32>,
    /// Whether operators can get notifications while the console is closed, through the push services of the
    /// makers of their browsers [default: true]
    #[arg(long, env = "SERVICE_WEB_PUSH", value_name = "BOOLEAN")]
    pub(crate) web_push: Option<bool>,
    /// Requests a minute from one visitor's address [default: 6000]
    #[arg(long, env = "SERVICE_RATE_PER_MINUTE", value_name = "COUNT")]
    pub(crate) rate_per_minute: Option<NonZeroU32>,
    /// Requests a minute with one token, for all visitors together [default: 600000]
    #[arg(long, env = "SERVICE_TOKEN_RATE_PER_MINUTE", value_name = "COUNT")]
    pub(crate) token_rate_per_minute: Option<NonZeroU32>,
    /// MiB that visitors and the site's content may use for each site [default: 4096]
    #[arg(long, env = "SERVICE_STORAGE_PER_SITE", value_name = "MIB")]
    pub(crate) storage_per_site: Option<NonZeroU64>,
    /// MiB that all sites of a tenant may use together [default: 16384]
    #[arg(long, env = "SERVICE_STORAGE_PER_TENANT", value_name = "MIB")]
    pub(crate) storage_per_tenant: Option<NonZeroU64>,
    /// Whether AI endpoints, webhooks and push services may be on private addresses [default: false]
    #[arg(long, env = "SERVICE_ALLOW_PRIVATE_TARGETS", value_name = "BOOLEAN")]
    pub(crate) allow_private_targets: Option<bool>,
    /// Seconds to wait for the body of a request [default: 30]
    #[arg(long, env = "SERVICE_BODY_TIMEOUT", value_name = "SECONDS")]
    pub(crate) body_timeout: Option<NonZeroU64>,
    /// Seconds to wait for a TLS handshake and for the head of a request, and to keep an idle connection
    /// [default: 75]
    #[arg(long, env = "SERVICE_CONNECTION_TIMEOUT", value_name = "SECONDS")]
    pub(crate) connection_timeout: Option<NonZeroU64>,
    /// Maximum open connections of one address, unless it is a trusted hop [default: 256]
    #[arg(long, env = "SERVICE_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    pub(crate) connections_per_address: Option<NonZeroUsize>,
    /// Seconds for which a claimed job is leased, for tests
    #[arg(long, hide = true, value_name = "SECONDS")]
    #[serde(skip)]
    pub(crate) job_lease: Option<NonZeroU64>,
    /// Seconds before a job that failed is given out again, for tests
    #[arg(long, hide = true, value_name = "SECONDS")]
    #[serde(skip)]
    pub(crate) job_retry: Option<u64>,
    /// Seconds between two looks at the files of the certificate, for tests
    #[arg(long, hide = true, value_name = "SECONDS")]
    #[serde(skip)]
    pub(crate) tls_reload_interval: Option<NonZeroU64>,
    /// Seconds that requests in progress have to finish after the service is told to stop [default: 20]
    #[arg(long, env = "SERVICE_GRACE", value_name = "SECONDS")]
    pub(crate) grace: Option<u64>,
    /// In the file only: the log level, as of --log
    #[arg(skip)]
    pub(crate) log: Option<String>,
    /// In the file only: the log format, as of --log-format
    #[arg(skip)]
    pub(crate) log_format: Option<LogFormat>,
}

/// The encryption of the connection to the SMTP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SmtpMode {
    /// Begins without encryption, and requires STARTTLS
    Starttls,
    /// Begins with TLS
    Tls,
    /// No encryption, for a server on this machine
    None,
}

impl Settings {
    /// Reads a file of settings.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, Failure> {
        file.map_or_else(|| Ok(Self::default()), read)
    }

    /// Returns the level and the format of the log that the file sets.
    pub(crate) fn log(&self) -> Result<(Option<Level>, Option<LogFormat>), Failure> {
        let level = self.log.as_deref().map(|level| {
            level.parse().map_err(|_| {
                Failure::usage(format!(
                    "invalid log: expected error, warn, info, debug or trace, got {level}"
                ))
            })
        });
        Ok((level.transpose()?, self.log_format))
    }

    /// Returns these settings, with missing ones taken from the others.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            public_origin: self.public_origin.or(other.public_origin),
            database: self.database.or(other.database),
            key_file: self.key_file.or(other.key_file),
            widget_dir: self.widget_dir.or(other.widget_dir),
            tls_certificate: self.tls_certificate.or(other.tls_certificate),
            tls_key: self.tls_key.or(other.tls_key),
            trusted_hops: self.trusted_hops.or(other.trusted_hops),
            metrics_listen: self.metrics_listen.or(other.metrics_listen),
            smtp_host: self.smtp_host.or(other.smtp_host),
            smtp_port: self.smtp_port.or(other.smtp_port),
            smtp_tls: self.smtp_tls.or(other.smtp_tls),
            smtp_hello: self.smtp_hello.or(other.smtp_hello),
            smtp_user: self.smtp_user.or(other.smtp_user),
            smtp_password_file: self.smtp_password_file.or(other.smtp_password_file),
            mail_from: self.mail_from.or(other.mail_from),
            mail_reply_to: self.mail_reply_to.or(other.mail_reply_to),
            mail_excerpts: self.mail_excerpts.or(other.mail_excerpts),
            mail_unanswered: self.mail_unanswered.or(other.mail_unanswered),
            web_push: self.web_push.or(other.web_push),
            rate_per_minute: self.rate_per_minute.or(other.rate_per_minute),
            token_rate_per_minute: self.token_rate_per_minute.or(other.token_rate_per_minute),
            storage_per_site: self.storage_per_site.or(other.storage_per_site),
            storage_per_tenant: self.storage_per_tenant.or(other.storage_per_tenant),
            allow_private_targets: self.allow_private_targets.or(other.allow_private_targets),
            body_timeout: self.body_timeout.or(other.body_timeout),
            connection_timeout: self.connection_timeout.or(other.connection_timeout),
            connections_per_address: self.connections_per_address.or(other.connections_per_address),
            job_lease: self.job_lease.or(other.job_lease),
            job_retry: self.job_retry.or(other.job_retry),
            tls_reload_interval: self.tls_reload_interval.or(other.tls_reload_interval),
            grace: self.grace.or(other.grace),
            log: self.log.or(other.log),
            log_format: self.log_format.or(other.log_format),
        }
    }

    pub(crate) fn database(&self) -> &str {
        self.database.as_deref().unwrap_or(DATABASE)
    }

    pub(crate) fn key_file(&self) -> PathBuf {
        match &self.key_file {
            Some(path) => path.clone(),
            None if is_postgres(self.database()) => PathBuf::from(KEY_FILE),
            None => Path::new(self.database()).with_file_name("service.key"),
        }
    }

    pub(crate) fn listen(&self) -> SocketAddr {
        self.listen.map_or(SocketAddr::from(([127, 0, 0, 1], 8090)), |address| address.0)
    }

    pub(crate) fn tls(&self) -> Result<Option<TlsFiles>, Failure> {
        match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some(TlsFiles { certificate: certificate.clone(), key: key.clone() }))
            }
            (None, None) => Ok(None),
            (Some(_), None) => Err(Failure::usage("no TLS key: set tls_key as well as tls_certificate")),
            (None, Some(_)) => {
                Err(Failure::usage("no TLS certificate: set tls_certificate as well as tls_key"))
            }
        }
    }

    pub(crate) fn trusted_hops(&self) -> Result<Vec<IpNet>, Failure> {
        self.trusted_hops.iter().flatten().map(|hop| network(hop)).collect()
    }

    /// Returns the folder of the widget's files; without a setting, the one beside the program if it is
    /// there.
    pub(crate) fn widget_dir(&self) -> Option<PathBuf> {
        self.widget_dir.clone().or_else(|| {
            let beside = std::env::current_exe().ok()?.with_file_name("widget");
            beside.join("chat-widget.js").is_file().then_some(beside)
        })
    }

    /// Returns the budgets of what visitors and sites store.
    pub(crate) fn storage(&self) -> StorageBudgets {
        let defaults = StorageBudgets::default();
        let bytes = |mebibytes: NonZeroU64| mebibytes.get().saturating_mul(1024 * 1024);
        let site = self.storage_per_site.map_or(defaults.site, bytes);
        StorageBudgets::new(site, self.storage_per_tenant.map_or(defaults.tenant, bytes))
    }

    /// Returns the settings of the service itself.
    pub(crate) fn service(&self, key: ServiceKey) -> Result<ServiceOptions, Failure> {
        let defaults = ServiceOptions::new(self.database(), key);
        let per_minute = |requests: Option<NonZeroU32>, default| {
            requests.map_or(default, |requests| RateLimit::per_minute(requests.get()))
        };
        let seconds = |value: Option<NonZeroU64>, default| {
            value.map_or(default, |value: NonZeroU64| Duration::from_secs(value.get()))
        };
        Ok(ServiceOptions {
            public_origin: self.public_origin.as_deref().map(public_origin).transpose()?,
            widget_dir: self.widget_dir(),
            rate_limit: per_minute(self.rate_per_minute, defaults.rate_limit),
            token_rate_limit: per_minute(self.token_rate_per_minute, defaults.token_rate_limit),
            storage: self.storage(),
            smtp: self.smtp()?,
            web_push: self.web_push.unwrap_or(defaults.web_push),
            allow_private_webhooks: self.allow_private_targets.unwrap_or(defaults.allow_private_webhooks),
            allow_private_ai: self.allow_private_targets.unwrap_or(defaults.allow_private_ai),
            body_timeout: seconds(self.body_timeout, defaults.body_timeout),
            job_lease: seconds(self.job_lease, defaults.job_lease),
            job_retry: self.job_retry.map_or(defaults.job_retry, Duration::from_secs),
            ..defaults
        })
    }

    /// Returns the settings of the server around it.
    pub(crate) fn serve(&self, key: ServiceKey) -> Result<ServeOptions, Failure> {
        let connections = open_files().saturating_sub(OTHER_FILES).max(64);
        Ok(ServeOptions {
            service: self.service(key)?,
            listen: self.listen(),
            tls: self.tls()?,
            tls_reload_interval: Duration::from_secs(self.tls_reload_interval.map_or(5, NonZeroU64::get)),
            metrics_listen: self.metrics_listen.map(|address| address.0),
            trusted_hops: self.trusted_hops()?,
            connection_timeout: Duration::from_secs(self.connection_timeout.map_or(75, NonZeroU64::get)),
            connections: usize::try_from(connections).unwrap_or(usize::MAX),
            connections_per_address: self.connections_per_address.map_or(256, NonZeroUsize::get),
            grace: Duration::from_secs(self.grace.unwrap_or(20)),
        })
    }
}

/// The flags by which commands find the data of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "The service's data")]
pub(crate) struct DataFlags {
    /// The configuration file of the service
    #[arg(long, env = "SERVICE_CONFIG", value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// The database, as in the settings of `serve`
    #[arg(long, env = "SERVICE_DATABASE", value_name = "ADDRESS", hide_env_values = true, global = true)]
    database: Option<String>,
    /// The key file, as in the settings of `serve`
    #[arg(long, env = "SERVICE_KEY_FILE", value_name = "PATH", global = true)]
    key_file: Option<PathBuf>,
    /// The public origin, as in the settings of `serve`
    #[arg(long, env = "SERVICE_PUBLIC_ORIGIN", value_name = "URL", global = true)]
    public_origin: Option<String>,
    /// The address of the service, as in the settings of `serve`; used in links without a public origin
    #[arg(long, env = "SERVICE_LISTEN", value_name = "ADDRESS", global = true)]
    listen: Option<ListenAddress>,
    /// The certificate of the service, as in the settings of `serve`; with it, links begin with https
    #[arg(long, env = "SERVICE_TLS_CERTIFICATE", value_name = "PATH", global = true)]
    tls_certificate: Option<PathBuf>,
}

impl DataFlags {
    /// Returns the settings of the file, changed by the flags.
    pub(crate) fn settings(self) -> Result<Settings, Failure> {
        let file = Settings::read(self.config.as_deref())?;
        let flags = Settings {
            database: self.database,
            key_file: self.key_file,
            public_origin: self.public_origin,
            listen: self.listen,
            tls_certificate: self.tls_certificate,
            ..Settings::default()
        };
        Ok(flags.or(file))
    }
}
