//! Conversations as lists and open consoles show them.

use std::collections::HashMap;

use chat_protocol::admin::{
    ConversationEvent, ConversationSummary, LastMessage, LeadView, Message, Source, State, Visitor,
};
use chat_protocol::{ConversationId, VisitorId};
use serde::Deserialize;

use super::{
    COLUMN_COUNT, COLUMNS, Conversation, NO_CONVERSATION, Status, StoredMessage, last_of_each, notes,
};
use crate::clock::iso;
use crate::db::{Arg, Db, DbError, MAX_NUMBERS, Row, args, placeholders};
use crate::error::ApiError;

/// Maximum characters of the last message in a list.
const MAX_EXCERPT: usize = 200;
/// The messages and the notes that an event shows.
const EVENT_MESSAGES: i64 = 5;

/// A conversation with its last message and its labels.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) conversation: Conversation,
    last: Option<LastMessage>,
    labels: Vec<String>,
}

/// Returns a query of conversations `c`, as [`Listed::read`] reads them.
pub(super) fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!(
        "SELECT {COLUMNS}, m.role, substr(m.content, 1, 2000), m.created_ms, m.operator_id,
             m.operator_name, (SELECT string_agg(l.label_id, ' ' ORDER BY l.label_id) FROM conversation_labels l
              WHERE l.conversation_no = c.no)
         FROM conversations c LEFT JOIN messages m ON m.conversation_no = c.no AND m.seq = c.last_seq {rest}"
    ))
}

impl Listed {
    pub(super) fn read(row: &Row) -> Result<Self, DbError> {
        let conversation = super::read(row)?;
        let last = match row.optional_text(COLUMN_COUNT)? {
            None => None,
            Some(role) => Some(LastMessage {
                role,
                text: excerpt(&row.text(COLUMN_COUNT + 1)?),
                created_at: iso(row.int(COLUMN_COUNT + 2)?),
                operator_id: row.optional_text(COLUMN_COUNT + 3)?,
                operator_name: row.optional_text(COLUMN_COUNT + 4)?,
            }),
        };
        let labels = row.optional_text(COLUMN_COUNT + 5)?.unwrap_or_default();
        let labels = labels.split(' ').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Ok(Self { conversation, last, labels })
    }

    /// Returns the parameter `before` of the page that begins after this conversation.
    pub(crate) fn cursor(&self) -> String {
        format!("{}.{}", self.conversation.sort_key, self.conversation.no)
    }

    pub(crate) fn summary(&self, now_ms: i64) -> ConversationSummary {
        let conversation = &self.conversation;
        let lead = conversation.notes.lead(&conversation.profile);
        ConversationSummary {
            id: conversation.id.as_str().to_owned(),
            site_id: conversation.site_id.clone(),
            status: match conversation.status {
                Status::Open => State::Open,
                Status::Waiting => State::Waiting,
                Status::Closed => State::Closed,
            },
            snoozed_until: Some(conversation.snoozed_until_ms).filter(|until| *until > now_ms).map(iso),
            blocked: conversation.blocked,
            assignee_id: conversation.assignee_id.clone(),
            ai_paused_until: Some(conversation.ai_paused_until_ms).filter(|until| *until > 0).map(iso),
            visitor: visitor(conversation),
            locale: conversation.locale.clone(),
            source_page: conversation.source_page.clone(),
            lead: LeadView {
                score: conversation.score,
                has_contact: lead.has_contact,
                needs_handoff: lead.needs_handoff,
                summary: lead.summary,
            },
            labels: self.labels.clone(),
            unread: conversation.unread,
            message_count: conversation.last_seq,
            seen_sequence: conversation.seen_seq,
            last_message: self.last.clone(),
            created_at: iso(conversation.created_ms),
            updated_at: iso(conversation.updated_ms),
            closed_at: conversation.closed_ms.map(iso),
            waiting_since: conversation.waiting_since_ms.map(iso),
        }
    }
}

