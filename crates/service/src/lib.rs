//! The service behind the connector API, for any number of tenants and sites.
//!
//! Data is stored in SQLite, in one file, or in PostgreSQL, which several nodes can share. Nodes keep nothing
//! that another one needs.

#![warn(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "the macros panic when a line cannot be written, on a full disk or to a closed pipe"
)]

mod accounts;
mod addresses;
mod admin_api;
mod ai;
mod audit;
mod body_limit;
mod bulk_writes;
mod cache;
mod caches;
mod client;
mod clock;
mod connector_api;
mod content;
mod conversations;
mod csv;
mod db;
mod directory;
mod email_queue;
mod error;
mod fingerprint;
mod idempotency;
mod inbox;
mod input;
mod knowledge;
mod knowledge_api;
mod lead;
mod licenses;
mod limits;
mod long_reads;
mod mail_texts;
mod notify;
mod onboarding;
pub mod ops;
mod options;
mod pages;
mod presence;
mod protect;
mod proxy_check;
mod publishing;
mod purge;
mod queue_runner;
mod rate;
mod reply_mails;
mod response;
mod secrets;
mod site_proxy;
mod sites;
mod sources;
mod storage;
mod supervisor;
mod tenants;
#[cfg(any(test, feature = "test-mode"))]
pub mod test_mode;
mod test_questions;
mod text;
mod tokens;
mod turns;
mod visitors;

use std::sync::Arc;

use axum::Router;
#[cfg(test)]
use chat_test_servers::databases;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

pub use accounts::{
    CommandError, OneTimeLink, OperatorSummary, confirm_operator, first_owner_link, list_operators,
    owner_link, reset_operator_password, set_operator_disabled,
};
pub use db::OpenError;
pub use directory::Directory;
pub use error::ApiError;
pub use licenses::{License, NewLicense};
pub use notify::{SmtpOptions, SmtpOptionsError, SmtpTls, check_smtp};
pub use options::{CrawlPace, ServiceOptions};
pub use presence::{Intervals, Pace};
pub use rate::RateLimit;
pub use secrets::{KEY_BYTES, ServiceKey};
pub use sites::{AiChange, Site, SiteChange};
pub use sources::fetch;
pub use storage::StorageBudgets;
pub use tenants::Tenant;
pub use tokens::{NewToken, TokenInfo};

use ai::{Responder, SiteResponder};
use caches::Caches;
use clock::Clock;
use db::Db;
use rate::RateLimits;
use supervisor::supervise;

/// The path of the connector API below the service's origin (9).
pub const API_BASE: &str = "/api/connector/v1";
/// The path of the admin API below the service's origin.
pub const ADMIN_BASE: &str = "/api/admin/v1";

/// Maximum searches and content parses that run at the same time; further ones wait.
const MAX_WORKERS: usize = 4;

/// A running service. Clones share everything.
#[derive(Clone, Debug)]
pub struct Service(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    clock: Clock,
    options: ServiceOptions,
    caches: Arc<Caches>,
    rates: RateLimits,
    storage: storage::Storage,
    long_reads: turns::Turns,
    bulk_writes: turns::Turns,
    /// Limits the blocking threads that parse and search.
    workers: Semaphore,
    metrics: ops::Metrics,
    health: ops::Health,
    /// Cancelled when the service is told to stop: event streams end, and background tasks finish.
    closing: CancellationToken,
    /// Work that must not be cut off, such as a reply of the AI that nobody waits for any more.
    tasks: TaskTracker,
    accounts: accounts::Accounts,
    ai: ai::Ai,
    calibrations: knowledge::Calibrations,
    /// What open consoles are told of.
    hubs: inbox::Hubs,
    sources: sources::Sources,
    onboarding: onboarding::Onboarding,
    /// The key pair of pushes, once it was needed.
    push_key: OnceCell<notify::push::PushKey>,
    /// Answers the visitors.
    responder: Arc<dyn Responder>,
}

impl Service {
    /// Opens the database and migrates it.
    pub async fn open(options: ServiceOptions) -> Result<Self, OpenError> {
        Self::open_with(options, Arc::new(SiteResponder)).await
    }

