//! The queue of pushes: decides whether each is still wanted, encrypts and sends it.

use std::sync::Arc;

use axum::http::{HeaderName, header};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use super::encryption::encrypt;
use super::message::{Decision, Message, decide};
use super::queue::{self, Claimed};
use super::subscription::Subscription;
use super::{key, vapid};
use crate::Service;
use crate::db::{DbError, transaction};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::notify::attempt::jitter;
use crate::notify::http::{self, CheckedClient, Outcome};
use crate::queue_runner::Queue;

/// The time for which a push service keeps a push for a device that is offline, in seconds: 12 hours, after
/// which nobody waits for an answer any more.
const TTL_S: &str = "43200";
/// The length of a topic, in characters of base64url: the maximum of RFC 8030.
const TOPIC_LENGTH: usize = 32;
const USER_AGENT: &str = concat!("site-connector-push/", env!("CARGO_PKG_VERSION"));

const TTL: HeaderName = HeaderName::from_static("ttl");
const TOPIC: HeaderName = HeaderName::from_static("topic");
const URGENCY: HeaderName = HeaderName::from_static("urgency");

#[derive(Debug)]
pub(in crate::notify) struct PushQueue {
    service: Service,
    client: CheckedClient,
}

impl Queue for PushQueue {
    const NAME: &'static str = "pushes";
    const MAX_CONCURRENT: usize = 32;
    type Claimed = Claimed;

    fn open(service: &Service) -> Result<Option<Self>, String> {
        if !service.0.options.web_push {
            return Ok(None);
        }
        let client = CheckedClient::new(service.0.options.allow_private_webhooks, USER_AGENT)
            .map_err(|error| format!("cannot create the HTTP client: {error}"))?;
        Ok(Some(Self { service: service.clone(), client }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Claimed>, Option<i64>), DbError> {
        let due_ms = queue::next_due_ms(self.service.db()).await?;
        if due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return Ok((Vec::new(), due_ms));
        }
        let claimed = transaction!(self.service.db(), |tx| queue::claim(tx, now_ms, limit).await).await?;
        Ok((claimed, due_ms))
    }

    /// Sends a push if it is still wanted.
    async fn send(self: Arc<Self>, claimed: Claimed, now_ms: i64) -> Result<(), DbError> {
        let decision = decide(&self.service, &claimed, now_ms).await?;
        let outcome = match &decision {
            Decision::Send { subscription, message } => {
                let outcome = self.post(subscription, message, now_ms).await;
                self.service.0.metrics.push(if outcome.is_delivered() { "sent" } else { "failed" });
                Some(outcome)
            }
            Decision::Drop | Decision::RemoveDevice => None,
        };
        transaction!(self.service.db(), |tx| {
            match (decision, outcome) {
                (Decision::Send { message, .. }, Some(outcome)) => {
                    let now_ms = now_ms.saturating_add(outcome.duration_ms);
                    claimed.record(tx, now_ms, &message.told, &outcome, jitter()).await
                }
                (Decision::RemoveDevice, _) => claimed.remove_device(tx).await,
                _ => claimed.drop_events(tx, now_ms).await,
            }
        })
        .await
    }
}

impl PushQueue {
    /// Encrypts a message and sends it.
    async fn post(&self, subscription: &Subscription, message: &Message, now_ms: i64) -> Outcome {
        let authorization = match self.authorization(subscription, now_ms).await {
            Ok(authorization) => authorization,
            Err(error) => return Outcome::not_sent(error.to_string()),
        };
        let body = match encrypt(&subscription.keys, message.json.as_bytes()) {
            Ok(body) => body,
            Err(error) => return Outcome::not_sent(error.to_string()),
        };
        let request = self
            .client
            .post(&subscription.endpoint)
            .header(header::AUTHORIZATION, authorization)
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .header(header::CONTENT_ENCODING, "aes128gcm")
            .header(TTL, TTL_S)
            .header(TOPIC, topic(&message.conversation_id))
            .header(URGENCY, if message.is_urgent { "high" } else { "normal" })
            .body(body);
        http::send(request).await
    }

    async fn authorization(&self, subscription: &Subscription, now_ms: i64) -> Result<String, ApiError> {
        let options = &self.service.0.options;
        let sender = options.smtp.as_ref().map(|smtp| smtp.from.as_str());
        let contact = vapid::contact(options.public_origin.as_deref(), sender);
        key(&self.service).await?.authorization(subscription.endpoint.url(), contact.as_deref(), now_ms)
    }
}

/// Returns the topic of a conversation, or of several (`""`): a hash, which tells a push service nothing. A
/// push replaces the earlier one of its topic that the device has not got yet.
fn topic(conversation_id: &str) -> String {
    let mut topic = BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[b"push topic ", conversation_id.as_bytes()]));
    topic.truncate(TOPIC_LENGTH);
    topic
}
