//! Parses the input of each API call, and dispatches it to the module that implements it.

use std::collections::HashMap;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{
    Activation, Completion, ContentPage, Endpoint, EventBatch, Fields, IdempotencyKey, JobId, SendMessage,
    ServerEndpoint, Value,
};

use crate::Sandbox;
use crate::call::Call;
use crate::error::ApiError;
use crate::response::ApiResponse;
use crate::{chat, site};

/// Executes a call that changes nothing.
pub(crate) fn query(sandbox: &Sandbox, call: Call, uri: &Uri) -> Result<ApiResponse, ApiError> {
    let Query(params) = Query::<HashMap<String, String>>::try_from_uri(uri)?;
    let param = |name: &str| params.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let locale = || {
        let mut fields =
            Fields::lenient(Value::object([("locale", param("locale").map(str::to_owned).into())]));
        fields.optional_language_tag("locale")
    };
    let data = match call {
        Call::Chat(Endpoint::Config) => chat::config(sandbox, locale()?.as_deref())?,
        Call::Chat(Endpoint::Presence) => chat::presence(sandbox, param("conversationId"))?,
        Call::Chat(_) => {
            let id = param("conversationId")
                .ok_or(ApiError::InvalidRequest("conversationId is missing.".to_owned()))?;
            chat::messages(sandbox, &id.into(), param("after"))?
        }
        Call::Server(ServerEndpoint::Overlays) => {
            site::overlays(sandbox, param("path"), locale()?.as_deref())?
        }
        Call::Server(_) => site::status(sandbox)?,
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
            (Call::Chat(Endpoint::Events), _) => Self::Events(EventBatch::try_from(body)?),
            (Call::Chat(_), _) => Self::Send(SendMessage::try_from(body)?),
            (Call::Server(ServerEndpoint::Activate), _) => Self::Activate(Activation::try_from(body)?),
            (Call::Server(ServerEndpoint::SyncContent), _) => Self::Sync(site::content_page(body)?),
            (Call::Server(_), Some(job)) => Self::Complete(job, Completion::try_from(body)?),
            (Call::Server(_), None) if matches!(body, Value::Object(_)) => Self::Claim,
            (Call::Server(_), None) => {
                return Err(ApiError::InvalidRequest("The body must be an empty JSON object.".to_owned()));
            }
        })
    }

    /// Executes the command.
    pub(crate) async fn execute(
        self,
        sandbox: &Sandbox,
        key: Option<&IdempotencyKey>,
    ) -> Result<ApiResponse, ApiError> {
        let data = match self {
            Self::Send(body) => chat::send(sandbox, body, key).await?,
            Self::Events(batch) => chat::events(sandbox, batch, key)?,
            Self::Activate(body) => site::activate(sandbox, &body)?,
            Self::Sync(page) => site::sync(sandbox, page).await?,
            Self::Claim => site::claim(sandbox)?,
            Self::Complete(job, body) => site::complete(sandbox, &job, &body)?,
        };
        Ok(ApiResponse::success(data))
    }
}
