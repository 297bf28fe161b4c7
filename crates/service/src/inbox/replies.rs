//! Canned replies. Everybody who answers visitors may write them.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, put};
use chat_protocol::admin::{CannedReply, CannedReplyText, Empty};
use chat_protocol::is_language_tag;

use super::shared_list::{Change, SharedList};
use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::conversations::desk::check_text;
use crate::db::{Arg, Row, args};
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;
use crate::secrets::new_id;

/// Maximum characters of a shortcut.
const MAX_SHORTCUT: usize = 40;
static REPLIES: SharedList = SharedList {
    name: "reply",
    count: "SELECT count(*) FROM canned_replies WHERE tenant_id = $1",
    taken: "SELECT 1 FROM canned_replies WHERE tenant_id = $1 AND shortcut_key = $2 AND id <> $3",
    insert: "INSERT INTO canned_replies (id, tenant_id, shortcut_key, shortcut, content, locale)
             VALUES ($1, $2, $3, $4, $5, $6)",
    update: "UPDATE canned_replies SET shortcut_key = $3, shortcut = $4, content = $5, locale = $6
             WHERE id = $1 AND tenant_id = $2",
    delete: "DELETE FROM canned_replies WHERE id = $1 AND tenant_id = $2",
    max: 1000,
    is_full: "There are 1000 canned replies: delete one.",
    is_taken: "Another canned reply has this shortcut.",
    missing: "This canned reply",
};

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/replies", get(list).post(create))
        .route("/replies/{reply}", put(change).delete(remove))
}

/// Lists the canned replies, by their shortcuts.
#[utoipa::path(get, path = "/replies", tag = "inbox", responses((status = 200, body = Vec<CannedReply>)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let sql =
        "SELECT id, shortcut, content, locale FROM canned_replies WHERE tenant_id = $1 ORDER BY shortcut_key";
    let rows = service.db().all(sql, args![&operator.tenant_id]).await?;
    let read = |row: &Row| {
        let (id, shortcut, text) = (row.text(0)?, row.text(1)?, row.text(2)?);
        Ok(CannedReply { id, shortcut, text, locale: row.optional_text(3)? })
    };
    success(&rows.iter().map(read).collect::<Result<Vec<_>, ApiError>>()?)
}

fn checked(reply: CannedReplyText) -> Result<CannedReplyText, ApiError> {
    let invalid = |problem: &str| ApiError::InvalidRequest(problem.to_owned());
    let CannedReplyText { shortcut, text, locale } = reply;
    let is_shortcut = (1..=MAX_SHORTCUT).contains(&shortcut.chars().count())
        && shortcut.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_');
    if !is_shortcut {
        return Err(invalid("invalid shortcut: expected 1 to 40 letters, digits, - and _."));
    }
    let locale = locale.filter(|tag| !tag.is_empty());
    if locale.as_deref().is_some_and(|tag| !is_language_tag(tag)) {
        return Err(invalid("invalid locale: expected a language tag, such as de-AT, or nothing."));
    }
    Ok(CannedReplyText { shortcut, text: check_text(&text)?, locale })
}

fn values(reply: &CannedReply) -> Vec<Arg> {
    args![&reply.shortcut, &reply.text, reply.locale.clone()]
}

/// Creates a canned reply.
#[utoipa::path(post, path = "/replies", tag = "inbox", request_body = CannedReplyText,
    responses((status = 200, body = CannedReply), (status = 409, description = "The shortcut is taken")))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Body(reply): Body<CannedReplyText>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::AnswerVisitors)?;
    let CannedReplyText { shortcut, text, locale } = checked(reply)?;
    let reply = CannedReply { id: new_id("reply"), shortcut, text, locale };
    REPLIES.write(&service, actor, &reply.id, Change::Create(reply.shortcut.clone(), values(&reply))).await?;
    success(&reply)
}

/// Changes a canned reply.
#[utoipa::path(put, path = "/replies/{reply}", tag = "inbox", params(("reply" = String, Path)),
    request_body = CannedReplyText,
    responses((status = 200, body = CannedReply), (status = 409, description = "The shortcut is taken")))]
pub(super) async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(reply): Body<CannedReplyText>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::AnswerVisitors)?;
    let CannedReplyText { shortcut, text, locale } = checked(reply)?;
    let reply = CannedReply { id, shortcut, text, locale };
    REPLIES.write(&service, actor, &reply.id, Change::Update(reply.shortcut.clone(), values(&reply))).await?;
    success(&reply)
}

/// Deletes a canned reply.
#[utoipa::path(delete, path = "/replies/{reply}", tag = "inbox", params(("reply" = String, Path)),
    responses((status = 200, body = Empty)))]
pub(super) async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::AnswerVisitors)?;
    REPLIES.write(&service, actor, &id, Change::Delete).await?;
    Ok(done())
}
