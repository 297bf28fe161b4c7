//! The test mode: a service with one site and fault injection, for the demo, for tests and for development.
//!
//! [`TestMode::router`] serves three things. `/api/connector/v1` is the connector API of the service.
//! `/operator` is a page on which a person answers visitors, reviews and publishes; an open page makes the
//! operator online. `/sandbox` is for tests: it injects [`Faults`], and lists and clears the stored data.
//!
//! `/operator` and `/sandbox` require no password, so bind to loopback. They refuse requests of other
//! websites ([`TestOptions::hosts`]).
//!
//! A service that was opened by [`Service::open`] has none of this.

mod admin;
mod api;
mod console;
mod desk;
mod faults;
mod hooks;
mod jobs;
mod presence;
mod publishing_routes;
mod requests;
mod same_origin;
mod setup;
mod views;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use crate::publishing::Publishing;
pub use faults::{Ai, Amount, ConfigOverrides, Faults, PresenceOverrides, Target};
pub(crate) use hooks::Hooks;

use crate::ai::{Endpoint, EndpointError};
use crate::caches::Caches;
use crate::db::{Db, Wake};
use crate::demo_site::{SITE_ID, TENANT_ID};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::{
    OpenError, Pace, RateLimit, Service, ServiceKey, ServiceOptions, connector_api, idempotency, invalidator,
};
use requests::RequestLog;

/// The default license code.
pub const LICENSE: &str = "SANDBOX-LICENSE";

/// The settings of a test mode.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// The site token that every request of the connector API must carry (5).
    pub token: SecretString,
    /// The faults that are injected from the start.
    pub faults: Faults,
    /// The rate limit of each caller.
    pub rate_limit: RateLimit,
    /// The polling intervals that are suggested to clients.
    pub pace: Pace,
    /// The license code that activates the site (4.2), any number of times.
    pub license: SecretString,
    /// The lease and the retries of jobs.
    pub job_rules: JobRules,
    /// Whether a person approves suggestions before they become jobs.
    pub publishing: Publishing,
    /// The data file, created if missing; `None` uses a temporary file.
    pub data: Option<PathBuf>,
    /// The AI endpoint; `None` uses the built-in assistant.
    pub assistant: Option<AssistantEndpoint>,
    /// Host names of the operator page besides `localhost` and IP addresses: that of a reverse proxy in front
    /// of it, such as `console.example`.
    pub hosts: Vec<String>,
}

impl TestOptions {
    /// Returns the default settings: no faults, a temporary file, the built-in assistant.
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

/// The lease and the retries of jobs. The contract specifies no numbers (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRules {
    /// The lease of a claim.
    pub lease: Duration,
    /// Maximum attempts before a job has failed.
    pub max_attempts: u32,
}

impl Default for JobRules {
    /// Those of the service: 60 s, 3 attempts.
    fn default() -> Self {
        let max_attempts = u32::try_from(crate::publishing::MAX_ATTEMPTS).unwrap_or(u32::MAX);
        Self { lease: crate::publishing::LEASE, max_attempts }
    }
}

/// An OpenAI-compatible AI endpoint. It may be on this machine. Its key is not stored.
#[derive(Clone, Debug)]
pub struct AssistantEndpoint {
    /// The base address, such as `https://ai.example/v1`; `/chat/completions` is appended. Redirects are not
    /// followed, so no other address receives a request.
    pub base: String,
    /// The key, sent as a bearer token; `None` for a local model that needs no key.
    pub key: Option<SecretString>,
    /// The model's name.
    pub model: String,
    /// The timeout of a request, from the question to the last byte of the answer.
    pub timeout: Duration,
}

impl AssistantEndpoint {
    /// The default timeout.
    pub const TIMEOUT: Duration = Duration::from_secs(30);
}

