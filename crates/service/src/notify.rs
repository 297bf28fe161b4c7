//! Notifications: webhooks for the systems of a tenant, and e-mails and pushes for its operators.

mod attempt;
pub(crate) mod data;
pub(crate) mod excerpt;
mod http;
pub(crate) mod mail;
#[cfg(test)]
pub(crate) mod notify_tests;
pub(crate) mod push;
mod target;
pub(crate) mod webhooks;

use axum::Router;
use chat_protocol::Value;

use crate::Service;
use crate::db::{DbError, Tx, Wake, args};
use crate::error::ApiError;
use crate::queue_runner::run as run_queue;
use crate::secrets::new_id;
use crate::supervisor::supervise;

pub use mail::{SmtpOptions, SmtpOptionsError, SmtpTls, check_smtp};

/// The events that webhooks can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventName {
    ConversationCreated,
    /// A message of the visitor, the AI or an operator.
    MessageCreated,
    ConversationAssigned,
    ConversationClosed,
    ConversationReopened,
    HandoffRequested,
    LeadUpdated,
    JobCompleted,
    /// Sent on request, to try a webhook.
    WebhookTest,
}

impl EventName {
    /// The events that a webhook can choose.
    pub(crate) const ALL: [Self; 8] = [
        Self::ConversationCreated,
        Self::MessageCreated,
        Self::ConversationAssigned,
        Self::ConversationClosed,
        Self::ConversationReopened,
        Self::HandoffRequested,
        Self::LeadUpdated,
        Self::JobCompleted,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ConversationCreated => "conversation.created",
            Self::MessageCreated => "message.created",
            Self::ConversationAssigned => "conversation.assigned",
            Self::ConversationClosed => "conversation.closed",
            Self::ConversationReopened => "conversation.reopened",
            Self::HandoffRequested => "handoff.requested",
            Self::LeadUpdated => "lead.updated",
            Self::JobCompleted => "job.completed",
            Self::WebhookTest => "webhook.test",
        }
    }
}

/// The admin API of webhooks, and of an operator's own e-mails and devices.
pub(crate) fn routes() -> Router<Service> {
    webhooks::routes().merge(mail::routes()).merge(push::routes())
}

/// Something that happened at a site.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) tenant_id: String,
    pub(crate) site_id: String,
    pub(crate) name: EventName,
    pub(crate) data: Value,
    /// The conversation whose words the data contains, so that both can be erased together.
    pub(crate) conversation_id: Option<String>,
}

/// Queues an event for each webhook that receives it. Call this in the transaction of the change: either both
/// are stored, or none. A tenant without webhooks costs one indexed lookup.
pub(crate) async fn event(tx: &mut Tx, now_ms: i64, event: &Event) -> Result<(), DbError> {
    let subscribed = webhooks::subscribed(tx, &event.tenant_id, &event.site_id, event.name).await?;
    if subscribed.is_empty() {
        return Ok(());
    }
    let event_id = new_id("evt");
    let body = webhooks::body(&event_id, now_ms, Some(&event.site_id), event.name, event.data.clone());
    for webhook_id in subscribed {
        let delivery = webhooks::NewDelivery {
            webhook_id: &webhook_id,
            event_id: &event_id,
            name: event.name,
            body: &body,
            conversation_id: event.conversation_id.as_deref(),
        };
        delivery.insert(tx, now_ms).await?;
    }
    tx.wake(Wake::Queue);
    Ok(())
}

/// Removes what is stored about a conversation in the queues and in the log of deliveries, when its visitor's
/// data is erased. A request or an e-mail that is being sent at this moment still arrives.
pub(crate) async fn erase(tx: &mut Tx, conversation_id: &str) -> Result<(), DbError> {
    tx.execute("DELETE FROM deliveries WHERE conversation_id = $1", args![conversation_id]).await?;
    tx.execute("DELETE FROM notifications WHERE conversation_id = $1", args![conversation_id]).await?;
    tx.execute("DELETE FROM pushes WHERE conversation_id = $1", args![conversation_id]).await?;
    Ok(())
}

/// Creates what the notifications of a new service need: the key pair of pushes.
pub(crate) async fn prepare(service: &Service) -> Result<(), ApiError> {
    if service.0.options.web_push {
        push::key(service).await?;
    }
    Ok(())
}

/// Delivers webhooks, e-mails and pushes until the service closes. Several nodes share the work.
pub(crate) async fn run(service: Service) {
    tokio::join!(
        supervise("the queue of webhooks", || run_queue::<webhooks::WebhookQueue>(&service)),
        supervise("the queue of e-mails", || run_queue::<mail::MailQueue>(&service)),
        supervise("the queue of pushes", || run_queue::<push::PushQueue>(&service)),
    );
}
