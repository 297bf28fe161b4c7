//! The stream of changes that an open console follows. An open stream makes the operator online.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use chat_protocol::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::MissedTickBehavior;
use tokio_stream::wrappers::ReceiverStream;
use tracing::warn;

use crate::Service;
use crate::accounts::{self, Operator, Session};
use crate::db::Wake;
use crate::error::ApiError;
use crate::presence::{RENEWAL_INTERVAL, open_console, renew_console};

/// Maximum open consoles of a tenant.
const MAX_CONSOLES: i64 = 200;
/// The interval of comments that keep proxies from closing an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Maximum changes that wait for a slow browser; it is then told to load everything again.
const MAX_WAITING: usize = 64;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/stream", get(open))
}

/// Streams changes as server-sent events, named `conversation`, `site`, `settings`, `presence` and `reset`
/// (changes were missed: load everything again). Each `data` is JSON with the ids of what has changed.
#[utoipa::path(get, path = "/stream", tag = "stream", responses((status = 200, content_type = "text/event-stream")))]
pub(super) async fn open(
    State(service): State<Service>,
    operator: Operator,
    Extension(session): Extension<Session>,
) -> Result<Response, ApiError> {
    let online = crate::presence::operators_online(&service, &operator.tenant_id).await?;
    if online.consoles >= MAX_CONSOLES {
        return Err(ApiError::TooManyConsoles);
    }
    let (now_ms, tenant_id, operator_id) =
        (service.now_ms(), operator.tenant_id.clone(), operator.id.clone());
    let console: Result<String, ApiError> = service
        .db()
        .write(move |tx| Box::pin(async move { open_console(tx, now_ms, &tenant_id, &operator_id).await }))
        .await;
    let (events, received) = tokio::sync::mpsc::channel(MAX_WAITING);
    let task = follow(service.clone(), operator, session, console?, events);
    service.0.tasks.spawn(task);
    let stream = ReceiverStream::new(received);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

type Events = tokio::sync::mpsc::Sender<Result<Event, Infallible>>;

/// Sends changes until the browser leaves, the session ends or the service stops, and closes the console.
async fn follow(service: Service, operator: Operator, session: Session, console: String, events: Events) {
    let mut wakes = service.db().wakes();
    let mut renewal = tokio::time::interval(RENEWAL_INTERVAL);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let change = tokio::select! {
            () = service.0.closing.cancelled() => break,
            () = events.closed() => break,
            _ = renewal.tick() => None,
            wake = wakes.recv() => match wake {
                Ok(wake) => match Change::of(wake, &operator.tenant_id) {
                    Some(change) => Some(change),
                    None => continue,
                },
                Err(RecvError::Lagged(_)) => Some(Change::RESET),
                Err(RecvError::Closed) => break,
            },
        };
        // A session that ended, or an operator who was disabled, sees nothing more.
        let may_have_ended = change.as_ref().is_none_or(|change| change.name != "conversation");
        if may_have_ended && !matches!(accounts::is_valid(&service, &session).await, Ok(true)) {
            break;
        }
        match change {
            Some(change) => {
                if events.send(Ok(change.into_event())).await.is_err() {
                    break;
                }
            }
            None => renew(&service, &operator.tenant_id, &console, true).await,
        }
    }
    renew(&service, &operator.tenant_id, &console, false).await;
}

async fn renew(service: &Service, tenant_id: &str, console: &str, open: bool) {
    let (now_ms, tenant_id, console) = (service.now_ms(), tenant_id.to_owned(), console.to_owned());
    let renewed: Result<(), ApiError> = service
        .db()
        .write(move |tx| Box::pin(async move { renew_console(tx, now_ms, &tenant_id, &console, open).await }))
        .await;
    if let Err(error) = renewed {
        warn!("the presence of an operator is not renewed: {error}");
    }
}

/// A change, as the console is told of it.
struct Change {
    name: &'static str,
    data: Value,
}

impl Change {
    const RESET: Self = Self { name: "reset", data: Value::Null };

    /// Returns a change of a tenant; `None` for those of others.
    fn of(wake: Wake, tenant_id: &str) -> Option<Self> {
        if wake.tenant().is_some_and(|tenant| tenant != tenant_id) {
            return None;
        }
        let (name, data) = match wake {
            Wake::Conversation { site, conversation, .. } => (
                "conversation",
                Value::object([("siteId", site.into()), ("conversationId", conversation.into())]),
            ),
            Wake::Site { site, .. } => ("site", Value::object([("siteId", site.into())])),
            Wake::Settings { .. } => ("settings", Value::object([])),
            Wake::Presence { .. } => ("presence", Value::object([])),
            Wake::Everything => return Some(Self::RESET),
            Wake::Queue => return None,
        };
        Some(Self { name, data })
    }

    fn into_event(self) -> Event {
        Event::default().event(self.name).data(self.data.to_json())
    }
}
