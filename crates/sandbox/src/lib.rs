//! The connector API in one process, in memory: for the demo, for tests, and for a developer's machine.
//!
//! [`Sandbox::router`] serves three things. Under `/api/connector/v1` are the five endpoints that a chat widget uses,
//! as the contract has them: bearer token, envelope, idempotency, limits and errors. `/operator` is a page on which a
//! person answers visitors; while it is open, the operator is online. `/sandbox` is for tests: it makes [`Trouble`],
//! and shows and forgets what the sandbox was told. The last two ask nobody for a password: bind to loopback.

mod admin;
mod answer;
mod api;
mod console;
mod error;
mod gate;
mod idempotency;
mod lead;
mod operators;
mod rate;
mod responder;
mod switches;
mod trouble;
mod views;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use secrecy::SecretString;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use operators::{Intervals, Pace};
pub use rate::RateLimit;
pub use trouble::{Ai, Amount, ConfigOverrides, PresenceOverrides, Target, Trouble};

use idempotency::Replays;
use operators::Operators;
use rate::Limiter;
use switches::Switches;
use world::World;

/// The path of the connector API below the service's origin (9).
pub const API_BASE: &str = "/api/connector/v1";

/// How a sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The site token that every request under [`API_BASE`] must carry (5).
    pub token: SecretString,
    /// What goes wrong from the start.
    pub trouble: Trouble,
    /// How many requests a caller may make.
    pub rate_limit: RateLimit,
    /// How often clients are told to ask.
    pub pace: Pace,
}

impl SandboxOptions {
    /// A sandbox where nothing goes wrong.
    pub fn new(token: SecretString) -> Self {
        Self { token, trouble: Trouble::default(), rate_limit: RateLimit::default(), pace: Pace::default() }
    }
}

/// A running sandbox. Clones share everything.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    token: SecretString,
    pace: Pace,
    limiter: Limiter,
    replays: Replays,
    switches: Mutex<Switches>,
    world: Mutex<World>,
    operators: Mutex<Operators>,
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

impl Sandbox {
    /// A sandbox that has been told nothing yet.
    pub fn new(options: SandboxOptions) -> Self {
        Self(Arc::new(Inner {
            token: options.token,
            pace: options.pace,
            limiter: Limiter::new(options.rate_limit),
            replays: Replays::default(),
            switches: Mutex::new(Switches::new(options.trouble)),
            world: Mutex::default(),
            operators: Mutex::default(),
            changes: watch::Sender::new(0),
            closing: CancellationToken::new(),
        }))
    }

    /// The API, the operator console and the paths for tests.
    pub fn router(&self) -> Router {
        Router::new()
            .merge(gate::routes())
            .merge(console::routes())
            .merge(admin::routes())
            .fallback(gate::not_found)
            .with_state(self.clone())
    }

    /// Ends the streams of open consoles, which would otherwise keep a server from stopping.
    pub fn close(&self) {
        self.0.closing.cancel();
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn switches(&self) -> MutexGuard<'_, Switches> {
        self.0.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operators(&self) -> MutexGuard<'_, Operators> {
        self.0.operators.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells open consoles to look again.
    fn changed(&self) {
        self.0.changes.send_modify(|version| *version += 1);
    }
}
