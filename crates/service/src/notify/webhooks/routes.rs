//! The admin API of webhooks.

use axum::Router;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequestParts, Json, Path, Query, State};
use axum::http::request::Parts;
use axum::routing::{get, post};
use chat_protocol::Value;

use super::deliveries::{Delivery, LogPage};
use super::secret::WebhookSecret;
use super::store::{NewWebhook, OVERLAP_MS, Webhook, WebhookChange};
use super::{EventName, NewDelivery, body};
use crate::Service;
use crate::accounts::{Client, Operator, Right};
use crate::audit;
use crate::clock::iso;
use crate::db::{DbError, Tx, Wake};
use crate::error::ApiError;
use crate::response::ApiResponse;
use crate::secrets::new_id;

/// The description of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    paths(list, create, show, update, remove, rotate, test, deliveries, delivery, replay),
    components(schemas(NewWebhook, WebhookChange, super::deliveries::DeliveryStatus))
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
pub(crate) struct Manager {
    operator: Operator,
    /// The client's address, for the audit log.
    address: String,
}

impl FromRequestParts<Service> for Manager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let operator = Operator::from_request_parts(parts, service).await?;
        operator.may(Right::ManageSites)?;
        let client = parts.extensions.get::<Client>();
        let address = client.map(|client| client.address.to_canonical().to_string()).unwrap_or_default();
        Ok(Self { operator, address })
    }
}

impl Manager {
    /// Records a change of a webhook.
    async fn record(
        &self,
        tx: &mut Tx,
        at_ms: i64,
        action: &str,
        target: &str,
        detail: Value,
    ) -> Result<(), DbError> {
        let Operator { id, tenant_id, email, name, .. } = &self.operator;
        let actor = format!("{name} <{email}>");
        let (actor_id, address) = (id, &self.address);
        let entry =
            audit::Entry { tenant_id, actor_id, actor: &actor, action, target, detail, address, at_ms };
        audit::record(tx, &entry).await
    }
}

fn with_secret(webhook: &Webhook, secret: &WebhookSecret, previous_until_ms: Option<i64>) -> ApiResponse {
    ApiResponse::success(Value::object([
        ("webhook", webhook.to_value()),
        ("secret", secret.expose().into()),
        ("previousSecretValidUntil", previous_until_ms.map(iso).into()),
    ]))
}

fn one(webhook: &Webhook) -> ApiResponse {
    ApiResponse::success(Value::object([("webhook", webhook.to_value())]))
}

/// Lists the webhooks, and the events that they can receive.
#[utoipa::path(get, path = "/webhooks", tag = "webhooks", responses(
    (status = 200, description = "The webhooks, without their secrets"),
))]
pub(crate) async fn list(State(service): State<Service>, manager: Manager) -> Result<ApiResponse, ApiError> {
    let webhooks = Webhook::list(service.db(), &manager.operator.tenant_id).await?;
    let events = EventName::ALL.map(EventName::as_str);
    Ok(ApiResponse::success(Value::object([
        ("webhooks", webhooks.iter().map(Webhook::to_value).collect()),
        ("events", events.into_iter().collect()),
    ])))
}

/// Creates a webhook. Its secret is shown this once.
#[utoipa::path(post, path = "/webhooks", tag = "webhooks", request_body = NewWebhook, responses(
    (status = 200, description = "The webhook, and its secret"),
    (status = 400, description = "The URL or an event is not valid"),
))]
pub(crate) async fn create(
    State(service): State<Service>,
    manager: Manager,
    new: Result<Json<NewWebhook>, JsonRejection>,
) -> Result<ApiResponse, ApiError> {
    let Json(new) = new?;
    let (now_ms, options) = (service.now_ms(), service.0.options.clone());
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let tenant_id = &manager.operator.tenant_id;
            let private = options.allow_private_webhooks;
            let created = new.create(tx, &options.key, private, now_ms, tenant_id).await?;
            let detail = Value::object([("host", host(&created.0.url).into())]);
            manager.record(tx, now_ms, "webhook.create", &created.0.id, detail).await?;
            Ok::<_, ApiError>(created)
        })
    });
    let (webhook, secret) = write.await?;
    Ok(with_secret(&webhook, &secret, None))
}

/// Returns the host of a URL. The rest may contain a secret.
fn host(url: &str) -> String {
    let url: Option<reqwest::Url> = url.parse().ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Shows a webhook.
#[utoipa::path(get, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The webhook"),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn show(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    Ok(one(&Webhook::get(service.db(), &manager.operator.tenant_id, &id).await?))
}

/// Changes a webhook, disables it or enables it again.
#[utoipa::path(patch, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), request_body = WebhookChange, responses(
    (status = 200, description = "The changed webhook"),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn update(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
    change: Result<Json<WebhookChange>, JsonRejection>,
) -> Result<ApiResponse, ApiError> {
    let Json(change) = change?;
    let (now_ms, private) = (service.now_ms(), service.0.options.allow_private_webhooks);
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let webhook = change.apply(tx, private, now_ms, &manager.operator.tenant_id, &id).await?;
            let detail = Value::object([
                ("host", change.url.as_deref().map(host).into()),
                ("events", change.events.map(Value::from_iter).into()),
                ("enabled", change.enabled.into()),
            ]);
            manager.record(tx, now_ms, "webhook.update", &id, detail).await?;
            // Pending deliveries of a disabled webhook fail, those of an enabled one go on.
            tx.wake(Wake::Queue);
            Ok::<_, ApiError>(webhook)
        })
    });
    Ok(one(&write.await?))
}