/// Returns the visitor's profile. Contact details found in messages fill in missing fields, except those that
/// an operator has edited.
fn visitor(conversation: &Conversation) -> Visitor {
    let (profile, notes) = (conversation.profile.clone(), &conversation.notes);
    let found = |name: &str, value: &Option<String>| {
        value.clone().filter(|_| !conversation.edited.iter().any(|edited| edited == name))
    };
    Visitor {
        visitor_id: profile.visitor_id.as_ref().map(VisitorId::as_str).map(str::to_owned),
        name: profile.name,
        email: profile.email.or_else(|| found("email", &notes.email)),
        phone: profile.phone.or_else(|| found("phone", &notes.phone)),
        company: profile.company,
        wechat: profile.wechat,
        whatsapp: profile.whatsapp,
        country: profile.country,
        verified_fields: conversation.verified.clone(),
    }
}

/// Returns the beginning of a text in one line.
fn excerpt(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_EXCERPT).collect()
}

/// Returns a conversation of a tenant; one of another tenant does not exist.
pub(crate) async fn of_tenant(db: &Db, tenant_id: &str, id: &ConversationId) -> Result<Listed, ApiError> {
    let found = all_of_tenant(db, tenant_id, &[id.as_str().to_owned()]).await?;
    found.into_iter().next().ok_or(NO_CONVERSATION)
}

/// Returns those of these conversations that the tenant has, at most [`MAX_NUMBERS`].
async fn all_of_tenant(db: &Db, tenant_id: &str, ids: &[String]) -> Result<Vec<Listed>, DbError> {
    // One of two lengths, so that the databases prepare few statements.
    let count = if ids.len() > 1 { MAX_NUMBERS } else { 1 };
    let mut values = args![tenant_id];
    let Some(last) = ids.last() else { return Ok(Vec::new()) };
    values.extend(ids.iter().chain(std::iter::repeat(last)).take(count).map(Arg::from));
    let rest = format!(
        "JOIN sites s ON s.id = c.site_id
         WHERE s.tenant_id = $1 AND s.deleted_ms IS NULL AND c.id IN ({})",
        placeholders(2, count)
    );
    db.all(select(&rest), values).await?.iter().map(Listed::read).collect()
}

/// Returns what open consoles are told of changed conversations, by their ids. Those that the tenant does not
/// have are missing.
pub(crate) async fn events(
    db: &Db,
    now_ms: i64,
    tenant_id: &str,
    ids: &[String],
) -> Result<HashMap<String, ConversationEvent>, DbError> {
    let mut events = HashMap::new();
    for ids in ids.chunks(MAX_NUMBERS) {
        let listed = all_of_tenant(db, tenant_id, ids).await?;
        let numbers: Vec<(i64, &ConversationId)> =
            listed.iter().map(|listed| (listed.conversation.no, &listed.conversation.id)).collect();
        let mut messages = last_of_each(db, &numbers, EVENT_MESSAGES).await?;
        let mut notes = notes::last_of_each(db, &numbers, EVENT_MESSAGES).await?;
        for listed in &listed {
            let no = listed.conversation.no;
            let event = ConversationEvent {
                conversation: listed.summary(now_ms),
                messages: messages.remove(&no).unwrap_or_default().iter().map(message).collect(),
                notes: notes.remove(&no).unwrap_or_default(),
            };
            events.insert(event.conversation.id.clone(), event);
        }
    }
    Ok(events)
}

/// A stored source: an object, or the id of a passage in messages from before sources had titles.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredSource {
    Named(Source),
    Id(String),
}

/// Returns a message as operators see it.
pub(crate) fn message(stored: &StoredMessage) -> Message {
    let sources: Vec<StoredSource> =
        stored.sources.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let sources = sources.into_iter().map(|source| match source {
        StoredSource::Named(source) => source,
        StoredSource::Id(title) => Source { title, location: None },
    });
    Message {
        id: stored.message.id.as_ref().map(|id| id.as_str().to_owned()),
        sequence: stored.seq,
        role: stored.message.role.as_str().to_owned(),
        content: stored.message.content.clone(),
        created_at: stored.message.created_at.clone(),
        operator_id: stored.operator_id.clone(),
        operator_name: stored.message.author_name.clone(),
        idempotency_key: stored.key.clone(),
        sources: sources.collect(),
        outcome: stored.outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_bounded_line() {
        assert_eq!(excerpt("  One\r\n two\u{0}three "), "One two three");
        assert_eq!(excerpt(&"ä".repeat(500)).chars().count(), MAX_EXCERPT);
    }
}
