//! The worker of one node: puts due notifications into e-mails, and hands e-mails to the SMTP server.

use futures_util::future::join_all;
use tracing::{error, warn};

use super::compose::compose;
use super::digest::collect;
use super::mailer::{Composed, MAX_CONNECTIONS, Mailer, SendError};
use super::outbox::{self, Claimed};
use super::{SmtpOptions, SmtpOptionsError};
use crate::Service;
use crate::db::{DbError, args};
use crate::notify::webhooks::{ERROR_INTERVAL, queue_wake, until};

/// Sends e-mails until the service closes. Without an SMTP server it returns at once.
pub(crate) async fn run(service: &Service) {
    let Some(smtp) = &service.0.options.smtp else { return };
    let mut sender = match Sender::new(service, smtp) {
        Ok(sender) => sender,
        Err(error) => {
            error!("e-mails are not sent: {error}");
            return;
        }
    };
    let mut wakes = service.db().wakes();
    loop {
        let wait = match sender.run_once(service.now_ms()).await {
            Ok(due_ms) => until(service.now_ms(), due_ms),
            Err(error) => {
                warn!("the queue of e-mails cannot be read: {error}");
                ERROR_INTERVAL
            }
        };
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = queue_wake(&mut wakes) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

#[derive(Debug)]
pub(in crate::notify) struct Sender {
    service: Service,
    smtp: SmtpOptions,
    mailer: Mailer,
    /// The failures of the SMTP server since the last e-mail that it accepted.
    failures: i64,
    /// Nothing is sent before, because the SMTP server cannot be used.
    paused_until_ms: i64,
}

impl Sender {
    pub(in crate::notify) fn new(service: &Service, smtp: &SmtpOptions) -> Result<Self, SmtpOptionsError> {
        Ok(Self {
            service: service.clone(),
            smtp: smtp.clone(),
            mailer: Mailer::new(smtp)?,
            failures: 0,
            paused_until_ms: 0,
        })
    }

    /// Sends what is due, and returns when something is due again.
    pub(in crate::notify) async fn run_once(&mut self, now_ms: i64) -> Result<Option<i64>, DbError> {
        let notification_due_ms = collect(&self.service, now_ms).await?;
        self.send_due(now_ms).await?;
        let email_due_ms = outbox::next_due_ms(self.service.db()).await?;
        let email_due_ms = email_due_ms.map(|due_ms| due_ms.max(self.paused_until_ms));
        Ok([notification_due_ms, email_due_ms].into_iter().flatten().min())
    }

    async fn send_due(&mut self, now_ms: i64) -> Result<(), DbError> {
        while now_ms >= self.paused_until_ms && !self.service.0.closing.is_cancelled() {
            let sql = "SELECT 1 FROM emails WHERE status = 'pending' AND next_ms <= $1";
            if self.service.db().optional(sql, args![now_ms]).await?.is_none() {
                return Ok(());
            }
            let write = self.service.db().write(move |tx| {
                Box::pin(async move {
                    outbox::remove_failed(tx, now_ms).await?;
                    outbox::claim(tx, now_ms, MAX_CONNECTIONS).await
                })
            });
            let claimed: Vec<Claimed> = write.await?;
            if claimed.is_empty() {
                // Another node was faster.
                return Ok(());
            }
            let sent = join_all(claimed.into_iter().map(|claimed| self.send(claimed, now_ms))).await;
            for outcome in sent {
                self.observe(now_ms, outcome?);
            }
        }
        Ok(())
    }

    /// Sends an e-mail and stores what came of it, which is returned.
    async fn send(&self, claimed: Claimed, now_ms: i64) -> Result<Result<(), SendError>, DbError> {
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
        let stored = outcome.clone();
        let write = self.service.db().write(move |tx| {
            Box::pin(async move {
                match stored {
                    Ok(()) => claimed.delete(tx).await,
                    Err(error) => claimed.postpone(tx, now_ms, &error).await,
                }
            })
        });
        write.await?;
        Ok(outcome)
    }

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
    fn observe(&mut self, now_ms: i64, outcome: Result<(), SendError>) {
        match outcome {
            Err(error @ SendError::Server(_)) => {
                self.failures += 1;
                self.paused_until_ms = now_ms.saturating_add(outbox::retry_ms(self.failures));
                warn!("{error}");
            }
            Err(error) => warn!("{error}"),
            Ok(()) => self.failures = 0,
        }
    }
}
