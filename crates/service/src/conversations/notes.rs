//! Private notes of operators, and records of what happened. Visitors never see them.

use std::collections::HashMap;

use chat_protocol::ConversationId;
use chat_protocol::admin::Note;

use super::{Author, Conversation};
use crate::clock::iso;
use crate::db::{Db, DbError, Numbers, Row, Tx, args};
use crate::secrets::new_id;

/// Maximum notes of one read.
const MAX_READ: i64 = 200;

/// The kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// Written by an operator.
    Note,
    /// A record of what happened.
    Activity,
}

impl NoteKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Activity => "activity",
        }
    }
}

/// Adds a note to a conversation. `key` is the idempotency key of the request.
pub(crate) async fn add(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    kind: NoteKind,
    author: Option<&Author>,
    text: &str,
    key: Option<&str>,
) -> Result<Note, DbError> {
    let note = Note {
        id: new_id("note"),
        kind: kind.as_str().to_owned(),
        text: text.to_owned(),
        operator_name: author.map(|author| author.name.clone()),
        after_sequence: conversation.last_seq,
        created_at: iso(now_ms),
        idempotency_key: key.map(str::to_owned),
    };
    tx.execute(
        "INSERT INTO notes
             (id, conversation_no, kind, content, operator_id, operator_name, after_seq, created_ms, key)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args![
            &note.id,
            conversation.no,
            kind.as_str(),
            text,
            author.map(|author| author.id.clone()),
            note.operator_name.clone(),
            note.after_sequence,
            now_ms,
            note.idempotency_key.clone()
        ],
    )
    .await?;
    Ok(note)
}

/// Records what an operator did.
pub(crate) async fn record(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    author: &Author,
    text: &str,
) -> Result<(), DbError> {
    add(tx, now_ms, conversation, NoteKind::Activity, Some(author), text, None).await.map(drop)
}

const COLUMNS: &str =
    "SELECT n.id, n.kind, n.content, n.operator_name, n.after_seq, n.created_ms, n.conversation_no, n.key";

fn read(row: &Row) -> Result<Note, DbError> {
    Ok(Note {
        id: row.text(0)?,
        kind: row.text(1)?,
        text: row.text(2)?,
        operator_name: row.optional_text(3)?,
        after_sequence: row.int(4)?,
        created_at: iso(row.int(5)?),
        idempotency_key: row.optional_text(7)?,
    })
}

/// Returns the notes that follow the messages from the number `first` to the number `last`, oldest first.
/// Those before the first message belong to the number 0.
pub(crate) async fn between(
    db: &Db,
    conversation_no: i64,
    first: i64,
    last: i64,
) -> Result<Vec<Note>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} FROM notes n WHERE n.conversation_no = $1 AND n.after_seq >= $2 AND n.after_seq <= $3
         ORDER BY n.no DESC LIMIT $4"
    ));
    let rows = db.all(sql, args![conversation_no, first, last, MAX_READ]).await?;
    rows.iter().rev().map(read).collect()
}

/// Returns the last `limit` notes of each of these conversations, oldest first, by their numbers.
pub(super) async fn last_of_each(
    db: &Db,
    conversations: &[(i64, &ConversationId)],
    limit: i64,
) -> Result<HashMap<i64, Vec<Note>>, DbError> {
    let mut found: HashMap<i64, Vec<Note>> = HashMap::new();
    let Some(numbers) = Numbers::of(conversations.iter().map(|(no, _)| *no)) else { return Ok(found) };
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} FROM conversations c JOIN notes n ON n.conversation_no = c.no AND n.no IN
             (SELECT l.no FROM notes l WHERE l.conversation_no = c.no ORDER BY l.no DESC LIMIT $1)
         WHERE c.no IN ({}) ORDER BY n.no",
        numbers.placeholders(2)
    ));
    for row in db.all(sql, numbers.args(args![limit])).await? {
        found.entry(row.int(6)?).or_default().push(read(&row)?);
    }
    Ok(found)
}
