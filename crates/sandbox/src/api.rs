//! Each of the calls, handed to the part of the service that it is about.

use std::collections::HashMap;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{Endpoint, IdempotencyKey, JobId, ServerEndpoint, Value};

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
    let data = match call {
        Call::Chat(Endpoint::Config) => chat::config(sandbox, asked("locale"))?,
        Call::Chat(Endpoint::Presence) => chat::presence(sandbox, asked("conversationId"))?,
        Call::Chat(_) => {
            let id = asked("conversationId")
                .ok_or(ApiError::InvalidRequest("conversationId is missing.".to_owned()))?;
            chat::messages(sandbox, &id.into(), asked("after"))?
        }
        Call::Server(ServerEndpoint::Overlays) => site::overlays(sandbox, asked("path"), asked("locale"))?,
        Call::Server(_) => site::status(sandbox)?,
    };
    Ok(Answer::success(data))
}

pub(crate) async fn write(
    sandbox: &Sandbox,
    call: Call,
    job: Option<&JobId>,
    body: &[u8],
    key: Option<IdempotencyKey>,
) -> Result<Answer, ApiError> {
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| ApiError::InvalidRequest(format!("The body is not JSON: {error}.")))?;
    let data = match (call, job) {
        (Call::Chat(Endpoint::Events), _) => chat::events(sandbox, body, key.as_ref())?,
        (Call::Chat(_), _) => chat::send(sandbox, body, key).await?,
        (Call::Server(ServerEndpoint::Activate), _) => site::activate(sandbox, body)?,
        (Call::Server(ServerEndpoint::SyncContent), _) => site::sync(sandbox, body)?,
        (Call::Server(_), Some(job)) => site::complete(sandbox, job, body)?,
        (Call::Server(_), None) => site::claim(sandbox, &body)?,
    };
    Ok(Answer::success(data))
}
