//! Each of the calls, handed to the part of the service that it is about.

use std::collections::HashMap;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{
    Activation, Completion, ContentPage, Endpoint, EventBatch, Fields, IdempotencyKey, JobId, SendMessage,
    ServerEndpoint, Value,
};

use crate::Sandbox;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::{chat, site};

pub(crate) const TENANT: &str = "tenant_demo";
pub(crate) const SITE: &str = "site_kiln_and_clover";

pub(crate) fn read(sandbox: &Sandbox, call: Call, uri: &Uri) -> Result<Answer, ApiError> {
    let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri)
        .map_err(|rejection| ApiError::InvalidRequest(rejection.body_text()))?;
    let asked = |name: &str| query.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let locale = || {
        let mut query =
            Fields::lenient(Value::object([("locale", asked("locale").map(str::to_owned).into())]));
        query.optional_language_tag("locale")
    };
    let data = match call {
        Call::Chat(Endpoint::Config) => chat::config(sandbox, locale()?.as_deref())?,
        Call::Chat(Endpoint::Presence) => chat::presence(sandbox, asked("conversationId"))?,
        Call::Chat(_) => {
            let id = asked("conversationId")
                .ok_or(ApiError::InvalidRequest("conversationId is missing.".to_owned()))?;
            chat::messages(sandbox, &id.into(), asked("after"))?
        }
        Call::Server(ServerEndpoint::Overlays) => {
            site::overlays(sandbox, asked("path"), locale()?.as_deref())?
        }
        Call::Server(_) => site::status(sandbox)?,
    };
    Ok(Answer::success(data))
}

/// A request that changes something, whose body could be read.
#[derive(Debug)]
pub(crate) enum Change {
    Send(SendMessage),
    Events(EventBatch),
    Activate(Activation),
    Sync(ContentPage),
    Claim,
    Complete(JobId, Completion),
}

impl Change {
    /// Reads the body of a call; `job` is the one that its path names.
    pub(crate) fn read(call: Call, job: Option<JobId>, body: &[u8]) -> Result<Self, ApiError> {
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
                return Err(ApiError::InvalidRequest("The body must be an empty object.".to_owned()));
            }
        })
    }

    pub(crate) async fn carry_out(
        self,
        sandbox: &Sandbox,
        key: Option<&IdempotencyKey>,
    ) -> Result<Answer, ApiError> {
        let data = match self {
            Self::Send(body) => chat::send(sandbox, body, key).await?,
            Self::Events(batch) => chat::events(sandbox, batch, key)?,
            Self::Activate(body) => site::activate(sandbox, &body)?,
            Self::Sync(page) => site::sync(sandbox, page).await?,
            Self::Claim => site::claim(sandbox)?,
            Self::Complete(job, body) => site::complete(sandbox, &job, &body)?,
        };
        Ok(Answer::success(data))
    }
}
