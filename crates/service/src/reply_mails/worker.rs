//! The queue of replies: puts what is due into e-mails, and hands each to the SMTP server once.

use std::sync::Arc;

use tracing::warn;

use super::compose::compose;
use super::due::{self, Claimed};
use super::{is_available, outcome};
use crate::Service;
use crate::conversations::notes::Event;
use crate::db::{DbError, args, transaction};
use crate::error::ApiError;
use crate::notify::mail::{MAX_CONNECTIONS, Mailer, Pause};
use crate::queue_runner::Queue;

#[derive(Debug)]
pub(super) struct ReplyQueue {
    service: Service,
    mailer: Mailer,
    pause: Pause,
}

impl Queue for ReplyQueue {
    const NAME: &'static str = "replies by e-mail";
    const MAX_CONCURRENT: usize = MAX_CONNECTIONS as usize;
    type Claimed = Claimed;

    fn open(service: &Service) -> Result<Option<Self>, String> {
        let Some(smtp) = service.0.options.smtp.as_ref().filter(|_| is_available(service)) else {
            return Ok(None);
        };
        let mailer = Mailer::new(smtp).map_err(|error| error.to_string())?;
        Ok(Some(Self { service: service.clone(), mailer, pause: Pause::default() }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Claimed>, Option<i64>), DbError> {
        self.end_abandoned(now_ms).await?;
        let paused_ms = self.pause.until_ms();
        if paused_ms > now_ms {
            return Ok((Vec::new(), Some(paused_ms)));
        }
        let mut claimed: Vec<Claimed> = Vec::new();
        if self.next_attempt_ms().await?.is_some_and(|due_ms| due_ms <= now_ms) {
            let again: Result<_, DbError> =
                transaction!(self.service.db(), |tx| due::claim_again(tx, now_ms, limit).await).await;
            claimed.extend(again?);
        }
        let sql = "SELECT no FROM conversations WHERE mail_due_ms <= $1 ORDER BY mail_due_ms, no LIMIT $2";
        let free = i64::try_from(limit.saturating_sub(claimed.len())).unwrap_or(i64::MAX);
        let rows = self.service.db().all(sql, args![now_ms, free]).await?;
        let is_full = i64::try_from(rows.len()).unwrap_or(i64::MAX) == free;
        for row in rows {
            claimed.extend(self.take(now_ms, row.int(0)?).await?);
        }
        let sql = "SELECT min(mail_due_ms) FROM conversations WHERE mail_due_ms IS NOT NULL";
        let due_ms = self.service.db().one(sql, args![]).await?.optional_int(0)?;
        let next_ms = [due_ms, self.next_attempt_ms().await?].into_iter().flatten().min();
        // A full batch that led to no e-mail: the rest is due.
        Ok((claimed, if is_full { next_ms.map(|next_ms| next_ms.min(now_ms)) } else { next_ms }))
    }

    async fn send(self: Arc<Self>, claimed: Claimed, now_ms: i64) -> Result<(), DbError> {
        let mail = compose(&self.service, &claimed).await?;
        let recipient = mail.as_ref().map(|mail| mail.to.clone());
        let outcome = match mail {
            Some(mail) => {
                let outcome = self.mailer.send_to_visitor(mail).await;
                self.service.0.metrics.mail(if outcome.is_ok() { "sent" } else { "failed" });
                self.pause.observe(now_ms, &outcome);
                outcome
            }
            None => Ok(()),
        };
        transaction!(self.service.db(), |tx| {
            outcome::store(tx, now_ms, &claimed, recipient.as_deref(), outcome).await
        })
        .await
    }
}

impl ReplyQueue {
    async fn end_abandoned(&self, now_ms: i64) -> Result<(), DbError> {
        let sql = "SELECT 1 FROM reply_mails WHERE status = 'sending' AND next_ms <= $1 LIMIT 1";
        if self.service.db().optional(sql, args![now_ms]).await?.is_none() {
            return Ok(());
        }
        transaction!(self.service.db(), |tx| outcome::end_abandoned(tx, now_ms).await).await
    }

    async fn next_attempt_ms(&self) -> Result<Option<i64>, DbError> {
        let sql = "SELECT min(next_ms) FROM reply_mails WHERE status = 'waiting'";
        self.service.db().one(sql, args![]).await?.optional_int(0)
    }

    /// Claims the replies of a conversation, unless they are not to be mailed.
    async fn take(&self, now_ms: i64, no: i64) -> Result<Option<Claimed>, DbError> {
        let (db, service) = (self.service.db(), self.service.clone());
        let looked: Result<_, DbError> =
            transaction!(db, |tx| due::look(tx, &service, now_ms, no).await).await;
        let Some(candidate) = looked? else { return Ok(None) };
        let reason = if candidate.is_stopped() {
            Some(Event::MailStopped)
        } else {
            match self.count(&candidate).await {
                Ok(()) => None,
                Err(ApiError::RateLimited { .. }) => Some(Event::MailLimited),
                // It stays due.
                Err(error) => {
                    warn!("an e-mail with replies cannot be counted: {error}");
                    return Ok(None);
                }
            }
        };
        let service = self.service.clone();
        transaction!(db, |tx| match reason {
            Some(reason) => due::refuse(tx, now_ms, &candidate, reason).await.map(|()| None),
            None => due::claim(tx, &service, now_ms, &candidate).await,
        })
        .await
    }

    /// Counts an e-mail. It is an error if somebody has had as many as they may.
    async fn count(&self, candidate: &due::Candidate) -> Result<(), ApiError> {
        let (rates, email) = (&self.service.0.rates, &candidate.email);
        let (tenant_id, site_id) = (candidate.tenant_id(), candidate.site_id());
        rates.take_reply_mail(&self.service, tenant_id, site_id, email, candidate.proved).await
    }
}
