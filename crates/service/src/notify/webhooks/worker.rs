//! The queue of deliveries: shares the places over webhooks, signs and sends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::client::{SignedRequest, WebhookClient};
use super::queue::{self, Claimed, PendingWebhook};
use super::secret::WebhookSecret;
use crate::Service;
use crate::db::{DbError, Tx, transaction};
use crate::notify::attempt::{Next, jitter};
use crate::notify::http::Outcome;
use crate::notify::target::TargetUrl;
use crate::queue_runner::Queue;

/// Maximum requests at a time to one webhook.
const MAX_PER_WEBHOOK: usize = 4;
/// Maximum requests at a time to webhooks that fail, each of which gets one, so that dead receivers leave
/// half of all requests to the others.
const MAX_FAILING: usize = WebhookQueue::MAX_CONCURRENT / 2;

#[derive(Debug)]
pub(in crate::notify) struct WebhookQueue {
    service: Service,
    client: WebhookClient,
    /// The webhooks with requests in progress, each of which holds its webhook until it ends.
    busy: Mutex<Vec<Arc<PendingWebhook>>>,
}

impl Queue for WebhookQueue {
    const NAME: &'static str = "webhooks";
    const MAX_CONCURRENT: usize = 64;
    type Claimed = (Arc<PendingWebhook>, Claimed);

    fn open(service: &Service) -> Result<Option<Self>, String> {
        let client = WebhookClient::new(service.0.options.allow_private_webhooks)
            .map_err(|error| format!("cannot create the HTTP client: {error}"))?;
        Ok(Some(Self { service: service.clone(), client, busy: Mutex::default() }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Self::Claimed>, Option<i64>), DbError> {
        let pending = self.pending(now_ms).await?;
        let (due, later): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|webhook| webhook.due_ms <= now_ms);
        let next_due_ms = later.iter().map(|webhook| webhook.due_ms).min();
        let shares = self.share_places(due, limit);
        if shares.is_empty() {
            return Ok((Vec::new(), next_due_ms));
        }
        let claimed = transaction!(self.service.db(), |tx| claim(tx, now_ms, shares).await).await?;
        Ok((claimed, next_due_ms))
    }

    async fn send(self: Arc<Self>, (_webhook, claimed): Self::Claimed, now_ms: i64) -> Result<(), DbError> {
        let outcome = match self.sign(&claimed, now_ms) {
            Ok((target, request)) => self.client.send(&target, request).await,
            Err(error) => Outcome::not_sent(error),
        };
        self.service.0.metrics.webhook(if outcome.is_delivered() { "delivered" } else { "failed" });
        let now_ms = now_ms.saturating_add(outcome.duration_ms);
        let next = Next::after(claimed.attempt(), &outcome, now_ms, jitter());
        transaction!(self.service.db(), |tx| queue::record(tx, now_ms, &claimed, &outcome, next).await).await
    }
}

impl WebhookQueue {
    /// Returns the webhooks with pending deliveries. Those of disabled ones fail, except deliveries that are
    /// being sent.
    async fn pending(&self, now_ms: i64) -> Result<Vec<PendingWebhook>, DbError> {
        let db = self.service.db();
        loop {
            let (disabled, pending): (Vec<_>, Vec<_>) =
                queue::pending(db).await?.into_iter().partition(|webhook| webhook.disabled);
            let mut cancelled = 0;
            for webhook in disabled {
                cancelled += transaction!(db, |tx| queue::cancel(tx, now_ms, &webhook.id).await).await?;
            }
            if cancelled == 0 {
                return Ok(pending);
            }
        }
    }

    /// Distributes free places over webhooks with due deliveries.
    fn share_places(
        &self,
        mut due: Vec<PendingWebhook>,
        mut free: usize,
    ) -> Vec<(Arc<PendingWebhook>, usize)> {
        let mut in_progress = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = |webhook: &Arc<PendingWebhook>| Arc::strong_count(webhook) - 1;
        in_progress.retain(|webhook| requests(webhook) > 0);
        let mut busy: HashMap<String, usize> = HashMap::new();
        let mut free_for_failing = MAX_FAILING;
        for webhook in in_progress.iter() {
            *busy.entry(webhook.id.clone()).or_default() += requests(webhook);
            if webhook.failing {
                free_for_failing = free_for_failing.saturating_sub(requests(webhook));
            }
        }
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
            let webhook = Arc::new(webhook);
            in_progress.push(webhook.clone());
            shares.push((webhook, places));
        }
        shares
    }

    /// Signs a request, with the secret before the last rotation too while it is used.
    fn sign(&self, claimed: &Claimed, now_ms: i64) -> Result<(TargetUrl, SignedRequest), String> {
        let options = &self.service.0.options;
        let target = TargetUrl::parse(&claimed.url, options.allow_private_webhooks)
            .map_err(|error| error.to_string())?;
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
}

/// Claims deliveries for the places of webhooks.
async fn claim(
    tx: &mut Tx,
    now_ms: i64,
    shares: Vec<(Arc<PendingWebhook>, usize)>,
) -> Result<Vec<(Arc<PendingWebhook>, Claimed)>, DbError> {
    let mut all = Vec::new();
    for (webhook, places) in shares {
        let claimed = queue::claim(tx, now_ms, &webhook.id, places).await?;
        all.extend(claimed.into_iter().map(|claimed| (webhook.clone(), claimed)));
    }
    Ok(all)
}
