//! The changes that operators make to a conversation. Each is recorded in the conversation's activity.

use std::collections::BTreeSet;

use chat_protocol::ConversationId;
use chat_protocol::admin::{ConversationChange, State};
use jiff::Timestamp;

use super::announce::Announcer;
use super::desk::working_operator;
use super::notes::{self, Event};
use super::{Author, Conversation, Status, lock, profile, store};
use crate::clock::iso;
use crate::db::{DbError, Tx, args};
use crate::error::ApiError;
use crate::sites::Site;

/// Maximum labels of a conversation.
const MAX_LABELS: usize = 20;
/// The longest time for which a conversation is put aside: a year.
const MAX_SNOOZE_MS: i64 = 366 * 24 * 60 * 60 * 1000;

/// The transaction of a change.
struct Changing<'a> {
    tx: &'a mut Tx,
    now_ms: i64,
    site: &'a Site,
    author: &'a Author,
    conversation: Conversation,
}

/// Changes a conversation, and returns it.
pub(crate) async fn change(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    id: &ConversationId,
    author: &Author,
    change: &ConversationChange,
) -> Result<Conversation, ApiError> {
    let conversation = lock(tx, &site.id, id).await?;
    let mut changing = Changing { tx, now_ms, site, author, conversation };
    if let Some(status) = change.status {
        changing.set_status(status).await?;
    }
    if let Some(assignee) = &change.assignee_id {
        changing.assign(assignee).await?;
    }
    if let Some(paused) = change.ai_paused {
        changing.pause_ai(paused).await?;
    }
    if let Some(until) = &change.snoozed_until {
        changing.snooze(until).await?;
    }
    if let Some(labels) = &change.labels {
        changing.label(labels).await?;
    }
    if let Some(blocked) = change.blocked {
        changing.block(blocked).await?;
    }
    match change.read {
        Some(true) => changing.conversation.unread = 0,
        Some(false) => changing.conversation.unread = changing.conversation.unread.max(1),
        None => {}
    }
    let Changing { tx, conversation, .. } = changing;
    store(tx, &conversation).await?;
    tx.wake(conversation.wake(&site.tenant_id));
    Ok(conversation)
}

impl Changing<'_> {
    async fn record(&mut self, event: Event<'_>) -> Result<(), DbError> {
        notes::record(self.tx, self.now_ms, &self.conversation, Some(self.author), event).await
    }

    async fn set_status(&mut self, state: State) -> Result<(), ApiError> {
        let status = match state {
            State::Open => Status::Open,
            State::Waiting => Status::Waiting,
            State::Closed => Status::Closed,
        };
        if status == self.conversation.status {
            return Ok(());
        }
        let was_closed = self.conversation.status == Status::Closed;
        let is_closed = status == Status::Closed;
        self.conversation.set_status(self.now_ms, status);
        let announcer = Announcer::new(self.now_ms, self.site, &self.conversation);
        if was_closed || is_closed {
            announcer.closed(self.tx, is_closed).await?;
        }
        if status != Status::Waiting {
            announcer.answered(self.tx).await?;
        }
        Ok(self.record(Event::Status(status)).await?)
    }

    async fn assign(&mut self, assignee: &str) -> Result<(), ApiError> {
        let name = match assignee {
            "" => None,
            id => {
                let name = working_operator(self.tx, &self.site.tenant_id, id).await?;
                Some(name.ok_or(ApiError::NotFound("This operator"))?)
            }
        };
        let assignee = Some(assignee.to_owned()).filter(|id| !id.is_empty());
        if assignee == self.conversation.assignee_id {
            return Ok(());
        }
        self.conversation.assignee_id = assignee;
        let announcer = Announcer::new(self.now_ms, self.site, &self.conversation);
        announcer.assigned(self.tx, name.as_deref()).await?;
        Ok(self.record(name.as_deref().map_or(Event::Unassigned, Event::Assigned)).await?)
    }

    async fn pause_ai(&mut self, paused: bool) -> Result<(), ApiError> {
        if paused {
            self.conversation.pause_ai();
        } else {
            self.conversation.ai_paused_until_ms = 0;
        }
        Ok(self.record(if paused { Event::AiPaused } else { Event::AiResumed }).await?)
    }

    async fn snooze(&mut self, until: &str) -> Result<(), ApiError> {
        let until_ms = match until {
            "" => 0,
            time => snooze_end(self.now_ms, time)?,
        };
        if until_ms > 0 && self.conversation.status == Status::Closed {
            return Err(ApiError::Conflict("This conversation is closed: reopen it first.".to_owned()));
        }
        if until_ms == self.conversation.snoozed_until_ms {
            return Ok(());
        }
        self.conversation.snoozed_until_ms = until_ms;
        let until = iso(until_ms);
        Ok(self.record(if until_ms > 0 { Event::Snoozed(&until) } else { Event::SnoozeEnded }).await?)
    }

    async fn label(&mut self, labels: &[String]) -> Result<(), ApiError> {
        let labels: BTreeSet<&str> = labels.iter().map(String::as_str).collect();
        if labels.len() > MAX_LABELS {
            return Err(ApiError::InvalidRequest(format!("labels must have at most {MAX_LABELS} entries.")));
        }
        let no = self.conversation.no;
        let sql = "SELECT label_id FROM conversation_labels WHERE conversation_no = $1 ORDER BY label_id";
        let rows = self.tx.all(sql, args![no]).await?;
        let known: BTreeSet<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        let is_same = known.iter().map(String::as_str).eq(labels.iter().copied());
        if is_same {
            return Ok(());
        }
        self.tx.execute("DELETE FROM conversation_labels WHERE conversation_no = $1", args![no]).await?;
        let mut names: Vec<String> = Vec::new();
        for label in labels {
            let sql = "SELECT name FROM labels WHERE tenant_id = $1 AND id = $2";
            let row = self.tx.optional(sql, args![&self.site.tenant_id, label]).await?;
            names.push(row.ok_or(ApiError::NotFound("This label"))?.text(0)?);
            let sql = "INSERT INTO conversation_labels (conversation_no, label_id) VALUES ($1, $2)";
            self.tx.execute(sql, args![no, label]).await?;
        }
        let names = names.join(", ");
        Ok(self.record(if names.is_empty() { Event::LabelsRemoved } else { Event::Labeled(&names) }).await?)
    }

    async fn block(&mut self, blocked: bool) -> Result<(), ApiError> {
        if blocked == self.conversation.blocked {
            return Ok(());
        }
        profile::block(self.tx, self.site, &mut self.conversation, blocked).await?;
        self.record(if blocked { Event::Blocked } else { Event::Unblocked }).await?;
        if blocked { self.set_status(State::Closed).await } else { Ok(()) }
    }
}

/// Reads the time until which a conversation is put aside.
fn snooze_end(now_ms: i64, time: &str) -> Result<i64, ApiError> {
    let invalid = || {
        let problem = "invalid snoozedUntil: expected a time within a year, such as 2027-01-31T08:00:00Z.";
        ApiError::InvalidRequest(problem.to_owned())
    };
    let until: Timestamp = time.parse().map_err(|_| invalid())?;
    let until_ms = until.as_millisecond();
    if until_ms <= now_ms || until_ms > now_ms.saturating_add(MAX_SNOOZE_MS) {
        return Err(invalid());
    }
    Ok(until_ms)
}
