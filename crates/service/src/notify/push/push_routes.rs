//! The admin API of an operator's own devices.

use axum::extract::{Path, State};
use axum::routing::{delete, get, post};
use axum::{Extension, Router};
use chat_protocol::admin::{Empty, PushState, PushSubscription};
use chat_protocol::is_language_tag;

use super::devices::{self, NewDevice};
use super::key;
use super::subscription::Subscription;
use crate::Service;
use crate::accounts::Actor;
use crate::accounts::Session;
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;

/// The description of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(show, add, remove))]
pub(crate) struct PushApi;

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/push", get(show))
        .route("/push/devices", post(add))
        .route("/push/devices/{device}", delete(remove))
}

/// Shows the key for subscriptions, and the own devices.
#[utoipa::path(get, path = "/push", tag = "notifications", responses((status = 200, body = PushState)))]
pub(super) async fn show(
    State(service): State<Service>,
    actor: Actor,
    Extension(session): Extension<Session>,
) -> Result<ApiResponse, ApiError> {
    success(&state(&service, &actor, &session).await?)
}

async fn state(service: &Service, actor: &Actor, session: &Session) -> Result<PushState, ApiError> {
    if !service.0.options.web_push {
        return Ok(PushState::default());
    }
    let public_key = Some(key(service).await?.public().to_owned());
    let devices = devices::list(service.db(), service.now_ms(), &actor.operator, &session.id).await?;
    Ok(PushState { public_key, devices })
}

/// Sends pushes to the browser that asks, until its session ends.
#[utoipa::path(post, path = "/push/devices", tag = "notifications", request_body = PushSubscription,
    responses((status = 200, body = PushState), (status = 400, description = "The subscription is not valid"),
        (status = 409, description = "The service sends no pushes")))]
pub(super) async fn add(
    State(service): State<Service>,
    actor: Actor,
    Extension(session): Extension<Session>,
    Body(sent): Body<PushSubscription>,
) -> Result<ApiResponse, ApiError> {
    let options = &service.0.options;
    if !options.web_push {
        return Err(ApiError::Conflict("Web Push is switched off in this service.".to_owned()));
    }
    if sent.locale.as_deref().is_some_and(|tag| !is_language_tag(tag)) {
        let problem = "invalid locale: expected a language tag, such as de-AT, or nothing.";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    let subscription = Subscription::parse(&sent, options.allow_private_webhooks)?;
    let new = NewDevice { session_id: session.id.clone(), subscription, locale: sent.locale };
    let (now_ms, key, owner) = (service.now_ms(), options.key.clone(), actor.clone());
    let written: Result<(), ApiError> = transaction!(service.db(), |tx| {
        let (id, is_new) = new.store(tx, &key, now_ms, &owner.operator.id).await?;
        if is_new {
            owner.record(tx, now_ms, "push.enable", &id).await?;
        }
        Ok(())
    })
    .await;
    written?;
    success(&state(&service, &actor, &session).await?)
}

/// Ends the pushes to an own device.
#[utoipa::path(delete, path = "/push/devices/{device}", tag = "notifications",
    params(("device" = String, Path)),
    responses((status = 200, body = Empty), (status = 404, description = "The operator has no such device")))]
pub(super) async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path(device): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let written: Result<(), ApiError> = transaction!(service.db(), |tx| {
        if !devices::remove(tx, &actor.operator.id, &device).await? {
            return Err(ApiError::NotFound("This device"));
        }
        actor.record(tx, now_ms, "push.disable", &device).await?;
        Ok(())
    })
    .await;
    written?;
    Ok(done())
}
