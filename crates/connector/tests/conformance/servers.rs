//! The servers under test. Each is started when its first trial begins, and shared by all of its trials.

use std::sync::Arc;
use std::time::Duration;

use chat_service::RateLimit;
use chat_service::test_mode::{TestMode, TestOptions};
use tokio::net::TcpListener;
use tokio::sync::OnceCell;

use crate::serve::Serve;
use chat_test_servers::databases::Kind as Database;

/// The token of a test mode.
pub const TOKEN: &str = "a-token-for-tests";
/// Requests of one token a minute, at the servers that this suite starts: few, so that a trial can exceed
/// them.
pub const RATE_PER_MINUTE: u32 = 300;

pub struct Server {
    /// The first part of the names of its trials.
    pub name: &'static str,
    pub kind: Kind,
    serve: OnceCell<Serve>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The service with fault injection, in this process. It has one site, so each trial opens its own.
    TestMode,
    /// `site-connector serve`, as one process or several on one database. Each trial creates a site.
    Serve { on_postgres: bool, nodes: usize },
    /// A server that is given by its address and the token of a site.
    Address,
}

impl Server {
    /// Returns the server that the environment names, or else those that this suite starts.
    pub fn all() -> Vec<Arc<Self>> {
        let new = |name, kind| Arc::new(Self { name, kind, serve: OnceCell::new() });
        if std::env::var_os("CONFORMANCE_ORIGIN").is_some() {
            return vec![new("server", Kind::Address)];
        }
        let mut servers = vec![new("test_mode", Kind::TestMode)];
        // The processes are started by a shell.
        if cfg!(unix) {
            let serve = |on_postgres, nodes| Kind::Serve { on_postgres, nodes };
            servers.push(new("serve_on_sqlite", serve(false, 1)));
            servers.push(new("serve_on_postgres", serve(true, 1)));
            servers.push(new("two_nodes_on_postgres", serve(true, 2)));
        }
        servers
    }

    /// Returns the running processes of `serve`.
    ///
    /// # Panics
    /// If this is another kind of server.
    pub async fn serve(&self) -> &Serve {
        let Kind::Serve { on_postgres, nodes } = self.kind else { panic!("{} is not `serve`", self.name) };
        let database = if on_postgres { Database::Postgres } else { Database::Sqlite };
        self.serve.get_or_init(|| Serve::start(database, nodes)).await
    }
}

/// Starts a test mode with [`TOKEN`], and returns its origin.
pub async fn test_mode(lease: Duration, rate_per_minute: u32) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let rate_limit = RateLimit { requests: rate_per_minute, window: Duration::from_mins(1) };
    let options = TestOptions { rate_limit, lease, ..TestOptions::new(TOKEN.into()) };
    let mode = TestMode::open(options).await.expect("a test mode");
    tokio::spawn(axum::serve(listener, mode.router()).into_future());
    origin
}
