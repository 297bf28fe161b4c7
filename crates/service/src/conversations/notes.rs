//! Private notes of operators, and records of what happened. Visitors never see them.

use std::collections::HashMap;

use chat_protocol::ConversationId;
use chat_protocol::admin::{Activity, Note};

use super::search_text::search_text;
use super::{Author, Conversation, Status};
use crate::clock::iso;
use crate::db::{Db, DbError, Numbers, Row, Tx, args};
use crate::secrets::new_id;

/// Maximum notes of one read.
const MAX_READ: i64 = 200;

/// The columns of `kind`.
const NOTE: &str = "note";
const ACTIVITY: &str = "activity";

/// What happened to a conversation. It is stored as a fact: the reader writes the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// The state was changed.
    Status(Status),
    /// An operator with this name became responsible.
    Assigned(&'a str),
    Unassigned,
    AiPaused,
    AiResumed,
    /// Put aside until a time, in RFC 3339.
    Snoozed(&'a str),
    SnoozeEnded,
    /// The conversation has these labels now.
    Labeled(&'a str),
    LabelsRemoved,
    Blocked,
    Unblocked,
    TookOver,
    /// The SMTP server has accepted an e-mail with replies to this address.
    Mailed(&'a str),
    /// Replies were not mailed, for this reason.
    MailFailed(&'a str),
    /// It is not known whether the SMTP server has accepted an e-mail with replies. It is not sent again.
    MailUnknown,
    /// Replies were not mailed, because the address, the site or the tenant has had as many as it may.
    MailLimited,
    /// Replies were not mailed, because the visitor wants no e-mails of the site.
    MailStopped,
    /// The visitor has opened the link of an e-mail with replies.
    MailOpened,
}

impl<'a> Event<'a> {
    /// Returns the name of the event, and its detail.
    fn parts(self) -> (&'static str, Option<&'a str>) {
        match self {
            Self::Status(Status::Open) => ("opened", None),
            Self::Status(Status::Waiting) => ("waiting", None),
            Self::Status(Status::Closed) => ("closed", None),
            Self::Assigned(name) => ("assigned", Some(name)),
            Self::Unassigned => ("unassigned", None),
            Self::AiPaused => ("ai_paused", None),
            Self::AiResumed => ("ai_resumed", None),
            Self::Snoozed(until) => ("snoozed", Some(until)),
            Self::SnoozeEnded => ("snooze_ended", None),
            Self::Labeled(names) => ("labeled", Some(names)),
            Self::LabelsRemoved => ("labels_removed", None),
            Self::Blocked => ("blocked", None),
            Self::Unblocked => ("unblocked", None),
            Self::TookOver => ("took_over", None),
            Self::Mailed(address) => ("mailed", Some(address)),
            Self::MailFailed(reason) => ("mail_failed", Some(reason)),
            Self::MailUnknown => ("mail_unknown", None),
            Self::MailLimited => ("mail_limited", None),
            Self::MailStopped => ("mail_stopped", None),
            Self::MailOpened => ("mail_opened", None),
        }
    }

    /// Returns the English text, for exports and for clients that do not know the event.
    fn text(self) -> String {
        match self {
            Self::Status(status) => status.as_str().to_owned(),
            Self::Assigned(name) => format!("assigned to {name}"),
            Self::Unassigned => "unassigned".to_owned(),
            Self::AiPaused => "AI paused".to_owned(),
            Self::AiResumed => "AI resumed".to_owned(),
            Self::Snoozed(until) => format!("snoozed until {until}"),
            Self::SnoozeEnded => "snooze ended".to_owned(),
            Self::Labeled(names) => format!("labels: {names}"),
            Self::LabelsRemoved => "labels removed".to_owned(),
            Self::Blocked => "visitor blocked".to_owned(),
            Self::Unblocked => "visitor unblocked".to_owned(),
            Self::TookOver => "took over".to_owned(),
            Self::Mailed(address) => format!("replies sent by e-mail to {address}"),
            Self::MailFailed(reason) => format!("e-mail not sent: {reason}"),
            Self::MailUnknown => "unclear whether the e-mail was sent".to_owned(),
            Self::MailLimited => "e-mail not sent: too many today".to_owned(),
            Self::MailStopped => "e-mail not sent: the visitor wants none".to_owned(),
            Self::MailOpened => "link in the e-mail opened".to_owned(),
        }
    }
}

/// Adds a note of an operator to a conversation. `key` is the idempotency key of the request.
pub(crate) async fn add(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    author: &Author,
    text: &str,
    key: Option<&str>,
) -> Result<Note, DbError> {
    let note = Note {
        kind: NOTE.to_owned(),
        text: text.to_owned(),
        idempotency_key: key.map(str::to_owned),
        ..Note::default()
    };
    insert(tx, now_ms, conversation, Some(author), note).await
}

/// Records what happened, and who did it; `None` for what happened by itself.
pub(crate) async fn record(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    author: Option<&Author>,
    event: Event<'_>,
) -> Result<(), DbError> {
    let (name, detail) = event.parts();
    let note = Note {
        kind: ACTIVITY.to_owned(),
        text: event.text(),
        activity: Some(Activity { event: name.to_owned(), detail: detail.map(str::to_owned) }),
        ..Note::default()
    };
    insert(tx, now_ms, conversation, author, note).await.map(drop)
}

/// Stores a note below the last message, and returns it with its id.
async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    author: Option<&Author>,
    note: Note,
) -> Result<Note, DbError> {
    let note = Note {
        id: new_id("note"),
        operator_name: author.map(|author| author.name.clone()),
        after_sequence: conversation.last_seq,
        created_at: iso(now_ms),
        ..note
    };
    let activity = note.activity.clone();
    let (event, detail) = activity.map_or((None, None), |activity| (Some(activity.event), activity.detail));
    tx.execute(
        "INSERT INTO notes
             (id, conversation_no, kind, content, operator_id, operator_name, after_seq, created_ms, key, event,
              detail, search_text)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        args![
            &note.id,
            conversation.no,
            &note.kind,
            &note.text,
            author.map(|author| author.id.clone()),
            note.operator_name.clone(),
            note.after_sequence,
            now_ms,
            note.idempotency_key.clone(),
            event,
            detail,
            search_text([note.text.as_str()])
        ],
    )
    .await?;
    Ok(note)
}

const COLUMNS: &str =
    "SELECT n.id, n.kind, n.content, n.operator_name, n.after_seq, n.created_ms, n.conversation_no, n.key, n.event,
         n.detail";

fn read(row: &Row) -> Result<Note, DbError> {
    let detail = row.optional_text(9)?;
    let activity = row.optional_text(8)?.map(|event| Activity { event, detail });
    Ok(Note {
        id: row.text(0)?,
        kind: row.text(1)?,
        text: row.text(2)?,
        activity,
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