/// A test mode could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum TestModeError {
    /// The data file is not usable.
    #[error("cannot use {} as the data file: {source}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: OpenError,
    },
    /// The data file is that of a service, where the test mode would create a license that everybody knows.
    #[error("{} has the data of a service: choose another file", .0.display())]
    ServiceData(PathBuf),
    /// The temporary file cannot be created.
    #[error("cannot create a temporary folder: {0}")]
    Temporary(#[from] std::io::Error),
    /// The AI endpoint is not usable.
    #[error("{0}")]
    Assistant(String),
    /// The site cannot be stored.
    #[error("cannot store the site: {0}")]
    Site(#[from] ApiError),
}

impl From<EndpointError> for TestModeError {
    fn from(error: EndpointError) -> Self {
        Self::Assistant(error.to_string())
    }
}

/// A running test mode. Clones share everything.
#[derive(Clone, Debug)]
pub struct TestMode(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    service: Service,
    hooks: Arc<Hooks>,
    token: SecretString,
    license: SecretString,
    max_attempts: u32,
    hosts: Vec<String>,
    requests: Mutex<RequestLog>,
    /// The console that a test holds open without a page, and what releases it.
    forced_online: tokio::sync::Mutex<Option<(String, CancellationToken)>>,
    /// Held during an activation, after which the license is valid again.
    activation: tokio::sync::Mutex<()>,
    changes: watch::Receiver<u64>,
    /// Contains the data without a data file. Removed when the test mode is dropped.
    _folder: Option<TempDir>,
}

impl TestMode {
    /// Opens the data file, with the data that is in it.
    pub async fn open(options: TestOptions) -> Result<Self, TestModeError> {
        let caches = Arc::new(Caches::new());
        let (file, folder) = if let Some(file) = options.data {
            (file, None)
        } else {
            let folder = TempDir::with_prefix("chat-test-mode-")?;
            (folder.path().join("data.sqlite"), Some(folder))
        };
        let db = match &folder {
            None => Db::open(&file.to_string_lossy(), invalidator(&caches)).await,
            Some(_) => Db::open_volatile(&file, invalidator(&caches)).await,
        };
        let db = db.map_err(|source| TestModeError::Data { path: file.clone(), source })?;
        if crate::ops::stored_key_check(&db).await.map_err(ApiError::from)?.is_some() {
            return Err(TestModeError::ServiceData(file));
        }
        // A killed process leaves requests that it was working on.
        idempotency::end_leases(&db).await.map_err(ApiError::from)?;
        let key = fingerprint(&[b"the key of the test mode ", options.token.expose_secret().as_bytes()]);
        let key = ServiceKey::new(&key).unwrap_or_else(ServiceKey::random);
        let service_options = ServiceOptions {
            pace: options.pace,
            rate_limit: options.rate_limit,
            allow_private_ai: true,
            ..ServiceOptions::new("", key)
        };
        let endpoint = options.assistant.map(|endpoint| Endpoint {
            base: endpoint.base,
            key: endpoint.key,
            model: endpoint.model,
            timeout: endpoint.timeout,
        });
        let mut service = Service::inner(db, caches, service_options);
        if let Some(endpoint) = &endpoint {
            service.ai.check(endpoint)?;
        }
        let hooks = Arc::new(Hooks::new(options.faults, endpoint, options.job_rules.lease));
        service.test = Some(Arc::clone(&hooks));
        let service = Service(Arc::new(service));
        setup::prepare(&service, &options.token, &options.license, options.publishing).await?;
        let changes = follow(&service);
        Ok(Self(Arc::new(Inner {
            service,
            hooks,
            token: options.token,
            license: options.license,
            max_attempts: options.job_rules.max_attempts,
            hosts: options.hosts,
            requests: Mutex::default(),
            forced_online: tokio::sync::Mutex::default(),
            activation: tokio::sync::Mutex::default(),
            changes,
            _folder: folder,
        })))
    }

    /// Returns the routes of the API, the operator page and the test paths.
    pub fn router(&self) -> Router {
        let local = Router::new()
            .merge(console::routes())
            .merge(publishing_routes::routes())
            .merge(admin::routes())
            .fallback(console::not_found)
            .layer(from_fn_with_state(self.clone(), same_origin::guard))
            .with_state(self.clone());
        let api = connector_api::routes().with_state(self.0.service.clone());
        local.merge(api.layer(from_fn_with_state(self.clone(), api::serve)))
    }

    /// Ends the event streams of open pages, which would otherwise keep a server from stopping. Requests are
    /// still answered, until [`Self::close`].
    pub fn stop(&self) {
        self.0.service.stop();
    }

    /// Waits for the work in progress, and closes the data file.
    pub async fn close(&self) {
        self.0.service.close().await;
    }

    fn db(&self) -> &Db {
        self.0.service.db()
    }

    fn now_ms(&self) -> i64 {
        self.0.service.now_ms()
    }

    fn requests(&self) -> MutexGuard<'_, RequestLog> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the changes that open pages are told of. The task ends with the database.
fn follow(service: &Service) -> watch::Receiver<u64> {
    let (counter, changes) = watch::channel(0);
    let mut wakes = service.db().wakes();
    tokio::spawn(async move {
        use tokio::sync::broadcast::error::RecvError;
        loop {
            match wakes.recv().await {
                Ok(Wake::Presence { .. } | Wake::Queue) => {}
                Ok(_) | Err(RecvError::Lagged(_)) => counter.send_modify(|version| *version += 1),
                Err(RecvError::Closed) => return,
            }
        }
    });
    changes
}

/// Returns the announcement of a change of the site.
fn site_changed() -> Wake {
    Wake::Site { tenant: TENANT_ID.to_owned(), site: SITE_ID.to_owned() }
}
