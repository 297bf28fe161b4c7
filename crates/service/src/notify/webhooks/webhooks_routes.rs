//! The admin API of webhooks.

use axum::Router;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::routing::{get, post};
use chat_protocol::Value;
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{
    DeliveryPage, DeliveryShown, NewWebhook, Webhook, WebhookChange, WebhookSecret, WebhookShown, Webhooks,
};

use super::deliveries::{self as log, LogPage};
use super::store::{self, OVERLAP_MS};
use super::{EventName, NewDelivery, body, secret};
use crate::Service;
use crate::accounts::{Actor, Right};
use crate::clock::iso;
use crate::db::{Wake, transaction};
use crate::error::ApiError;
use crate::input::{Body, Params, done, success};
use crate::response::ApiResponse;
use crate::secrets::new_id;

/// The description of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    paths(list, create, show, update, remove, rotate, test, deliveries, delivery, replay),
    components(schemas(super::deliveries::DeliveryStatus))
)]
pub(crate) struct WebhooksApi;

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/webhooks", get(list).post(create))
        .route("/webhooks/{id}", get(show).patch(update).delete(remove))
        .route("/webhooks/{id}/secret", post(rotate))
        .route("/webhooks/{id}/test", post(test))
        .route("/webhooks/{id}/deliveries", get(deliveries))
        .route("/webhooks/{id}/deliveries/{delivery}", get(delivery))
        .route("/webhooks/{id}/deliveries/{delivery}/replay", post(replay))
}

/// The signed-in operator, who may change webhooks.
#[derive(Debug)]
pub(crate) struct Manager(Actor);

impl FromRequestParts<Service> for Manager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let actor = Actor::from_request_parts(parts, service).await?;
        actor.operator.may(Right::ManageSites)?;
        Ok(Self(actor))
    }
}

fn with_secret(
    webhook: Webhook,
    secret: &secret::WebhookSecret,
    previous_until_ms: Option<i64>,
) -> Result<ApiResponse, ApiError> {
    let previous_secret_valid_until = previous_until_ms.map(iso);
    success(&WebhookSecret { webhook, secret: secret.expose().to_owned(), previous_secret_valid_until })
}

fn one(webhook: Webhook) -> Result<ApiResponse, ApiError> {
    success(&WebhookShown { webhook })
}

/// Shows a delivery that is stored.
async fn shown(service: &Service, webhook_id: &str, id: &str) -> Result<ApiResponse, ApiError> {
    let delivery = log::get(service.db(), service.now_ms(), webhook_id, id).await?;
    success(&DeliveryShown { delivery })
}

/// Lists the webhooks, and the events that they can receive.
#[utoipa::path(get, path = "/webhooks", tag = "webhooks", responses(
    (status = 200, description = "The webhooks, without their secrets", body = Webhooks),
))]
pub(crate) async fn list(
    State(service): State<Service>,
    Manager(actor): Manager,
) -> Result<ApiResponse, ApiError> {
    let webhooks = store::list(service.db(), &actor.operator.tenant_id).await?;
    let events = EventName::ALL.map(|name| name.as_str().to_owned()).to_vec();
    success(&Webhooks { webhooks, events })
}

/// Creates a webhook. Its secret is shown this once.
#[utoipa::path(post, path = "/webhooks", tag = "webhooks", request_body = NewWebhook, responses(
    (status = 200, description = "The webhook, and its secret", body = WebhookSecret),
    (status = 400, description = "The URL or an event is not valid"),
))]
pub(crate) async fn create(
    State(service): State<Service>,
    Manager(actor): Manager,
    Body(new): Body<NewWebhook>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, options) = (service.now_ms(), service.0.options.clone());
    let (webhook, secret) = transaction!(service.db(), |tx| {
        let tenant_id = &actor.operator.tenant_id;
        let private = options.allow_private_webhooks;
        let created = store::create(tx, &new, &options.key, private, now_ms, tenant_id).await?;
        let detail = Value::object([("host", host(&created.0.url).into())]);
        actor.record_with(tx, now_ms, "webhook.create", &created.0.id, &detail).await?;
        Ok::<_, ApiError>(created)
    })
    .await?;
    with_secret(webhook, &secret, None)
}

/// Returns the host of a URL. The rest may contain a secret.
fn host(url: &str) -> String {
    let url: Option<reqwest::Url> = url.parse().ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Shows a webhook.
#[utoipa::path(get, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The webhook", body = WebhookShown),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn show(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    one(store::get(service.db(), &actor.operator.tenant_id, &id).await?)
}

