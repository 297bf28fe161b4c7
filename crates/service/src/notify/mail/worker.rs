//! The queue of e-mails: puts due notifications into e-mails, and hands e-mails to the SMTP server.

use std::sync::Arc;

use super::SmtpOptions;
use super::compose::compose;
use super::digest::collect;
use super::mailer::{Composed, MAX_CONNECTIONS, Mailer, SendError};
use super::outbox::{self, Claimed};
use super::pause::Pause;
use crate::Service;
use crate::db::{DbError, transaction};
use crate::queue_runner::Queue;

#[derive(Debug)]
pub(in crate::notify) struct MailQueue {
    service: Service,
    smtp: SmtpOptions,
    mailer: Mailer,
    pause: Pause,
}

impl Queue for MailQueue {
    const NAME: &'static str = "e-mails";
    const MAX_CONCURRENT: usize = MAX_CONNECTIONS as usize;
    type Claimed = Claimed;

    fn open(service: &Service) -> Result<Option<Self>, String> {
        let Some(smtp) = service.0.options.smtp.clone() else { return Ok(None) };
        let mailer = Mailer::new(&smtp).map_err(|error| error.to_string())?;
        Ok(Some(Self { service: service.clone(), smtp, mailer, pause: Pause::default() }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Claimed>, Option<i64>), DbError> {
        let db = self.service.db();
        let notification_due_ms = collect(&self.service, now_ms).await?;
        let email_due_ms = outbox::next_due_ms(db).await?;
        let email_due_ms = email_due_ms.map(|due_ms| due_ms.max(self.pause.until_ms()));
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
        self.pause.observe(now_ms, &outcome);
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
}
