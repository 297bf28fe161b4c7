//! The admin API of an operator's own e-mails.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::settings::{EmailChoice, EmailPreferences};
use chat_protocol::{Value, is_language_tag};

use super::NoticeKind;
use crate::Service;
use crate::accounts::Operator;
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

/// The description of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(show, update))]
pub(crate) struct NotificationsApi;

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/notifications", get(show).put(update))
}

fn wants(choice: &EmailChoice, kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::Unanswered => choice.unanswered,
        NoticeKind::Lead => choice.lead,
        NoticeKind::HandOff => choice.hand_off,
    }
}

fn shown(service: &Service, choice: EmailChoice) -> Result<ApiResponse, ApiError> {
    let EmailChoice { unanswered, lead, hand_off, locale } = choice;
    // Without an SMTP server nobody receives e-mails.
    let available = service.0.options.smtp.is_some();
    success(&EmailPreferences { unanswered, lead, hand_off, locale, available })
}

/// Shows which e-mails the signed-in operator receives.
#[utoipa::path(get, path = "/notifications", tag = "notifications", responses(
    (status = 200, body = EmailPreferences),
))]
pub(crate) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    let sql = "SELECT email_kinds, email_locale FROM operators WHERE id = $1 AND tenant_id = $2";
    let row = service.db().optional(sql, args![&operator.id, &operator.tenant_id]).await?;
    let row = row.ok_or(ApiError::NotFound("This operator"))?;
    let kinds: Vec<String> = serde_json::from_str(&row.text(0)?).unwrap_or_default();
    let wants = |kind: NoticeKind| kinds.iter().any(|name| name == kind.as_str());
    let choice = EmailChoice {
        unanswered: wants(NoticeKind::Unanswered),
        lead: wants(NoticeKind::Lead),
        hand_off: wants(NoticeKind::HandOff),
        locale: row.optional_text(1)?,
    };
    shown(&service, choice)
}

/// Chooses which e-mails the signed-in operator receives.
#[utoipa::path(put, path = "/notifications", tag = "notifications", request_body = EmailChoice, responses(
    (status = 200, body = EmailPreferences),
))]
pub(crate) async fn update(
    State(service): State<Service>,
    operator: Operator,
    Body(choice): Body<EmailChoice>,
) -> Result<ApiResponse, ApiError> {
    if choice.locale.as_deref().is_some_and(|tag| !is_language_tag(tag)) {
        let problem = "invalid locale: expected a language tag, such as de-AT, or nothing.";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    let kinds = NoticeKind::ALL.into_iter().filter(|kind| wants(&choice, *kind)).map(NoticeKind::as_str);
    let kinds: Value = kinds.collect();
    let locale = choice.locale.clone();
    transaction!(service.db(), |tx| {
        let sql = "UPDATE operators SET email_kinds = $3, email_locale = $4 WHERE id = $1 AND tenant_id = $2";
        match tx.execute(sql, args![&operator.id, &operator.tenant_id, &kinds, locale]).await? {
            0 => Err(ApiError::NotFound("This operator")),
            _ => Ok(()),
        }
    })
    .await?;
    shown(&service, choice)
}
