//! The settings of a service.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Pace, RateLimit, ServiceKey, SmtpOptions, StorageBudgets, publishing};

/// The settings of a service.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// The database: `postgres://…`, or the path of an SQLite file, which is created if missing.
    pub database: String,
    /// The key that encrypts the secrets in the database.
    pub key: ServiceKey,
    /// The origin under which browsers reach the service, such as `https://chat.example`; `None` for a
    /// service on this machine only.
    pub public_origin: Option<String>,
    /// The folder of the built widget, served at `/chat-widget/`.
    pub widget_dir: Option<PathBuf>,
    /// The polling intervals that are suggested to clients.
    pub pace: Pace,
    /// The rate limit of each visitor's address. A site's server that does not name the visitors'
    /// (`X-Forwarded-For`) counts as one visitor.
    pub rate_limit: RateLimit,
    /// The rate limit of each token, for all visitors together, and of the pages of each site that use the
    /// proxy paths of the service itself.
    pub token_rate_limit: RateLimit,
    /// Maximum bytes that visitors and sites store.
    pub storage: StorageBudgets,
    /// Whether AI endpoints may be on private addresses, such as a model on the same machine. Whoever may set
    /// a site's endpoint can then reach that network.
    pub allow_private_ai: bool,
    /// The time limit of a request's body.
    pub body_timeout: Duration,
    /// The time for which a job is leased to the site's server that claims it.
    pub job_lease: Duration,
    /// The time before a job that failed is given out again; three times as long after each further failure.
    pub job_retry: Duration,
    /// The server that sends e-mails; `None` sends none.
    pub smtp: Option<SmtpOptions>,
    /// Sends pushes to the browsers of operators who want them, by the push services of the browsers' makers.
    pub web_push: bool,
    /// Allows webhooks and pushes to private and loopback addresses, also without TLS to loopback, and
    /// websites there as sources of content.
    pub allow_private_webhooks: bool,
    /// The pace at which websites are read as sources of content.
    pub crawl: CrawlPace,
}

/// The pace at which websites are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlPace {
    /// The pause between two requests to a host.
    pub pause: Duration,
    /// The time limit of a request.
    pub timeout: Duration,
    /// The time after which another website has its turn.
    pub turn: Duration,
}

impl Default for CrawlPace {
    /// A second between requests of 15 s at most, and turns of 30 s.
    fn default() -> Self {
        Self {
            pause: Duration::from_secs(1),
            timeout: Duration::from_secs(15),
            turn: Duration::from_secs(30),
        }
    }
}

impl ServiceOptions {
    /// Returns the default settings for a database.
    pub fn new(database: impl Into<String>, key: ServiceKey) -> Self {
        Self {
            database: database.into(),
            key,
            public_origin: None,
            widget_dir: None,
            pace: Pace::default(),
            rate_limit: RateLimit::default(),
            token_rate_limit: RateLimit::PER_TOKEN,
            storage: StorageBudgets::default(),
            allow_private_ai: false,
            body_timeout: Duration::from_secs(30),
            job_lease: publishing::LEASE,
            job_retry: publishing::RETRY,
            smtp: None,
            web_push: true,
            allow_private_webhooks: false,
            crawl: CrawlPace::default(),
        }
    }
}