    /// Opens the database like [`Self::open`], for a service whose visitors get other answers.
    async fn open_with(options: ServiceOptions, responder: Arc<dyn Responder>) -> Result<Self, OpenError> {
        let caches = Arc::new(Caches::new());
        let db = Db::open(&options.database, invalidator(&caches)).await?;
        ops::check_key(&db, &options.key).await?;
        if db.dialect() == db::Dialect::Sqlite {
            idempotency::end_leases(&db).await?;
        }
        let service = Self::start(db, caches, options, responder);
        let unprepared = |error: ApiError| OpenError::Query {
            problem: error.to_string(),
            is_transient: error == ApiError::Unavailable,
        };
        notify::prepare(&service).await.map_err(unprepared)?;
        Ok(service)
    }

    /// Opens the database of a service that may be running, for a command.
    pub async fn open_beside(options: ServiceOptions) -> Result<Self, OpenError> {
        let caches = Arc::new(Caches::new());
        let db = Db::open_beside(&options.database, invalidator(&caches)).await?;
        ops::check_key(&db, &options.key).await?;
        Ok(Self::start(db, caches, options, Arc::new(SiteResponder)))
    }

    fn start(db: Db, caches: Arc<Caches>, options: ServiceOptions, responder: Arc<dyn Responder>) -> Self {
        let ai = ai::Ai::new(options.allow_private_ai);
        Self(Arc::new(Inner {
            db,
            clock: Clock::start(),
            caches,
            rates: RateLimits::new(options.rate_limit, options.token_rate_limit, options.storage.address),
            storage: storage::Storage::new(&options.database, options.storage),
            long_reads: long_reads::turns(),
            bulk_writes: turns::Turns::new(1),
            workers: Semaphore::new(MAX_WORKERS),
            options,
            metrics: ops::Metrics::default(),
            health: ops::Health::default(),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            accounts: accounts::Accounts::default(),
            ai,
            calibrations: knowledge::Calibrations::default(),
            hubs: inbox::Hubs::default(),
            sources: sources::Sources::default(),
            onboarding: onboarding::Onboarding::default(),
            push_key: OnceCell::new(),
            responder,
        }))
    }

    /// Returns the routes of the service.
    pub fn router(&self) -> Router {
        let routes = ops::routes()
            .merge(connector_api::routes())
            .merge(admin_api::routes(self))
            .merge(site_proxy::routes())
            .merge(reply_mails::routes())
            .merge(pages::routes(self));
        self.observed(protect::protected(routes.with_state(self.clone())))
    }

    /// Runs the background tasks until the service is told to stop: delivers webhooks, e-mails and pushes,
    /// brings conversations back that were put aside, answers visitors whom no person has answered in time,
    /// removes what is old, merges counts, reads websites, and asks test questions. Each task that panics
    /// starts again.
    pub async fn run(&self) {
        tokio::join!(
            notify::run(self.clone()),
            Box::pin(reply_mails::run(self)),
            supervise("the removal of old data", || purge::run(self.clone())),
            supervise("the recovery of jobs", || publishing::recover_leases(self.clone())),
            supervise("the return of conversations", || conversations::snooze::run(self)),
            supervise("the answers in place of people", || connector_api::late_reply::run(self)),
            supervise("the counts of storage", || storage::run(self)),
            supervise("the texts of searches", || conversations::search_text::run(self)),
            supervise("the reading of websites", || Box::pin(sources::run(self.clone()))),
            supervise("the test questions", || Box::pin(test_questions::run(self))),
        );
    }

    /// Ends event streams and background work, waits until what must not be cut off is done, and closes the
    /// database.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.db.close().await;
    }

    fn db(&self) -> &Db {
        &self.0.db
    }

    fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }

    /// Runs slow work on a blocking thread. At most [`MAX_WORKERS`] run at a time; further ones wait.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let Ok(_turn) = self.0.workers.acquire().await else { return Err(ApiError::Internal) };
        tokio::task::spawn_blocking(work).await.map_err(|panic| {
            error!("{panic}");
            ApiError::Internal
        })
    }
}

/// Returns the function that keeps caches up to date.
fn invalidator(caches: &Arc<Caches>) -> Arc<dyn Fn(&db::Wake) + Send + Sync> {
    let caches = Arc::clone(caches);
    Arc::new(move |wake| caches.invalidate(wake))
}

/// Returns the configuration of a property test. `PROPTEST_CASES` scales `count`; its default of 256 leaves
/// it as it is.
#[cfg(test)]
fn cases(count: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    let config = Config::default();
    Config { cases: count.saturating_mul(config.cases).div_ceil(256).max(1), ..config }
}
