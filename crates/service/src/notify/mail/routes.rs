//! The admin API of an operator's own e-mails.

use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Json, State};
use axum::routing::get;
use chat_protocol::{Value, is_language_tag};
use serde::Deserialize;
use utoipa::ToSchema;

use super::NoticeKind;
use crate::Service;
use crate::accounts::Operator;
use crate::db::args;
use crate::error::ApiError;
use crate::response::ApiResponse;

/// The description of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(show, update), components(schemas(EmailPreferences)))]
pub(crate) struct NotificationsApi;

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/notifications", get(show).put(update))
}

/// The e-mails that an operator receives.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EmailPreferences {
    /// About visitors that wait for an answer.
    unanswered: bool,
    /// About visitors that left contact details.
    lead: bool,
    /// About visitors that want to talk to a person.
    hand_off: bool,
    /// The language tag of the e-mails; without one, they are in the language of the site.
    #[serde(default)]
    locale: Option<String>,
}

impl EmailPreferences {
    fn wants(&self, kind: NoticeKind) -> bool {
        match kind {
            NoticeKind::Unanswered => self.unanswered,
            NoticeKind::Lead => self.lead,
            NoticeKind::HandOff => self.hand_off,
        }
    }

    fn to_value(&self, service: &Service) -> Value {
        Value::object([
            ("unanswered", self.unanswered.into()),
            ("lead", self.lead.into()),
            ("handOff", self.hand_off.into()),
            ("locale", self.locale.as_deref().into()),
            // Without an SMTP server nobody receives e-mails.
            ("available", service.0.options.smtp.is_some().into()),
        ])
    }
}

/// Shows which e-mails the signed-in operator receives.
#[utoipa::path(get, path = "/notifications", tag = "notifications", responses(
    (status = 200, description = "The preferences"),
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
    let preferences = EmailPreferences {
        unanswered: wants(NoticeKind::Unanswered),
        lead: wants(NoticeKind::Lead),
        hand_off: wants(NoticeKind::HandOff),
        locale: row.optional_text(1)?,
    };
    Ok(ApiResponse::success(preferences.to_value(&service)))
}

/// Chooses which e-mails the signed-in operator receives.
#[utoipa::path(put, path = "/notifications", tag = "notifications", request_body = EmailPreferences, responses(
    (status = 200, description = "The preferences"),
))]
pub(crate) async fn update(
    State(service): State<Service>,
    operator: Operator,
    preferences: Result<Json<EmailPreferences>, JsonRejection>,
) -> Result<ApiResponse, ApiError> {
    let Json(preferences) = preferences?;
    if preferences.locale.as_deref().is_some_and(|tag| !is_language_tag(tag)) {
        let problem = "invalid locale: expected a language tag, such as de-AT, or nothing.";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    let kinds = NoticeKind::ALL.into_iter().filter(|kind| preferences.wants(*kind)).map(NoticeKind::as_str);
    let kinds: Value = kinds.collect();
    let locale = preferences.locale.clone();
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let sql =
                "UPDATE operators SET email_kinds = $3, email_locale = $4 WHERE id = $1 AND tenant_id = $2";
            match tx.execute(sql, args![&operator.id, &operator.tenant_id, &kinds, locale]).await? {
                0 => Err(ApiError::NotFound("This operator")),
                _ => Ok(()),
            }
        })
    });
    write.await?;
    Ok(ApiResponse::success(preferences.to_value(&service)))
}
