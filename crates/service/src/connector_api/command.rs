//! Parses the input of each API call, and dispatches it to the module that implements it.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{
    Activation, Completion, ContentPage, Endpoint, EventBatch, Fields, JobId, SendMessage, ServerEndpoint,
    Value,
};

use super::access::Access;
use super::call::Call;
use super::send::send;
use super::{activation, chat, publishing};
use crate::Service;
use crate::error::ApiError;
use crate::idempotency::KeyedRequest;
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites::Site;
use crate::visitors::events;

/// Executes a call that changes nothing.
pub(crate) async fn query(
    service: &Service,
    site: &Arc<Site>,
    call: Call,
    uri: &Uri,
) -> Result<ApiResponse, ApiError> {
    let Query(params) = Query::<HashMap<String, String>>::try_from_uri(uri)?;
    let param = |name: &str| params.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let locale = || {
        let mut fields =
            Fields::lenient(Value::object([("locale", param("locale").map(str::to_owned).into())]));
        fields.optional_language_tag("locale")
    };
    let data = match call {
        Call::Chat(Endpoint::Config) => chat::config(site, locale()?.as_deref()),
        Call::Chat(Endpoint::Presence) => chat::presence(service, site, param("conversationId")).await?,
        Call::Chat(_) => {
            let id = param("conversationId")
                .ok_or(ApiError::InvalidRequest("conversationId is missing.".to_owned()))?;
            chat::messages(service, site, &id.into(), param("after")).await?
        }
        Call::Server(ServerEndpoint::Overlays) => {
            publishing::overlays(service, site, param("path"), locale()?.as_deref()).await?
        }
        Call::Server(_) => publishing::status(service, site).await?,
    };
    Ok(ApiResponse::success(data))
}

/// A call that changes something, with its parsed body.
#[derive(Debug)]
pub(crate) enum Command {
    Send(SendMessage),
    Events(EventBatch),
    Activate(Activation),
    Sync(ContentPage),
    Claim,
    Complete(JobId, Completion),
}

impl Command {
    /// Parses the body of a call; `job` is the job that the path names.
    pub(crate) fn parse(call: Call, job: Option<JobId>, body: &[u8]) -> Result<Self, ApiError> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| ApiError::InvalidRequest(format!("The body is not JSON: {error}.")))?;
        Ok(match (call, job) {
            (Call::Chat(Endpoint::Events), _) => Self::Events(events::bounded(EventBatch::try_from(body)?)),
            (Call::Chat(_), _) => Self::Send(SendMessage::try_from(body)?),
            (Call::Server(ServerEndpoint::Activate), _) => Self::Activate(Activation::try_from(body)?),
            (Call::Server(ServerEndpoint::SyncContent), _) => Self::Sync(publishing::content_page(body)?),
            (Call::Server(_), Some(job)) => Self::Complete(job, Completion::try_from(body)?),
            (Call::Server(_), None) if matches!(body, Value::Object(_)) => Self::Claim,
            (Call::Server(_), None) => {
                return Err(ApiError::InvalidRequest("The body must be an empty JSON object.".to_owned()));
            }
        })
    }

    /// Returns the visitor that a command of a page names.
    pub(crate) fn visitor_id(&self) -> Option<&str> {
        let id = match self {
            Self::Send(body) => body.visitor.visitor_id.as_ref(),
            Self::Events(batch) => batch.events.iter().find_map(|event| event.visitor_id.as_ref()),
            Self::Activate(_) | Self::Sync(_) | Self::Claim | Self::Complete(..) => None,
        };
        id.map(chat_protocol::VisitorId::as_str)
    }

    /// Executes the command, once if it has a key. Only parsed requests reach this point, so a refused
    /// request leaves its key unbound.
    pub(super) async fn execute(
        self,
        service: &Service,
        access: Access,
        caller: Caller,
        keyed: Option<KeyedRequest>,
    ) -> Result<ApiResponse, ApiError> {
        if let Self::Activate(body) = self {
            return activation::activate(service, body, caller, keyed).await;
        }
        let site = Arc::clone(access.site()?);
        match self {
            Self::Send(body) => {
                Box::pin(send(service, &site, body, access.page_origin(), caller, keyed)).await
            }
            Self::Events(batch) => chat::events(service, site, batch, keyed).await,
            Self::Sync(page) => publishing::sync(service, site, page, keyed).await,
            Self::Claim => publishing::claim(service, site, keyed).await,
            Self::Complete(job, body) => publishing::complete(service, site, job, body, keyed).await,
            Self::Activate(_) => Err(ApiError::Internal),
        }
    }
}