/// Changes a webhook, disables it or enables it again.
#[utoipa::path(patch, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), request_body = WebhookChange, responses(
    (status = 200, description = "The changed webhook", body = WebhookShown),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn update(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
    Body(change): Body<WebhookChange>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, private) = (service.now_ms(), service.0.options.allow_private_webhooks);
    let changed = transaction!(service.db(), |tx| {
        let tenant_id = &actor.operator.tenant_id;
        let webhook = store::change(tx, &change, private, now_ms, tenant_id, &id).await?;
        let detail = Value::object([
            ("host", change.url.as_deref().map(host).into()),
            ("events", change.events.map(Value::from_iter).into()),
            ("enabled", change.enabled.into()),
        ]);
        actor.record_with(tx, now_ms, "webhook.update", &id, &detail).await?;
        // Pending deliveries of a disabled webhook fail, those of an enabled one go on.
        tx.wake(Wake::Queue);
        Ok::<_, ApiError>(webhook)
    })
    .await?;
    one(changed)
}

/// Deletes a webhook, with its log of deliveries.
#[utoipa::path(delete, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "Deleted", body = Empty),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn remove(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| {
        store::delete(tx, &actor.operator.tenant_id, &id).await?;
        actor.record(tx, now_ms, "webhook.delete", &id).await?;
        Ok::<_, ApiError>(())
    })
    .await?;
    Ok(done())
}

/// Creates a new secret. For 24 hours, requests are signed with the old one too.
#[utoipa::path(post, path = "/webhooks/{id}/secret", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The webhook, and its new secret", body = WebhookSecret),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn rotate(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, key) = (service.now_ms(), service.0.options.key.clone());
    let (webhook, secret) = transaction!(service.db(), |tx| {
        let webhook = store::find(tx, &actor.operator.tenant_id, &id).await?;
        let secret = store::rotate(tx, &key, now_ms, &id).await?;
        actor.record(tx, now_ms, "webhook.rotate", &id).await?;
        Ok::<_, ApiError>((webhook, secret))
    })
    .await?;
    with_secret(webhook, &secret, Some(now_ms.saturating_add(OVERLAP_MS)))
}

/// Queues the event `webhook.test` for a webhook. The log of deliveries shows what came of it.
#[utoipa::path(post, path = "/webhooks/{id}/test", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The queued delivery", body = DeliveryShown),
    (status = 404, description = "No such webhook"),
    (status = 409, description = "The webhook is disabled"),
))]
pub(crate) async fn test(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let webhook_id = id.clone();
    let delivery_id = transaction!(service.db(), |tx| {
        require_enabled(&store::find(tx, &actor.operator.tenant_id, &id).await?)?;
        let event_id = new_id("evt");
        let name = EventName::WebhookTest;
        let body = body(&event_id, now_ms, None, name, Value::object([]));
        let delivery =
            NewDelivery { webhook_id: &id, event_id: &event_id, name, body: &body, conversation_id: None };
        tx.wake(Wake::Queue);
        Ok::<_, ApiError>(delivery.insert(tx, now_ms).await?)
    })
    .await?;
    shown(&service, &webhook_id, &delivery_id).await
}

fn require_enabled(webhook: &Webhook) -> Result<(), ApiError> {
    if webhook.enabled {
        return Ok(());
    }
    Err(ApiError::Conflict("This webhook is disabled: enable it first.".to_owned()))
}

/// Lists the deliveries of a webhook with their attempts, newest first.
#[utoipa::path(get, path = "/webhooks/{id}/deliveries", tag = "webhooks", params(("id" = String, Path), LogPage), responses(
    (status = 200, body = DeliveryPage),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn deliveries(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path(id): Path<String>,
    Params(page): Params<LogPage>,
) -> Result<ApiResponse, ApiError> {
    store::get(service.db(), &actor.operator.tenant_id, &id).await?;
    success(&log::list(service.db(), service.now_ms(), &id, &page).await?)
}

/// Shows a delivery with its attempts.
#[utoipa::path(get, path = "/webhooks/{id}/deliveries/{delivery}", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses(
    (status = 200, description = "The delivery", body = DeliveryShown),
    (status = 404, description = "No such delivery"),
))]
pub(crate) async fn delivery(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    store::get(service.db(), &actor.operator.tenant_id, &id).await?;
    shown(&service, &id, &delivery).await
}

/// Sends a delivery again, with the same event id.
#[utoipa::path(post, path = "/webhooks/{id}/deliveries/{delivery}/replay", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses(
    (status = 200, description = "The queued delivery", body = DeliveryShown),
    (status = 404, description = "No such delivery"),
    (status = 409, description = "The webhook is disabled"),
))]
pub(crate) async fn replay(
    State(service): State<Service>,
    Manager(actor): Manager,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let (webhook_id, delivery_id) = (id.clone(), delivery.clone());
    transaction!(service.db(), |tx| {
        require_enabled(&store::find(tx, &actor.operator.tenant_id, &id).await?)?;
        log::replay(tx, now_ms, &id, &delivery).await?;
        let detail = Value::object([("delivery", delivery.into())]);
        actor.record_with(tx, now_ms, "webhook.replay", &id, &detail).await?;
        Ok::<_, ApiError>(())
    })
    .await?;
    shown(&service, &webhook_id, &delivery_id).await
}
