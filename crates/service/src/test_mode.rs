//! The test mode: a service with one site and fault injection, for the demo, for tests and for development.
//!
//! [`TestMode::router`] serves the routes of the service inside of a layer that injects [`Faults`] into the
//! connector API, and beside them `/sandbox`: test control, which injects faults, writes as the operator, and
//! lists and clears the stored data. The console is that of the service. [`TestMode::console_link`] signs in.
//!
//! `/sandbox` requires no password, so bind to loopback. It refuses requests of other websites.
//!
//! A released program has none of this: it is compiled with the feature `test-mode` only.

mod control;
mod faults;
mod jobs;
mod json;
mod layer;
mod operator;
mod requests;
mod responder;
mod response;
mod setup;
pub(crate) mod shop;
mod sign_in;
mod site;
mod views;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use secrecy::SecretString;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub use chat_protocol::admin::settings::AiOptions as AssistantOptions;

pub use crate::ai::Endpoint as AssistantEndpoint;

pub use crate::publishing::Publishing;
pub use faults::{Ai, Amount, ConfigOverrides, Faults, PresenceOverrides, Target};

use crate::ai::EndpointError;
use crate::db::{Db, Wake};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::{OpenError, Pace, RateLimit, Service, ServiceKey, ServiceOptions, accounts, supervisor};
use faults::FaultInjector;
use requests::RequestLog;
use responder::FaultyResponder;
use site::{SITE_ID, TENANT_ID};

/// The default license code.
pub const LICENSE: &str = "SANDBOX-LICENSE";

/// Makes the background tasks of this process panic at each SIGUSR2, which `npm run torture:service` sends.
/// Each goes on by itself.
#[cfg(unix)]
pub fn panic_on_signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals = signal(SignalKind::user_defined2())?;
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            supervisor::panic_all();
        }
    });
    Ok(())
}

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
    /// The lease of a job's claim.
    pub lease: Duration,
    /// Whether a person approves suggestions before they become jobs.
    pub publishing: Publishing,
    /// The data file, created if missing; `None` uses a temporary file.
    pub data: Option<PathBuf>,
    /// The OpenAI-compatible AI endpoint, which may be on this machine, and whose key is not stored; `None`
    /// uses the built-in assistant.
    pub assistant: Option<AssistantEndpoint>,
    /// The folder of the built widget, for the console's preview; `None` without one.
    pub widget_dir: Option<PathBuf>,
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
            lease: crate::publishing::LEASE,
            publishing: Publishing::default(),
            data: None,
            assistant: None,
            widget_dir: None,
        }
    }
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
    responder: FaultyResponder,
    token: SecretString,
    license: SecretString,
    requests: Mutex<RequestLog>,
    /// The console that a test holds open without a browser, and what releases it.
    forced_online: tokio::sync::Mutex<Option<(String, CancellationToken)>>,
    /// Held during an activation, after which the license is valid again.
    activation: tokio::sync::Mutex<()>,
    /// Contains the data without a data file. Removed when the test mode is dropped.
    _folder: Option<TempDir>,
}

impl TestMode {
    /// Opens the data file, with the data that is in it.
    pub async fn open(options: TestOptions) -> Result<Self, TestModeError> {
        let (file, folder) = if let Some(file) = options.data {
            (file, None)
        } else {
            let folder = TempDir::with_prefix("chat-test-mode-")?;
            (folder.path().join("data.sqlite"), Some(folder))
        };
        let faults = Arc::new(Mutex::new(FaultInjector::new(options.faults)));
        let responder = FaultyResponder { faults, endpoint: options.assistant };
        let service_options = ServiceOptions {
            pace: options.pace,
            rate_limit: options.rate_limit,
            allow_private_ai: true,
            widget_dir: options.widget_dir,
            job_lease: options.lease,
            job_retry: Duration::ZERO,
            ..ServiceOptions::new(file.to_string_lossy(), key())
        };
        let service = Service::open_with(service_options, Arc::new(responder.clone())).await;
        let service = service.map_err(|source| match source {
            OpenError::Key => TestModeError::ServiceData(file.clone()),
            source => TestModeError::Data { path: file.clone(), source },
        })?;
        if let Some(endpoint) = &responder.endpoint {
            service.0.ai.check(endpoint)?;
        }
        setup::prepare(&service, &options.token, &options.license, options.publishing).await?;
        Ok(Self(Arc::new(Inner {
            service,
            responder,
            token: options.token,
            license: options.license,
            requests: Mutex::default(),
            forced_online: tokio::sync::Mutex::default(),
            activation: tokio::sync::Mutex::default(),
            _folder: folder,
        })))
    }

    /// Returns the routes of the service and of the test control.
    pub fn router(&self) -> Router {
        let service = &self.0.service;
        let control = accounts::guarded(control::routes().with_state(self.clone()), service);
        let own = control.merge(sign_in::routes(service)).with_state(service.clone());
        service.router().layer(from_fn_with_state(self.clone(), layer::serve)).merge(own)
    }

    /// Returns the path of a link that signs in to the console once, as the owner, and opens the newest
    /// conversation. Without any, a visitor begins one.
    pub async fn console_link(&self) -> Result<String, ApiError> {
        sign_in::create_link(&self.0.service).await
    }

    /// Runs the background tasks of the service until [`Self::stop`].
    pub async fn run(&self) {
        Box::pin(self.0.service.run()).await;
    }

    /// Ends the event streams of open consoles, which would otherwise keep a server from stopping. Requests
    /// are still answered, until [`Self::close`].
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

/// Returns the key of all test modes. It differs from that of any service, whose data they refuse, and which
/// refuses theirs: everybody knows the license.
fn key() -> ServiceKey {
    ServiceKey::new(&fingerprint(&[b"the key of the test mode"])).unwrap_or_else(ServiceKey::random)
}

/// Returns the announcement of a change of the site.
fn site_changed() -> Wake {
    Wake::Site { tenant: TENANT_ID.to_owned(), site: SITE_ID.to_owned() }
}
