//! The queue of e-mails: puts due notifications into e-mails, and hands e-mails to the SMTP server.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use tracing::warn;

use super::SmtpOptions;
use super::compose::compose;
use super::digest::collect;
use super::mailer::{Composed, MAX_CONNECTIONS, Mailer, SendError};
use super::outbox::{self, Claimed};
use crate::Service;
use crate::db::{DbError, transaction};
use crate::queue_runner::Queue;

#[derive(Debug)]
pub(in crate::notify) struct MailQueue {
    service: Service,
    smtp: SmtpOptions,
    mailer: Mailer,
    /// The failures of the SMTP server since the last e-mail that it accepted.
    failures: AtomicI64,
    /// Nothing is sent before, because the SMTP server cannot be used.
    paused_until_ms: AtomicI64,
}

impl Queue for MailQueue {
    const NAME: &'static str = "e-mails";
    const MAX_CONCURRENT: usize = MAX_CONNECTIONS as usize;
    type Claimed = Claimed;

    fn open(service: &Service) -> Result<Option<Self>, String> {
        let Some(smtp) = service.0.options.smtp.clone() else { return Ok(None) };
        let mailer = Mailer::new(&smtp).map_err(|error| error.to_string())?;
        let (failures, paused_until_ms) = Default::default();
        Ok(Some(Self { service: service.clone(), smtp, mailer, failures, paused_until_ms }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Claimed>, Option<i64>), DbError> {
        let db = self.service.db();
        let notification_due_ms = collect(&self.service, now_ms).await?;
        let email_due_ms = outbox::next_due_ms(db).await?;
        let email_due_ms = email_due_ms.map(|due_ms| due_ms.max(self.paused_until_ms.load(Relaxed)));
        let next_due_ms = [notification_due_ms, email_due_ms].into_iter().flatten().min();
        if email_due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return Ok((Vec::new(), next_due_ms));
        }
        let claimed = transaction!(db, |tx| {
            outbox::remove_failed(tx, now_ms).await?;
            outbox::claim(tx, now_ms, limit).await
        })
        .await?;
        Ok((claimed, next_due_ms))
    }

    async fn send(self: Arc<Self>, claimed: Claimed, now_ms: i64) -> Result<(), DbError> {
        let outcome = match self.text(&claimed).await? {
            Ok(Some(composed)) => {
                let outcome = self.mailer.send(&claimed.id, &claimed.recipient, composed).await;
                self.service.0.metrics.mail(if outcome.is_ok() { "sent" } else { "failed" });
                outcome
            }
            // Nothing of it is true any more.
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.observe(now_ms, &outcome);
        transaction!(self.service.db(), |tx| {
            match outcome {
                Ok(()) => claimed.delete(tx).await,
                Err(error) => claimed.postpone(tx, now_ms, &error).await,
            }
        })
        .await
    }
}

impl MailQueue {
    async fn text(&self, claimed: &Claimed) -> Result<Result<Option<Composed>, SendError>, DbError> {
        let options = &self.service.0.options;
        match (claimed.content(&options.key), &claimed.tenant_id) {
            (Ok(None), Some(tenant_id)) => {
                let origin = options.public_origin.as_deref();
                compose(self.service.db(), &self.smtp, origin, claimed.no, tenant_id).await.map(Ok)
            }
            (content, _) => Ok(content),
        }
    }

    /// Pauses while the SMTP server cannot be used.
    fn observe(&self, now_ms: i64, outcome: &Result<(), SendError>) {
        match outcome {
            Ok(()) => self.failures.store(0, Relaxed),
            Err(error) => {
                warn!("{error}");
                if let SendError::Server(_) | SendError::Unanswered(_) = error {
                    let failures = self.failures.fetch_add(1, Relaxed) + 1;
                    self.paused_until_ms.store(now_ms.saturating_add(outbox::retry_ms(failures)), Relaxed);
                }
            }
        }
    }
}
