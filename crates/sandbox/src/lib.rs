//! The connector API in one process: for the demo, for tests, and for a developer's machine.
//!
//! [`Sandbox::router`] serves three things. Under `/api/connector/v1` is the whole API as the contract has it: bearer
//! token, envelope, idempotency, limits and errors; chat, events, activation, content, overlays and jobs. `/operator` is
//! a page on which a person answers visitors, while it is open, the operator is online; and on which a person reviews
//! and publishes. `/sandbox` is for tests: it makes [`Faults`], and shows and forgets what the sandbox was told. The
//! last two ask nobody for a password: bind to loopback.
//!
//! The last two answer no page but their own ([`SandboxOptions::hosts`]).
//!
//! What it was told is in SQLite: in the file [`SandboxOptions::data`], or in memory.

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

/// Searches and readings of content that are under way at a time.
const MAX_WORKERS: usize = 4;

/// How a sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The site token that every request under [`API_BASE`] must carry (5).
    pub token: SecretString,
    /// What goes wrong from the start.
    pub faults: Faults,
    /// How many requests a caller may make.
    pub rate_limit: RateLimit,
    /// How often clients are told to ask.
    pub pace: Pace,
    /// The license code that activates the site (4.2).
    pub license: SecretString,
    /// How jobs are leased and repeated.
    pub job_rules: JobRules,
    /// Whether somebody looks at what is suggested before it becomes a job.
    pub publishing: Publishing,
    /// The file that keeps what the sandbox is told; it is made when there is none. Without one, memory does.
    pub data: Option<PathBuf>,
    /// The AI that answers, in place of the built-in assistant.
    pub assistant: Option<AssistantEndpoint>,
    /// Names by which the console may be called, besides `localhost` and addresses: that of the reverse proxy before it,
    /// such as `console.example`.
    pub hosts: Vec<String>,
}

/// The license code of a sandbox that is told no other.
pub const LICENSE: &str = "SANDBOX-LICENSE";

impl SandboxOptions {
    /// A sandbox where nothing goes wrong.
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
    /// Threads for what takes longer than anything that is done under a lock.
    workers: Semaphore,
    failed_activations: RateLimiter,
    hosts: Vec<String>,
    operators: Mutex<Operators>,
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

/// Why a sandbox cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] OpenError),
    /// The AI endpoint cannot be used.
    #[error(transparent)]
    Assistant(#[from] AssistantError),
}

impl Sandbox {
    /// A sandbox with these options.
    ///
    /// # Panics
    ///
    /// When the data file or the AI endpoint cannot be used: who gives either calls [`Self::open`].
    pub fn new(options: SandboxOptions) -> Self {
        Self::open(options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A sandbox with these options, going on with what is in its data file.
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

    /// The API, the operator console and the paths for tests.
    pub fn router(&self) -> Router {
        let local = Router::new()
            .merge(console::routes())
            .merge(publishing_routes::routes())
            .merge(admin::routes())
            .fallback(console::not_found)
            .layer(from_fn_with_state(self.clone(), same_origin::guard));
        local.merge(api_routes::routes()).with_state(self.clone())
    }

    /// Ends the streams of open consoles, which would otherwise keep a server from stopping.
    pub fn close(&self) {
        self.0.closing.cancel();
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, RequestLog> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what takes its time on a thread of its own, without holding a lock. More than [`MAX_WORKERS`] wait.
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

    /// Tells open consoles to look again.
    fn notify_changed(&self) {
        self.0.changes.send_modify(|version| *version += 1);
    }
}

/// The configuration of a property test of so many cases, which `PROPTEST_CASES` multiplies: 256 of them are once.
#[cfg(test)]
fn cases(count: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    let config = Config::default();
    Config { cases: count.saturating_mul(config.cases).div_ceil(256).max(1), ..config }
}
