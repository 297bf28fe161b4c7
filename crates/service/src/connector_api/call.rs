//! Finds the API call that a request makes.

use axum::http::Method;
use axum::http::request::Parts;
use chat_protocol::{Endpoint, JobId, ServerEndpoint};

use crate::API_BASE;
use crate::error::ApiError;

/// A call of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A call of the browser, through the site's proxy.
    Chat(Endpoint),
    /// A call of the site's server.
    Server(ServerEndpoint),
}

impl Call {
    fn all() -> impl Iterator<Item = Self> {
        let chat = Endpoint::ALL.into_iter().map(Self::Chat);
        chat.chain(ServerEndpoint::ALL.into_iter().map(Self::Server))
    }

    pub(crate) fn method(self) -> chat_protocol::Method {
        match self {
            Self::Chat(endpoint) => endpoint.method(),
            Self::Server(endpoint) => endpoint.method(),
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat(endpoint) => endpoint.path(),
            Self::Server(endpoint) => endpoint.path(),
        }
    }

    /// Returns the maximum size of the body, in bytes.
    pub(crate) fn body_limit(self) -> usize {
        match self {
            Self::Chat(Endpoint::Events) | Self::Server(ServerEndpoint::CompleteJob) => 256 * 1024,
            Self::Server(ServerEndpoint::SyncContent) => 8 * 1024 * 1024,
            _ => 64 * 1024,
        }
    }

    /// Returns the call that a request makes, and the job that its path names.
    pub(crate) fn from_request(parts: &Parts) -> Result<(Self, Option<JobId>), ApiError> {
        let path = below_base(parts.uri.path());
        let job = path.strip_prefix("/site/jobs/").and_then(|rest| rest.strip_suffix("/complete"));
        let job = job.filter(|id| !id.is_empty() && !id.contains('/')).map(JobId::from);
        let path = if job.is_some() { ServerEndpoint::CompleteJob.path() } else { path };
        let candidates: Vec<Self> = Self::all().filter(|call| call.path() == path).collect();
        if candidates.is_empty() || path.contains('{') != job.is_some() {
            return Err(ApiError::NotFound("This path"));
        }
        let allow = match candidates.as_slice() {
            [_, _] => "GET, POST",
            [call] if call.method() == chat_protocol::Method::Post => "POST",
            _ => "GET",
        };
        let call = candidates.into_iter().find(|call| match call.method() {
            chat_protocol::Method::Get => parts.method == Method::GET,
            chat_protocol::Method::Post => parts.method == Method::POST,
        });
        call.map(|call| (call, job)).ok_or(ApiError::MethodNotAllowed { allow })
    }
}

pub(crate) fn below_base(path: &str) -> &str {
    path.strip_prefix(API_BASE).unwrap_or(path)
}
