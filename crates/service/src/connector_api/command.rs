//! Parses the input of each API call, and dispatches it to the module that implements it.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{
    Activation, Completion, ContentPage, ConversationId, Endpoint, EventBatch, Fields, JobId, SendMessage,
    ServerEndpoint, Value,
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
use crate::storage::{self, Class};
use crate::visitors::identity::{Identity, claimed};
use crate::visitors::{self, events};

/// Bytes that a request with an idempotency key needs, as the database counts them.
const REQUEST_BYTES: usize = 2048;
/// Bytes that a new conversation needs beside its profile.
const CONVERSATION_BYTES: usize = 2048;
/// Bytes that a message needs beside its text.
const MESSAGE_BYTES: usize = 300;

/// Executes a call that changes nothing.
pub(crate) async fn query(
    service: &Service,
    site: &Arc<Site>,
    call: Call,
    identity: Option<&Identity>,
    opened: Option<ConversationId>,
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
        Call::Chat(Endpoint::Config) => chat::config(service, site, locale()?.as_deref()).await?,
        Call::Chat(Endpoint::Presence) => chat::presence(service, site, param("conversationId")).await?,
        Call::Chat(_) => {
            let id = param("conversationId").map(ConversationId::from).or(opened);
            chat::messages(service, site, id, identity, param("after")).await?
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
            (Call::Chat(Endpoint::Events), _) => {
                let mut batch = events::bounded(EventBatch::try_from(body)?);
                for event in &mut batch.events {
                    event.visitor_id = claimed(event.visitor_id.take());
                }
                Self::Events(batch)
            }
            (Call::Chat(_), _) => {
                let mut body = SendMessage::try_from(body)?;
                body.visitor.visitor_id = claimed(body.visitor.visitor_id.take());
                Self::Send(body)
            }
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

    /// Returns the command with all events those of the visitor whom the site has proved, if there is one.
    fn attributed(mut self, identity: Option<&Identity>) -> Self {
        if let (Self::Events(batch), Some(identity)) = (&mut self, identity) {
            for event in &mut batch.events {
                event.visitor_id = Some(identity.id.clone());
            }
        }
        self
    }

    /// Returns what a command stores at a site, and how many bytes, about as the database counts them if the
    /// conversation and the visitors are new. Content is counted when it is stored, since it replaces other
    /// content.
    fn stored(&self, site: &Site, identity: Option<&Identity>) -> Option<(Class, usize)> {
        match self {
            Self::Send(body) => {
                let conversation = CONVERSATION_BYTES + 2 * profile_bytes(body, identity);
                let visitor = visitors::row_bytes(identity.map(|identity| &identity.profile));
                let message = MESSAGE_BYTES + 2 * body.message.len();
                Some((Class::Message, REQUEST_BYTES + conversation + visitor + message))
            }
            Self::Events(batch) if site.tracking_enabled => {
                Some((Class::Bulk, REQUEST_BYTES + events::stored_bytes(batch)))
            }
            Self::Events(_) => Some((Class::Bulk, REQUEST_BYTES)),
            Self::Sync(_) | Self::Claim | Self::Complete(..) => Some((Class::Message, REQUEST_BYTES)),
            Self::Activate(_) => None,
        }
    }

    /// Refuses a command for which there is no space, unless an earlier attempt was accepted: its repetition
    /// gets the same response.
    async fn admit(
        &self,
        service: &Service,
        site: &Site,
        identity: Option<&Identity>,
        caller: Caller,
        keyed: Option<&KeyedRequest>,
    ) -> Result<(), ApiError> {
        let Some((class, bytes)) = self.stored(site, identity) else { return Ok(()) };
        let (place, bytes) =
            ((site.tenant_id.as_str(), site.id.as_str()), bytes.try_into().unwrap_or(u64::MAX));
        let Err(error) = storage::admit(service, place, caller, class, bytes).await else { return Ok(()) };
        let failed = matches!(error, ApiError::Unavailable | ApiError::Internal);
        match keyed {
            // A database that fails is not asked again: its caller has waited for one time limit already.
            Some(keyed) if !failed && keyed.is_bound(service.db(), service.now_ms()).await? => Ok(()),
            _ => Err(error),
        }
    }

    /// Executes the command, once if it has a key. Only parsed requests reach this point, so a refused
    /// request leaves its key unbound.
    pub(super) async fn execute(
        self,
        service: &Service,
        access: Access,
        identity: Option<Identity>,
        caller: Caller,
        keyed: Option<KeyedRequest>,
    ) -> Result<ApiResponse, ApiError> {
        if let Self::Activate(body) = self {
            return activation::activate(service, body, caller, keyed).await;
        }
        let identity = identity.as_ref();
        let site = Arc::clone(access.site()?);
        let command = self.attributed(identity);
        command.admit(service, &site, identity, caller, keyed.as_ref()).await?;
        match command {
            Self::Send(body) => {
                Box::pin(send(service, &site, body, identity, access.page_origin(), caller, keyed)).await
            }
            Self::Events(batch) => chat::events(service, site, batch, keyed).await,
            Self::Sync(page) => publishing::sync(service, site, page, keyed).await,
            Self::Claim => publishing::claim(service, site, keyed).await,
            Self::Complete(job, body) => publishing::complete(service, site, job, body, keyed).await,
            Self::Activate(_) => Err(ApiError::Internal),
        }
    }
}

/// Returns the maximum bytes of the profile of a message's conversation: what the page claims, and what the
/// site has proved.
fn profile_bytes(body: &SendMessage, identity: Option<&Identity>) -> usize {
    let proved = identity
        .map_or(0, |identity| visitors::profile_bytes(&identity.profile) + identity.id.as_str().len());
    visitors::profile_bytes(&body.visitor) + proved
}

#[cfg(test)]
mod command_tests;
