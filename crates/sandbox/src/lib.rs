//! The connector API in one process: for the demo, for tests and for local development.
//!
//! [`Sandbox::router`] serves three things. `/api/connector/v1` is the whole API of the contract: bearer
//! token, envelope, idempotency, limits and errors; chat, events, activation, content, overlays and jobs.
//! `/operator` is a page on which a person answers visitors, reviews and publishes; an open page makes the
//! operator online. `/sandbox` is for tests: it injects [`Faults`], and lists and clears the stored data.
//!
//! `/operator` and `/sandbox` require no password, so bind to loopback. They refuse requests of other
//! websites ([`SandboxOptions::hosts`]).
//!
//! Data is stored in SQLite: in the file [`SandboxOptions::data`], or in memory.

mod admin;
mod api_routes;
mod assistant;
mod auth;
mod call;
mod chat;
mod clock;
mod console;
mod error;
mod faults;
mod fingerprint;
mod idempotency;
mod identity;
mod lead;
mod operation;
mod operators;
mod publishing;
mod publishing_routes;
mod rate;
mod responder;
mod response;
mod same_origin;
mod search;
mod site;
mod store;
mod text;
mod views;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::middleware::from_fn_with_state;
use secrecy::SecretString;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tracing::error;

pub use assistant::{AssistantEndpoint, AssistantError};
pub use faults::{Ai, Amount, ConfigOverrides, Faults, PresenceOverrides, Target};
pub use operators::{Intervals, Pace};
pub use publishing::{JobRules, Publishing};
pub use rate::RateLimit;
pub use store::OpenError;

use assistant::Assistant;
use clock::Clock;
use error::ApiError;
use faults::FaultInjector;
use idempotency::InProgress;
use operators::Operators;
use rate::{FAILED_ACTIVATION_LIMIT, RateLimiter};
use store::{RequestLog, Store};

/// The path of the connector API below the service's origin (9).
pub const API_BASE: &str = "/api/connector/v1";

/// Maximum searches and content parses that run at the same time; further ones wait.
const MAX_WORKERS: usize = 4;

/// The settings of a sandbox.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The site token that every request under [`API_BASE`] must carry (5).
    pub token: SecretString,
    /// The faults that are injected from the start.
    pub faults: Faults,
    /// The rate limit of each caller.
    pub rate_limit: RateLimit,
    /// The polling intervals that are suggested to clients.
    pub pace: Pace,
    /// The license code that activates the site (4.2).
    pub license: SecretString,
    /// The lease and the retries of jobs.
    pub job_rules: JobRules,
    /// Whether a person approves suggestions before they become jobs.
    pub publishing: Publishing,
    /// The data file, created if missing; `None` keeps the data in memory.
    pub data: Option<PathBuf>,
    /// The AI endpoint; `None` uses the built-in assistant.
    pub assistant: Option<AssistantEndpoint>,
    /// Host names of the console besides `localhost` and IP addresses: that of a reverse proxy in front of
    /// it, such as `console.example`.
    pub hosts: Vec<String>,
}

/// The default license code.
pub const LICENSE: &str = "SANDBOX-LICENSE";

impl SandboxOptions {
    /// Returns the default settings: no faults, data in memory, the built-in assistant.
    pub fn new(token: SecretString) -> Self {
        Self {
            token,
            faults: Faults::default(),
            rate_limit: RateLimit::default(),
            pace: Pace::default(),
            license: LICENSE.into(),
            job_rules: JobRules::default(),
            publishing: Publishing::default(),
            data: None,
            assistant: None,
            hosts: Vec::new(),
        }
    }
}

/// A running sandbox. Clones share everything.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    token: SecretString,
    license: SecretString,
    pace: Pace,
    job_rules: JobRules,
    publishing: Publishing,
    assistant: Option<Assistant>,
    clock: Clock,
    limiter: RateLimiter,
    in_progress: InProgress,
    faults: Mutex<FaultInjector>,
    store: Mutex<Store>,
    requests: Mutex<RequestLog>,
    /// Limits the blocking threads that work outside of any lock.
    workers: Semaphore,
    failed_activations: RateLimiter,
    hosts: Vec<String>,
    operators: Mutex<Operators>,
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

/// A sandbox could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The data file is not usable.
    #[error(transparent)]
    Data(#[from] OpenError),
    /// The AI endpoint is not usable.
    #[error(transparent)]
    Assistant(#[from] AssistantError),
}

impl Sandbox {
    /// Creates a sandbox.
    ///
    /// # Panics
    ///
    /// Panics if the data file or the AI endpoint is not usable. Callers that set either use [`Self::open`].
    pub fn new(options: SandboxOptions) -> Self {
        Self::open(options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Creates a sandbox on its data file, with the data that is in it.
    pub fn open(options: SandboxOptions) -> Result<Self, SandboxError> {
        let store = Store::open(options.data.as_deref())?;
        Ok(Self(Arc::new(Inner {
            token: options.token,
            license: options.license,
            pace: options.pace,
            job_rules: options.job_rules,
            publishing: options.publishing,
            assistant: options.assistant.map(Assistant::new).transpose()?,
            clock: store.clock,
            limiter: RateLimiter::new(options.rate_limit),
            in_progress: InProgress::default(),
            faults: Mutex::new(FaultInjector::new(options.faults)),
            store: Mutex::new(store),
            requests: Mutex::default(),
            workers: Semaphore::new(MAX_WORKERS),
            failed_activations: RateLimiter::new(FAILED_ACTIVATION_LIMIT),
            hosts: options.hosts,
            operators: Mutex::default(),
            changes: watch::Sender::new(0),
            closing: CancellationToken::new(),
        })))
    }

    /// Returns the routes of the API, the operator console and the test paths.
    pub fn router(&self) -> Router {
        let local = Router::new()
            .merge(console::routes())
            .merge(publishing_routes::routes())
            .merge(admin::routes())
            .fallback(console::not_found)
            .layer(from_fn_with_state(self.clone(), same_origin::guard));
        local.merge(api_routes::routes()).with_state(self.clone())
    }

    /// Ends the event streams of open consoles, which would otherwise keep a server from stopping.
    pub fn close(&self) {
        self.0.closing.cancel();
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, RequestLog> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn faults(&self) -> MutexGuard<'_, FaultInjector> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operators(&self) -> MutexGuard<'_, Operators> {
        self.0.operators.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies open consoles of a change.
    fn notify_changed(&self) {
        self.0.changes.send_modify(|version| *version += 1);
    }
}

/// Returns the configuration of a property test. `PROPTEST_CASES` scales `count`; its default of 256 leaves
/// it as it is.
#[cfg(test)]
fn cases(count: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    let config = Config::default();
    Config { cases: count.saturating_mul(config.cases).div_ceil(256).max(1), ..config }
}
