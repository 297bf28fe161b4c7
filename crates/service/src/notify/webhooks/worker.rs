//! The worker of one node: claims due deliveries, and sends several at a time.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::task::{AbortHandle, JoinSet};
use tracing::{error, warn};

use super::attempt::{Next, jitter};
use super::client::{SignedRequest, WebhookClient};
use super::queue::{self, Claimed, PendingWebhook};
use super::secret::WebhookSecret;
use super::target::TargetUrl;
use crate::Service;
use crate::db::{DbError, Tx, Wake};
use crate::notify::http::Outcome;

/// Maximum requests at a time.
const MAX_CONCURRENT: usize = 64;
/// Maximum requests at a time to one webhook.
const MAX_PER_WEBHOOK: usize = 4;
/// Maximum requests at a time to webhooks that fail, each of which gets one, so that dead receivers leave
/// half of all requests to the others.
const MAX_FAILING: usize = MAX_CONCURRENT / 2;
/// The interval at which the queue is looked at without an announcement, for deliveries of a node that died.
pub(in crate::notify) const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// The waiting time after an error of the database.
pub(in crate::notify) const ERROR_INTERVAL: Duration = Duration::from_secs(2);

/// Delivers until the service closes, and then finishes the requests in progress.
pub(crate) async fn run(service: &Service) {
    let mut deliverer = match Deliverer::new(service) {
        Ok(deliverer) => deliverer,
        Err(error) => {
            error!("webhooks are not delivered: cannot create the HTTP client: {error}");
            return;
        }
    };
    let mut wakes = service.db().wakes();
    loop {
        let wait = match deliverer.start_due(service.now_ms()).await {
            Ok(due_ms) => until(service.now_ms(), due_ms),
            Err(error) => {
                warn!("the queue of webhooks cannot be read: {error}");
                ERROR_INTERVAL
            }
        };
        tokio::select! {
            () = service.0.closing.cancelled() => break,
            () = deliverer.finish_one(), if deliverer.is_busy() => {}
            () = queue_wake(&mut wakes) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    deliverer.finish_all().await;
}

/// Returns the time to sleep until something is due.
pub(in crate::notify) fn until(now_ms: i64, due_ms: Option<i64>) -> Duration {
    let Some(due_ms) = due_ms else { return POLL_INTERVAL };
    let wait_ms = u64::try_from(due_ms.saturating_sub(now_ms)).unwrap_or_default();
    // At least a little, because what is due may have to wait for a free place.
    Duration::from_millis(wait_ms.max(50)).min(POLL_INTERVAL)
}

/// Waits until something was queued. Announcements that came meanwhile are one.
pub(in crate::notify) async fn queue_wake(wakes: &mut Receiver<Wake>) {
    loop {
        match wakes.recv().await {
            Ok(Wake::Queue | Wake::Everything) | Err(RecvError::Lagged(_)) => break,
            Ok(_) => {}
            // The database is closed: the service stops.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
    while wakes.try_recv().is_ok() {}
}

/// The requests in progress of a node.
#[derive(Debug)]
pub(in crate::notify) struct Deliverer {
    service: Service,
    client: WebhookClient,
    tasks: JoinSet<()>,
    in_flight: Vec<InFlight>,
}

/// A request in progress.
#[derive(Debug)]
struct InFlight {
    webhook_id: String,
    failing: bool,
    task: AbortHandle,
}

impl Deliverer {
    pub(in crate::notify) fn new(service: &Service) -> Result<Self, reqwest::Error> {
        Ok(Self {
            service: service.clone(),
            client: WebhookClient::new(service.0.options.allow_private_webhooks)?,
            tasks: JoinSet::new(),
            in_flight: Vec::new(),
        })
    }

    /// Starts the deliveries that are due, as far as there are places, and returns when the next one is due.
    pub(in crate::notify) async fn start_due(&mut self, now_ms: i64) -> Result<Option<i64>, DbError> {
        loop {
            let pending = queue::pending(self.service.db()).await?;
            let disabled: Vec<String> =
                pending.iter().filter(|webhook| webhook.disabled).map(|webhook| webhook.id.clone()).collect();
            let (due, later): (Vec<_>, Vec<_>) = pending
                .into_iter()
                .filter(|webhook| !webhook.disabled)
                .partition(|webhook| webhook.due_ms <= now_ms);
            let next_due_ms = later.iter().map(|webhook| webhook.due_ms).min();
            let allowed = self.share_places(due);
            if allowed.is_empty() && disabled.is_empty() {
                return Ok(next_due_ms);
            }
            let failing: HashMap<String, bool> =
                allowed.iter().map(|share| (share.webhook_id.clone(), share.failing)).collect();
            let db = self.service.db();
            let (claimed, cancelled) = db
                .write(move |tx| Box::pin(async move { claim(tx, now_ms, disabled, allowed).await }))
                .await?;
            if claimed.is_empty() && cancelled == 0 {
                // Another node was faster.
                return Ok(next_due_ms);
            }
            for claimed in claimed {
                let failing = failing.get(&claimed.webhook_id).is_some_and(|failing| *failing);
                self.start(claimed, failing, now_ms);
            }
        }
    }

    /// Distributes the free places over webhooks with due deliveries.
    fn share_places(&mut self, mut due: Vec<PendingWebhook>) -> Vec<Share> {
        self.in_flight.retain(|request| !request.task.is_finished());
        let mut busy: HashMap<&str, usize> = HashMap::new();
        for request in &self.in_flight {
            *busy.entry(&request.webhook_id).or_default() += 1;
        }
        let mut free = MAX_CONCURRENT.saturating_sub(self.in_flight.len());
        let failing = self.in_flight.iter().filter(|request| request.failing).count();
        let mut free_for_failing = MAX_FAILING.saturating_sub(failing);
        let busy_with = |id: &str| busy.get(id).copied().unwrap_or_default();
        due.sort_by_key(|webhook| (busy_with(&webhook.id), webhook.due_ms));
        let mut shares = Vec::new();
        for webhook in due {
            let most = if webhook.failing { 1.min(free_for_failing) } else { MAX_PER_WEBHOOK };
            let places = most.saturating_sub(busy_with(&webhook.id)).min(free);
            if places == 0 {
                continue;
            }
            free -= places;
            if webhook.failing {
                free_for_failing -= places;
            }
            shares.push(Share { webhook_id: webhook.id, failing: webhook.failing, places });
        }
        shares
    }

    fn start(&mut self, claimed: Claimed, failing: bool, now_ms: i64) {
        let webhook_id = claimed.webhook_id.clone();
        let task = self.tasks.spawn(deliver(self.service.clone(), self.client.clone(), claimed, now_ms));
        self.in_flight.push(InFlight { webhook_id, failing, task });
    }

    /// Returns whether requests are in progress.
    pub(in crate::notify) fn is_busy(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Waits until one request is finished.
    pub(in crate::notify) async fn finish_one(&mut self) {
        let _ = self.tasks.join_next().await;
    }

    /// Waits until all requests are finished, which takes no longer than their timeout.
    pub(in crate::notify) async fn finish_all(&mut self) {
        while self.is_busy() {
            self.finish_one().await;
        }
    }
}

/// The places that a webhook gets.
#[derive(Debug)]
struct Share {
    webhook_id: String,
    failing: bool,
    places: usize,
}

/// Claims deliveries for all shares, and lets those of disabled webhooks fail, whose number is returned.
async fn claim(
    tx: &mut Tx,
    now_ms: i64,
    disabled: Vec<String>,
    shares: Vec<Share>,
) -> Result<(Vec<Claimed>, u64), DbError> {
    let mut cancelled = 0;
    for webhook_id in disabled {
        cancelled += queue::cancel(tx, now_ms, &webhook_id).await?;
    }
    let mut claimed = Vec::new();
    for share in shares {
        claimed.append(&mut queue::claim(tx, now_ms, &share.webhook_id, share.places).await?);
    }
    Ok((claimed, cancelled))
}

/// Sends a claimed delivery once, and stores what came of it.
async fn deliver(service: Service, client: WebhookClient, claimed: Claimed, now_ms: i64) {
    let outcome = match sign(&service, &claimed, now_ms) {
        Ok((target, request)) => client.send(&target, request).await,
        Err(error) => Outcome::not_sent(error),
    };
    service.0.metrics.webhook(if outcome.is_delivered() { "delivered" } else { "failed" });
    let now_ms = now_ms.saturating_add(outcome.duration_ms);
    let next = Next::after(claimed.attempt(), &outcome, now_ms, jitter());
    let recorded: Result<(), DbError> = service
        .db()
        .write(move |tx| Box::pin(async move { queue::record(tx, now_ms, &claimed, &outcome, next).await }))
        .await;
    if let Err(error) = recorded {
        // Sent again when the lease ends.
        warn!("the outcome of a webhook's request cannot be stored: {error}");
    }
}

/// Signs a request, with the secret before the last rotation too while it is used.
fn sign(service: &Service, claimed: &Claimed, now_ms: i64) -> Result<(TargetUrl, SignedRequest), String> {
    let options = &service.0.options;
    let target =
        TargetUrl::parse(&claimed.url, options.allow_private_webhooks).map_err(|error| error.to_string())?;
    let timestamp_s = now_ms.div_euclid(1000);
    let mut signatures = Vec::new();
    for sealed in std::iter::once(&claimed.secret).chain(&claimed.previous_secret) {
        let secret = WebhookSecret::unseal(&options.key, &claimed.webhook_id, sealed)
            .map_err(|error| error.to_string())?;
        signatures.push(secret.sign(&claimed.event_id, timestamp_s, &claimed.body));
    }
    let request = SignedRequest {
        event_id: claimed.event_id.clone(),
        timestamp_s,
        signature: signatures.join(" "),
        body: claimed.body.clone(),
    };
    Ok((target, request))
}
