//! Metrics in the `OpenMetrics` text format. They identify no visitor, no tenant and no site.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chat_protocol::AiStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::Service;
use crate::ai::Answer;
use crate::db::{DbError, args};
use crate::presence::CONSOLE_TIMEOUT_MS;
use crate::storage::{self, DiskState};

/// Upper bounds of the histogram, in seconds: a poll is quick, and an AI may think for a while.
const BOUNDS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 35.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: &'static str,
    /// The route's pattern, such as `/api/connector/v1/chat/messages`.
    route: String,
    /// The class of the status, such as `2xx`.
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PoolState {
    state: &'static str,
}

/// The metrics of a service. Clones share them.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    ai_replies: Family<Outcome, Counter>,
    ai_seconds: Histogram,
    answers: Family<Outcome, Counter>,
    webhooks: Family<Outcome, Counter>,
    mails: Family<Outcome, Counter>,
    pushes: Family<Outcome, Counter>,
    database_up: Gauge,
    connections: Family<PoolState, Gauge>,
    writes_waiting: Gauge,
    storage_refused: Family<Limit, Counter>,
    disk_free: Gauge,
    disk_reserve: Gauge,
    storage_state: Gauge,
    queues: Family<Queue, Gauge>,
    consoles: Gauge,
    memory: Gauge<f64, AtomicU64>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Limit {
    limit: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Queue {
    queue: &'static str,
}

impl Debug for Metrics {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("site_connector_service");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the program", version);
        let seconds: Family<Route, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BOUNDS));
        let mut inner = Inner {
            registry,
            requests: Family::default(),
            seconds,
            in_flight: Gauge::default(),
            ai_replies: Family::default(),
            ai_seconds: Histogram::new(BOUNDS),
            answers: Family::default(),
            webhooks: Family::default(),
            mails: Family::default(),
            pushes: Family::default(),
            database_up: Gauge::default(),
            connections: Family::default(),
            writes_waiting: Gauge::default(),
            storage_refused: Family::default(),
            disk_free: Gauge::default(),
            disk_reserve: Gauge::default(),
            storage_state: Gauge::default(),
            queues: Family::default(),
            consoles: Gauge::default(),
            memory: Gauge::default(),
        };
        inner.register();
        Self(Arc::new(inner))
    }
}

impl Inner {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Requests, by route and class of status", self.requests.clone());
        registry.register("request_seconds", "How long requests took, by route", self.seconds.clone());
        registry.register("requests_in_flight", "Requests in progress", self.in_flight.clone());
        registry.register("ai_replies", "Replies of the AI, by its status", self.ai_replies.clone());
        registry.register(
            "answers",
            "Messages that the AI answered, by what became of them",
            self.answers.clone(),
        );
        registry.register("ai_reply_seconds", "How long replies of the AI took", self.ai_seconds.clone());
        registry.register("webhook_attempts", "Deliveries to webhooks, by outcome", self.webhooks.clone());
        registry.register("mails", "E-mails, by outcome", self.mails.clone());
        registry.register("pushes", "Pushes to devices of operators, by outcome", self.pushes.clone());
        registry.register("database_up", "Whether the database answers: 0 or 1", self.database_up.clone());
        registry.register(
            "database_connections",
            "Connections to the database, by state",
            self.connections.clone(),
        );
        registry.register(
            "database_writes_waiting",
            "Transactions that wait for the writer (SQLite)",
            self.writes_waiting.clone(),
        );
        registry.register(
            "storage_refused",
            "Requests that were not stored for lack of space, by limit: site, tenant, address, disk",
            self.storage_refused.clone(),
        );
        registry.register(
            "disk_free_bytes",
            "Bytes that the database can still use: of the disk and in its file (SQLite)",
            self.disk_free.clone(),
        );
        registry.register(
            "disk_reserve_bytes",
            "Bytes below which events and content are refused, and messages below a quarter (SQLite)",
            self.disk_reserve.clone(),
        );
        registry.register(
            "storage_state",
            "0: all is stored; 1: events and content are refused; 2: messages as well (SQLite)",
            self.storage_state.clone(),
        );
        registry.register("queue_length", "What waits to be sent, by queue", self.queues.clone());
        registry.register("consoles", "Open consoles of operators, of all nodes", self.consoles.clone());
        registry.register("memory_bytes", "Resident memory of the process", self.memory.clone());
    }
}

impl Metrics {
    /// Counts a request that begins, until the guard is dropped.
    pub(super) fn begin(&self) -> InFlight {
        self.0.in_flight.inc();
        InFlight(self.0.in_flight.clone())
    }

