//! The operator's own settings.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::{Availability, Preferences};

use super::quiet_hours;
use crate::Service;
use crate::accounts::Operator;
use crate::db::{DbError, Row, Wake, args};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/preferences", get(show).put(change))
}

/// The settings of an operator who has chosen none.
fn defaults() -> Preferences {
    Preferences { sound: true, ..Preferences::default() }
}

/// Reads the columns `availability` and `preferences`, of which the first one counts.
pub(crate) fn stored(row: &Row, first: usize) -> Result<Preferences, DbError> {
    let stored = row.text(first + 1)?;
    let preferences = match stored.as_str() {
        "{}" => defaults(),
        json => serde_json::from_str(json).unwrap_or_else(|_| defaults()),
    };
    Ok(Preferences { availability: availability(&row.text(first)?), ..preferences })
}

/// Reads a stored availability.
pub(super) fn availability(text: &str) -> Availability {
    match text {
        "away" => Availability::Away,
        "offline" => Availability::Offline,
        _ => Availability::Automatic,
    }
}

fn as_text(availability: Availability) -> &'static str {
    match availability {
        Availability::Automatic => "automatic",
        Availability::Away => "away",
        Availability::Offline => "offline",
    }
}

/// Shows the settings of the operator who asks.
#[utoipa::path(get, path = "/preferences", tag = "inbox", responses((status = 200, body = Preferences)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    let sql = "SELECT availability, preferences FROM operators WHERE id = $1 AND tenant_id = $2";
    let row = service.db().optional(sql, args![&operator.id, &operator.tenant_id]).await?;
    success(&stored(&row.ok_or(ApiError::NotFound("This operator"))?, 0)?)
}

/// Changes the settings of the operator who asks.
#[utoipa::path(put, path = "/preferences", tag = "inbox", request_body = Preferences,
    responses((status = 200, body = Preferences)))]
pub(super) async fn change(
    State(service): State<Service>,
    operator: Operator,
    Body(preferences): Body<Preferences>,
) -> Result<ApiResponse, ApiError> {
    if let Some(hours) = &preferences.quiet_hours {
        quiet_hours::check(hours)?;
    }
    let json = serde_json::to_string(&preferences).map_err(|_| ApiError::Internal)?;
    let availability = as_text(preferences.availability);
    let written: Result<(), ApiError> = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let sql = "UPDATE operators SET availability = $3, preferences = $4
                           WHERE id = $1 AND tenant_id = $2";
                tx.execute(sql, args![&operator.id, &operator.tenant_id, availability, json]).await?;
                tx.wake(Wake::Presence { tenant: operator.tenant_id });
                Ok(())
            })
        })
        .await;
    written?;
    success(&preferences)
}