/// Deletes a webhook, with its log of deliveries.
#[utoipa::path(delete, path = "/webhooks/{id}", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "Deleted"),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn remove(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            Webhook::delete(tx, &manager.operator.tenant_id, &id).await?;
            manager.record(tx, now_ms, "webhook.delete", &id, Value::object([])).await?;
            Ok::<_, ApiError>(())
        })
    });
    write.await?;
    Ok(ApiResponse::success(Value::object([])))
}

/// Creates a new secret. For 24 hours, requests are signed with the old one too.
#[utoipa::path(post, path = "/webhooks/{id}/secret", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The webhook, and its new secret"),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn rotate(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, key) = (service.now_ms(), service.0.options.key.clone());
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let webhook = Webhook::find(tx, &manager.operator.tenant_id, &id).await?;
            let secret = webhook.rotate(tx, &key, now_ms).await?;
            manager.record(tx, now_ms, "webhook.rotate", &id, Value::object([])).await?;
            Ok::<_, ApiError>((webhook, secret))
        })
    });
    let (webhook, secret) = write.await?;
    Ok(with_secret(&webhook, &secret, Some(now_ms.saturating_add(OVERLAP_MS))))
}

/// Queues the event `webhook.test` for a webhook. The log of deliveries shows what came of it.
#[utoipa::path(post, path = "/webhooks/{id}/test", tag = "webhooks", params(("id" = String, Path)), responses(
    (status = 200, description = "The queued delivery"),
    (status = 404, description = "No such webhook"),
    (status = 409, description = "The webhook is disabled"),
))]
pub(crate) async fn test(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let webhook_id = id.clone();
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let webhook = Webhook::find(tx, &manager.operator.tenant_id, &id).await?;
            if webhook.disabled_ms.is_some() {
                return Err(ApiError::Conflict("This webhook is disabled: enable it first.".to_owned()));
            }
            let event_id = new_id("evt");
            let name = EventName::WebhookTest;
            let body = body(&event_id, now_ms, None, name, Value::object([]));
            let delivery = NewDelivery {
                webhook_id: &id,
                event_id: &event_id,
                name,
                body: &body,
                conversation_id: None,
            };
            tx.wake(Wake::Queue);
            Ok(delivery.insert(tx, now_ms).await?)
        })
    });
    let delivery = Delivery::get(service.db(), &webhook_id, &write.await?).await?;
    Ok(ApiResponse::success(Value::object([("delivery", delivery.to_value(now_ms))])))
}

/// Lists the deliveries of a webhook with their attempts, newest first.
#[utoipa::path(get, path = "/webhooks/{id}/deliveries", tag = "webhooks", params(("id" = String, Path), LogPage), responses(
    (status = 200, description = "A page of deliveries"),
    (status = 404, description = "No such webhook"),
))]
pub(crate) async fn deliveries(
    State(service): State<Service>,
    manager: Manager,
    Path(id): Path<String>,
    page: Result<Query<LogPage>, QueryRejection>,
) -> Result<ApiResponse, ApiError> {
    let Query(page) = page?;
    Webhook::get(service.db(), &manager.operator.tenant_id, &id).await?;
    let (deliveries, next_before) = Delivery::list(service.db(), &id, &page).await?;
    let now_ms = service.now_ms();
    Ok(ApiResponse::success(Value::object([
        ("deliveries", deliveries.iter().map(|delivery| delivery.to_value(now_ms)).collect()),
        ("nextBefore", next_before.into()),
    ])))
}

/// Shows a delivery with its attempts.
#[utoipa::path(get, path = "/webhooks/{id}/deliveries/{delivery}", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses(
    (status = 200, description = "The delivery"),
    (status = 404, description = "No such delivery"),
))]
pub(crate) async fn delivery(
    State(service): State<Service>,
    manager: Manager,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    Webhook::get(service.db(), &manager.operator.tenant_id, &id).await?;
    let delivery = Delivery::get(service.db(), &id, &delivery).await?;
    Ok(ApiResponse::success(Value::object([("delivery", delivery.to_value(service.now_ms()))])))
}

/// Sends a delivery again, with the same event id.
#[utoipa::path(post, path = "/webhooks/{id}/deliveries/{delivery}/replay", tag = "webhooks", params(("id" = String, Path), ("delivery" = String, Path)), responses(
    (status = 200, description = "The queued delivery"),
    (status = 404, description = "No such delivery"),
    (status = 409, description = "The webhook is disabled"),
))]
pub(crate) async fn replay(
    State(service): State<Service>,
    manager: Manager,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let (webhook_id, delivery_id) = (id.clone(), delivery.clone());
    let write = service.db().write(move |tx| {
        Box::pin(async move {
            let webhook = Webhook::find(tx, &manager.operator.tenant_id, &id).await?;
            if webhook.disabled_ms.is_some() {
                return Err(ApiError::Conflict("This webhook is disabled: enable it first.".to_owned()));
            }
            Delivery::replay(tx, now_ms, &id, &delivery).await?;
            let detail = Value::object([("delivery", delivery.into())]);
            manager.record(tx, now_ms, "webhook.replay", &id, detail).await?;
            Ok::<_, ApiError>(())
        })
    });
    write.await?;
    let delivery = Delivery::get(service.db(), &webhook_id, &delivery_id).await?;
    Ok(ApiResponse::success(Value::object([("delivery", delivery.to_value(now_ms))])))
}
