//! The demo: a site with the chat and the service in test mode, on two ports of one process.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use chat_service::test_mode::{Faults, TestMode, TestModeError, TestOptions};
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

use crate::proxy::{self, ProxyOptions, SetupError};
use crate::site::{self, SiteFiles};

/// The time that requests in progress have to finish after the demo is told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// The settings of the demo.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// The site's port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// The sandbox's port on 127.0.0.1; 0 picks a free one.
    pub sandbox_port: u16,
    /// The site's pages, served at `/`. Ignored with [`Self::sandbox_only`].
    pub site_dir: PathBuf,
    /// The built widget, served at `/chat-widget/`. Ignored with [`Self::sandbox_only`].
    pub widget_dir: PathBuf,
    /// The built documentation, served at `/docs/`. Ignored with [`Self::sandbox_only`].
    pub docs_dir: PathBuf,
    /// Whether to serve the proxy and the sandbox only, for a development server that serves the files.
    pub sandbox_only: bool,
    /// The faults that the sandbox injects from the start.
    pub faults: Faults,
}

/// The demo could not start, or failed. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The port is in use.
    #[error(
        "port {port} is in use: stop the program that uses it, or choose another with {flag} (0 for any free one)"
    )]
    PortInUse {
        /// The port.
        port: u16,
        /// The flag that sets the port.
        flag: &'static str,
    },
    /// The port cannot be bound for another reason.
    #[error("cannot open port {port}: {source}; choose another with {flag} (0 for any free one)")]
    Port {
        /// The port.
        port: u16,
        /// The flag that sets the port.
        flag: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The site's folder has no pages.
    #[error("{} has no index.html: run this from the root of the repository, or set --site-dir", .0.display())]
    NoSite(PathBuf),
    /// The fault settings are invalid.
    #[error("{0}")]
    Faults(String),
    /// The sandbox cannot be created.
    #[error(transparent)]
    Sandbox(#[from] TestModeError),
    /// The proxy cannot be set up.
    #[error(transparent)]
    Proxy(#[from] SetupError),
    /// The handlers of stop signals cannot be installed.
    #[error("cannot install the handlers of stop signals: {0}")]
    Signals(#[source] io::Error),
    /// A running server failed.
    #[error("a server failed: {0}")]
    Server(#[source] io::Error),
}

/// A demo whose ports are open.
#[derive(Debug)]
pub struct Demo {
    site: Bound,
    sandbox: Bound,
    state: TestMode,
}

#[derive(Debug)]
struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

impl Demo {
    /// Binds both ports. The token between proxy and sandbox is random.
    pub async fn bind(options: DemoOptions) -> Result<Self, DemoError> {
        let token = SecretString::from(Uuid::new_v4().simple().to_string());
        Self::bind_with(options, TestOptions::new(token)).await
    }

    /// Binds both ports, for a sandbox with the given settings. [`DemoOptions::faults`] replaces its faults.
    pub async fn bind_with(options: DemoOptions, sandbox: TestOptions) -> Result<Self, DemoError> {
        options.faults.check().map_err(DemoError::Faults)?;
        let files = SiteFiles { pages: options.site_dir, widget: options.widget_dir, docs: options.docs_dir };
        let files = (!options.sandbox_only).then_some(files);
        if let Some(files) = &files {
            if !files.pages.join("index.html").is_file() {
                return Err(DemoError::NoSite(files.pages.clone()));
            }
            if !site::is_built(&files.widget) {
                warn!(
                    "{} has no chat-widget.js, so the site has no chat yet. Run: npm run build",
                    files.widget.display()
                );
            }
        }

        let token = sandbox.token.clone();
        let widget_dir = files.as_ref().map(|files| files.widget.clone());
        let state = TestMode::open(TestOptions { faults: options.faults, widget_dir, ..sandbox }).await?;
        let sandbox = Bound::open(options.sandbox_port, "--sandbox-port", state.router()).await?;
        let origin = format!("http://{}", sandbox.address);
        let router = site::router(proxy::router(ProxyOptions::new(origin, token))?, files.as_ref());
        let site = Bound::open(options.port, "--port", router).await?;
        Ok(Self { site, sandbox, state })
    }

    /// Returns the address of the site.
    pub fn site(&self) -> SocketAddr {
        self.site.address
    }

    /// Returns the address of the sandbox.
    pub fn sandbox(&self) -> SocketAddr {
        self.sandbox.address
    }

    /// Returns the path, at the sandbox, of a link that signs in to the console once.
    pub async fn console_link(&self) -> Result<String, DemoError> {
        Ok(self.state.console_link().await.map_err(TestModeError::from)?)
    }

    /// Serves both until `stop` is ready, then closes open streams and finishes the requests in progress.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), DemoError> {
        let stopping = CancellationToken::new();
        let mut servers = JoinSet::new();
        for Bound { listener, router, .. } in [self.site, self.sandbox] {
            let stopped = stopping.clone().cancelled_owned();
            // The sandbox limits failed activations by the peer's address.
            let service = router.into_make_service_with_connect_info::<SocketAddr>();
            servers.spawn(axum::serve(listener, service).with_graceful_shutdown(stopped).into_future());
        }
        let background = self.state.clone();
        let background = tokio::spawn(async move { background.run().await });
        tokio::select! {
            () = stop => {}
            Some(ended) = servers.join_next() => return outcome(ended),
        }
        self.state.stop();
        stopping.cancel();
        let all_ended = async {
            while let Some(ended) = servers.join_next().await {
                outcome(ended)?;
            }
            Ok(())
        };
        let ended = tokio::time::timeout(GRACE, all_ended).await.unwrap_or_else(|_| {
            warn!("some requests did not finish within {GRACE:?} and were aborted");
            Ok(())
        });
        // What was begun, such as a reply of a slow AI, is finished within the same time.
        let closed = async {
            let _ = background.await;
            self.state.close().await;
        };
        if tokio::time::timeout(GRACE, closed).await.is_err() {
            warn!("some work did not finish within {GRACE:?} and was aborted");
        }
        ended
    }
}

fn outcome(ended: Result<io::Result<()>, tokio::task::JoinError>) -> Result<(), DemoError> {
    ended.map_err(io::Error::other).flatten().map_err(DemoError::Server)
}

impl Bound {
    async fn open(port: u16, flag: &'static str, router: Router) -> Result<Self, DemoError> {
        let refused = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => DemoError::PortInUse { port, flag },
            _ => DemoError::Port { port, flag, source },
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(refused)?;
        let address = listener.local_addr().map_err(DemoError::Server)?;
        Ok(Self { listener, address, router })
    }
}