    pub(super) fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let class = match status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            500.. => "5xx",
        };
        let route = route.to_owned();
        self.0.requests.get_or_create(&Request { method, route: route.clone(), status: class }).inc();
        self.0.seconds.get_or_create(&Route { method, route }).observe(took.as_secs_f64());
    }

    /// Counts a reply of the AI by its status, and by what became of the visitor's message.
    pub(crate) fn ai_reply(&self, answer: &Answer, took: Duration) {
        let outcome = match answer.status {
            AiStatus::Ok => "ok",
            AiStatus::ProviderError => "provider_error",
            AiStatus::QuotaInsufficient => "quota_insufficient",
            AiStatus::Blocked => "blocked",
            AiStatus::Other(_) => "other",
        };
        self.0.ai_replies.get_or_create(&Outcome { outcome }).inc();
        if let Some(outcome) = answer.outcome {
            self.0.answers.get_or_create(&Outcome { outcome: outcome.as_str() }).inc();
        }
        self.0.ai_seconds.observe(took.as_secs_f64());
    }

    /// Counts an attempt to deliver to a webhook by its outcome, such as `delivered` or `failed`.
    pub(crate) fn webhook(&self, outcome: &'static str) {
        self.0.webhooks.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts an e-mail by its outcome, such as `sent` or `failed`.
    pub(crate) fn mail(&self, outcome: &'static str) {
        self.0.mails.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts a push by its outcome, such as `sent` or `failed`.
    pub(crate) fn push(&self, outcome: &'static str) {
        self.0.pushes.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts a request that was not stored, by the limit that is used up, such as `site` or `disk`.
    pub(crate) fn storage_refused(&self, limit: &'static str) {
        self.0.storage_refused.get_or_create(&Limit { limit }).inc();
    }

    fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.0.registry);
        text
    }
}

/// Counts a request until it is dropped, also when the client goes away.
pub(super) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Answers `GET /metrics`.
pub(super) async fn render(State(service): State<Service>) -> Response {
    service.measure().await;
    let text = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    ([(header::CONTENT_TYPE, text)], service.0.metrics.encode()).into_response()
}

impl Service {
    /// Updates the metrics that are read where they are stored.
    async fn measure(&self) {
        let metrics = &self.0.metrics.0;
        let stats = self.db().stats();
        let used = stats.open.saturating_sub(stats.idle);
        metrics.connections.get_or_create(&PoolState { state: "idle" }).set(stats.idle.into());
        metrics.connections.get_or_create(&PoolState { state: "used" }).set(used.into());
        metrics.writes_waiting.set(i64::try_from(stats.writes_waiting).unwrap_or(i64::MAX));
        if let Some(space) = storage::disk_state(self).await {
            let gauge = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
            metrics.disk_free.set(gauge(space.free.saturating_add(space.reusable)));
            metrics.disk_reserve.set(gauge(space.reserve));
            metrics.storage_state.set(match space.state {
                DiskState::Ample => 0,
                DiskState::BulkRefused => 1,
                DiskState::MessagesRefused => 2,
            });
        }
        if let Some(bytes) = resident_bytes() {
            metrics.memory.set(bytes);
        }
        let is_up = self.is_database_up().await;
        metrics.database_up.set(is_up.into());
        // The figures of a database that does not answer stay as they were.
        if is_up && let Ok(counts) = self.counts().await {
            let [webhooks, mails, pushes, consoles] = counts;
            metrics.queues.get_or_create(&Queue { queue: "webhooks" }).set(webhooks);
            metrics.queues.get_or_create(&Queue { queue: "mails" }).set(mails);
            metrics.queues.get_or_create(&Queue { queue: "pushes" }).set(pushes);
            metrics.consoles.set(consoles);
        }
    }

    /// Counts what waits in the queues, and the open consoles.
    async fn counts(&self) -> Result<[i64; 4], DbError> {
        let count = async |sql, args| self.db().one(sql, args).await?.int(0);
        Ok([
            count("SELECT count(*) FROM deliveries WHERE status = 'pending'", args![]).await?,
            count("SELECT count(*) FROM emails WHERE status = 'pending'", args![]).await?,
            count("SELECT count(*) FROM pushes WHERE next_ms IS NOT NULL", args![]).await?,
            count(
                "SELECT count(*) FROM consoles WHERE open = 1 AND seen_ms > $1",
                args![self.now_ms() - CONSOLE_TIMEOUT_MS],
            )
            .await?,
        ])
    }
}

/// Returns the resident memory of this process; `None` where the system has no `/proc`.
fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u32 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(f64::from(kibibytes) * 1024.0)
}
