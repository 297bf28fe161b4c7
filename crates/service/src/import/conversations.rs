//! Conversations, messages and events.

use std::collections::HashMap;

use chat_protocol::{ConversationId, EventBatch, IdempotencyKey, Role, Value, VisitorEvent, VisitorProfile};

use super::{json, time};
use crate::conversations::{Status, message_id};
use crate::db::{Row, Tx, args};
use crate::demo_site::{OPERATOR_ID, OPERATOR_NAME, SITE_ID, TENANT_ID};
use crate::error::ApiError;
use crate::knowledge::search_index::put_message;
use crate::lead::LeadNotes;
use crate::visitors;

/// Conversations and events that are read at a time.
const BATCH: i64 = 500;

/// The messages that were imported, by their ids in the sandbox.
#[derive(Debug, Default)]
pub(super) struct Imported {
    /// The new ids.
    pub(super) ids: HashMap<String, String>,
    /// By idempotency key.
    pub(super) by_key: HashMap<String, ImportedMessage>,
}

/// A visitor's message that was sent with a key.
#[derive(Clone, Debug)]
pub(super) struct ImportedMessage {
    pub(super) conversation_id: ConversationId,
    pub(super) conversation_no: i64,
    pub(super) seq: i64,
}

pub(super) async fn import_conversations(tx: &mut Tx, now_ms: i64) -> Result<Imported, ApiError> {
    let mut imported = Imported::default();
    let mut after = 0;
    loop {
        let rows = tx
            .all(
                "SELECT position, id, created_at, visitor, locale, source_page, notes, unread
                 FROM sandbox_conversations WHERE position > $1 ORDER BY position LIMIT $2",
                args![after, BATCH],
            )
            .await?;
        let Some(last) = rows.last() else { return Ok(imported) };
        after = last.int(0)?;
        for row in &rows {
            import_conversation(tx, now_ms, row, &mut imported).await?;
        }
    }
}

async fn import_conversation(
    tx: &mut Tx,
    now_ms: i64,
    row: &Row,
    imported: &mut Imported,
) -> Result<(), ApiError> {
    let id = ConversationId::from(row.text(1)?);
    let created_ms = time(&row.text(2)?, now_ms);
    let profile = VisitorProfile::try_from(json(&row.text(3)?)).unwrap_or_default();
    let notes: LeadNotes = serde_json::from_str(&row.text(6)?).unwrap_or_default();
    let messages = tx
        .all(
            "SELECT id, role, content, created_at, key FROM sandbox_messages WHERE conversation = $1
             ORDER BY position",
            args![&id],
        )
        .await?;
    let updated_ms = match messages.last() {
        Some(last) => time(&last.text(3)?, created_ms),
        None => created_ms,
    };
    let visitor_no = match &profile.visitor_id {
        Some(visitor) => {
            Some(visitors::upsert(tx, updated_ms, SITE_ID, visitor.as_str(), &profile, None).await?.no)
        }
        None => None,
    };
    let waiting = notes.wants_person();
    let status = if waiting { Status::Waiting } else { Status::Open };
    #[expect(clippy::cast_possible_truncation, reason = "a score is 0 to 100")]
    let score = notes.lead(&profile).score.map_or(0, |score| score.round() as i64);
    let stored = tx
        .one(
            "INSERT INTO conversations (id, site_id, visitor_no, status, locale, source_page, profile, notes,
                 score, unread, last_seq, created_ms, updated_ms, waiting_since_ms, tenant_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING no",
            args![
                &id,
                SITE_ID,
                visitor_no,
                status.as_str(),
                row.optional_text(4)?,
                row.optional_text(5)?,
                &Value::from(&profile),
                serde_json::to_string(&notes).unwrap_or_default(),
                score,
                row.int(7)?,
                i64::try_from(messages.len()).unwrap_or(i64::MAX),
                created_ms,
                updated_ms,
                waiting.then_some(updated_ms),
                TENANT_ID,
            ],
        )
        .await?;
    let no = stored.int(0)?;
    let mut before = created_ms;
    let mut asked = None;
    let mut last_reply = 0;
    for (seq, message) in (1_i64..).zip(&messages) {
        let role = Role::from(message.text(1)?.as_str());
        let content = message.text(2)?;
        let key = message.optional_text(4)?;
        before = time(&message.text(3)?, before);
        let by_operator = role == Role::Operator;
        let reply_to = asked.take().filter(|_| role == Role::Assistant);
        let stored = tx
            .one(
                "INSERT INTO messages (conversation_no, seq, role, content, operator_id, operator_name,
                     created_ms, key, reply_to)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING no",
                args![
                    no,
                    seq,
                    role.as_str(),
                    &content,
                    by_operator.then_some(OPERATOR_ID),
                    by_operator.then_some(OPERATOR_NAME),
                    before,
                    key.clone(),
                    reply_to,
                ],
            )
            .await?;
        put_message(tx, SITE_ID, stored.int(0)?, &content).await?;
        imported.ids.insert(message.text(0)?, message_id(&id, seq).as_str().to_owned());
        if role != Role::Visitor {
            last_reply = seq;
        }
        if role == Role::Visitor {
            asked = Some(seq);
            if let Some(key) = key {
                let message = ImportedMessage { conversation_id: id.clone(), conversation_no: no, seq };
                imported.by_key.insert(key, message);
            }
        }
    }
    // Everything that the sandbox had shown counts as seen.
    let seen = "UPDATE conversations SET last_reply_seq = $1, seen_seq = $1 WHERE no = $2";
    tx.execute(seen, args![last_reply, no]).await?;
    Ok(())
}

pub(super) async fn import_events(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let mut after = 0;
    loop {
        let rows = tx
            .all(
                "SELECT position, body, received_at, key FROM sandbox_events WHERE position > $1
                 ORDER BY position LIMIT $2",
                args![after, BATCH],
            )
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.int(0)?;
        for row in &rows {
            let Ok(event) = VisitorEvent::try_from(json(&row.text(1)?)) else { continue };
            let received_ms = time(&row.text(2)?, now_ms);
            let key = row.optional_text(3)?.and_then(|key| IdempotencyKey::new(key).ok());
            let batch = EventBatch { events: vec![event], refused: Vec::new() };
            visitors::events::record(tx, received_ms, SITE_ID, &batch, key.as_ref()).await?;
        }
    }
}
