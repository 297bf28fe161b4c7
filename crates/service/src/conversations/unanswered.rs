//! The messages of visitors that the AI could not answer.

use chat_protocol::admin::{AnswerOutcome, UnansweredQuestion, UnansweredQuestions};

use super::announce::Announcer;
use super::report::Scope;
use super::{Conversation, Status};
use crate::Service;
use crate::clock::iso;
use crate::db::{Db, DbError, Tx, args};
use crate::notify::push::Cause;
use crate::sites::Site;

/// Lets the visitor, whom the AI could not answer, wait for a person, and tells operators, once. The caller
/// stores the conversation.
pub(crate) async fn await_person(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &mut Conversation,
) -> Result<(), DbError> {
    if conversation.status == Status::Waiting {
        return Ok(());
    }
    conversation.set_status(now_ms, Status::Waiting);
    let announcer = Announcer::new(now_ms, site, conversation);
    announcer.waiting(tx, service).await?;
    // The operator who has the conversation was told of the message itself.
    if conversation.assignee_id.is_none() {
        announcer.alert(tx, service, Cause::Unanswered).await?;
    }
    Ok(())
}

/// Returns the beginnings of the latest messages without an answer, of those before the one with the number
/// `before`.
pub(crate) async fn unanswered(
    db: &Db,
    scope: Scope<'_>,
    before: Option<i64>,
    limit: i64,
) -> Result<UnansweredQuestions, DbError> {
    let sql = "SELECT m.no, c.site_id, c.id, m.seq, substr(m.content, 1, 2000), m.outcome, m.created_ms
        FROM conversations c JOIN messages m ON m.conversation_no = c.no
        WHERE c.tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR c.site_id = $2)
            AND m.outcome IN ('could_not_answer', 'failed') AND m.no < $3
        ORDER BY m.no DESC LIMIT $4";
    let before = before.unwrap_or(i64::MAX);
    let rows = db.all(sql, args![scope.tenant_id, scope.site_id, before, limit]).await?;
    let mut found = UnansweredQuestions::default();
    for row in &rows {
        found.questions.push(UnansweredQuestion {
            site_id: row.text(1)?,
            conversation_id: row.text(2)?,
            sequence: row.int(3)?,
            text: row.text(4)?,
            outcome: AnswerOutcome::parse(&row.text(5)?),
            created_at: iso(row.int(6)?),
        });
    }
    if i64::try_from(rows.len()) == Ok(limit) {
        found.next_before = rows.last().map(|row| row.int(0)).transpose()?;
    }
    Ok(found)
}
