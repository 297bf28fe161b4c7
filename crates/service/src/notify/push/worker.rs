//! The worker of one node: claims pushes that are due, and sends several at a time.

use axum::http::{HeaderName, header};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::task::JoinSet;
use tracing::{error, warn};

use super::encryption::encrypt;
use super::message::{Decision, decide};
use super::queue::{self, Claimed};
use super::subscription::Subscription;
use super::{key, vapid};
use crate::Service;
use crate::db::DbError;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::notify::http::{self, CheckedClient, Outcome};
use crate::notify::webhooks::{ERROR_INTERVAL, jitter, queue_wake, until};

/// Maximum requests at a time.
const MAX_CONCURRENT: usize = 32;
/// The time for which a push service keeps a push for a device that is offline, in seconds: 12 hours, after
/// which nobody waits for an answer any more.
const TTL_S: &str = "43200";
/// The length of a topic, in characters of base64url: the maximum of RFC 8030.
const TOPIC_LENGTH: usize = 32;
const USER_AGENT: &str = concat!("site-connector-push/", env!("CARGO_PKG_VERSION"));

const TTL: HeaderName = HeaderName::from_static("ttl");
const TOPIC: HeaderName = HeaderName::from_static("topic");
const URGENCY: HeaderName = HeaderName::from_static("urgency");

/// Sends pushes until the service closes, and then finishes the requests in progress. Returns at once where
/// Web Push is switched off.
pub(crate) async fn run(service: &Service) {
    if !service.0.options.web_push {
        return;
    }
    let mut pusher = match Pusher::new(service) {
        Ok(pusher) => pusher,
        Err(error) => {
            error!("pushes are not sent: cannot create the HTTP client: {error}");
            return;
        }
    };
    let mut wakes = service.db().wakes();
    loop {
        let wait = match pusher.start_due(service.now_ms()).await {
            Ok(due_ms) => until(service.now_ms(), due_ms),
            Err(error) => {
                warn!("the queue of pushes cannot be read: {error}");
                ERROR_INTERVAL
            }
        };
        tokio::select! {
            () = service.0.closing.cancelled() => break,
            () = pusher.finish_one(), if pusher.is_busy() => {}
            () = queue_wake(&mut wakes) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    pusher.finish_all().await;
}

/// The requests in progress of a node.
#[derive(Debug)]
pub(in crate::notify) struct Pusher {
    service: Service,
    client: CheckedClient,
    tasks: JoinSet<()>,
}

impl Pusher {
    pub(in crate::notify) fn new(service: &Service) -> Result<Self, reqwest::Error> {
        Ok(Self {
            service: service.clone(),
            client: CheckedClient::new(service.0.options.allow_private_webhooks, USER_AGENT)?,
            tasks: JoinSet::new(),
        })
    }

    /// Starts the pushes that are due, as far as there are places, and returns when the next one is due.
    pub(in crate::notify) async fn start_due(&mut self, now_ms: i64) -> Result<Option<i64>, DbError> {
        while self.tasks.try_join_next().is_some() {}
        let due_ms = queue::next_due_ms(self.service.db()).await?;
        let places = MAX_CONCURRENT.saturating_sub(self.tasks.len());
        if places == 0 || due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return Ok(due_ms);
        }
        let write = self.service.db().write(move |tx| Box::pin(queue::claim(tx, now_ms, places)));
        let claimed: Vec<Claimed> = write.await?;
        for claimed in claimed {
            self.tasks.spawn(push(self.service.clone(), self.client.clone(), claimed, now_ms));
        }
        queue::next_due_ms(self.service.db()).await
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

/// Sends a claimed push once if it is still wanted, and stores what came of it.
async fn push(service: Service, client: CheckedClient, claimed: Claimed, now_ms: i64) {
    if let Err(error) = try_push(&service, &client, claimed, now_ms).await {
        // Sent again when the lease ends.
        warn!("the outcome of a push cannot be stored: {error}");
    }
}

async fn try_push(
    service: &Service,
    client: &CheckedClient,
    claimed: Claimed,
    now_ms: i64,
) -> Result<(), DbError> {
    let decision = decide(service, &claimed, now_ms).await?;
    let outcome = match &decision {
        Decision::Send { subscription, message } => {
            let outcome = send(service, client, subscription, &claimed, message, now_ms).await;
            service.0.metrics.push(if outcome.is_delivered() { "sent" } else { "failed" });
            Some(outcome)
        }
        Decision::Drop | Decision::RemoveDevice => None,
    };
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            match (decision, outcome) {
                (Decision::Send { .. }, Some(outcome)) => {
                    let now_ms = now_ms.saturating_add(outcome.duration_ms);
                    claimed.record(tx, now_ms, &outcome, jitter()).await
                }
                (Decision::RemoveDevice, _) => claimed.remove_device(tx).await,
                _ => claimed.drop_event(tx).await,
            }
        })
    });
    write.await
}

/// Encrypts a message and sends it.
async fn send(
    service: &Service,
    client: &CheckedClient,
    subscription: &Subscription,
    claimed: &Claimed,
    message: &str,
    now_ms: i64,
) -> Outcome {
    let authorization = authorization(service, subscription, now_ms).await;
    let authorization = match authorization {
        Ok(authorization) => authorization,
        Err(error) => return Outcome::not_sent(error.to_string()),
    };
    let body = match encrypt(&subscription.keys, message.as_bytes()) {
        Ok(body) => body,
        Err(error) => return Outcome::not_sent(error.to_string()),
    };
    let request = client
        .post(&subscription.endpoint)
        .header(header::AUTHORIZATION, authorization)
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .header(header::CONTENT_ENCODING, "aes128gcm")
        .header(TTL, TTL_S)
        .header(TOPIC, topic(&claimed.conversation_id))
        .header(URGENCY, if claimed.wants_person { "high" } else { "normal" })
        .body(body);
    http::send(request).await
}

async fn authorization(
    service: &Service,
    subscription: &Subscription,
    now_ms: i64,
) -> Result<String, ApiError> {
    let contact = vapid::contact(&service.0.options);
    key(service).await?.authorization(subscription.endpoint.url(), contact.as_deref(), now_ms)
}

/// Returns the topic of a conversation: a hash, which tells a push service nothing.
fn topic(conversation_id: &str) -> String {
    let mut topic = BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[b"push topic ", conversation_id.as_bytes()]));
    topic.truncate(TOPIC_LENGTH);
    topic
}
