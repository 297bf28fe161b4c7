//! One call: attempts with limits on size and time, until one succeeds or the call fails for good.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use chat_protocol::{
    Endpoint, FieldError, IdempotencyKey, JobId, Method, ServerEndpoint, Value, open_envelope,
};
use reqwest::{Client, Url};
use secrecy::SecretString;
use tracing::{Instrument, Span, debug, field, info_span, warn};

use super::back_off::BackOff;
use super::error::ConnectorError;
use super::options::ClientOptions;
use crate::bounded_body::{BodyError, read_bounded};
use crate::connection::{
    address, bearer, chain, client_error, http_client, retry_after, warn_if_unencrypted,
};
use crate::origin;

/// The connection to the service.
#[derive(Debug)]
pub(super) struct Exchange {
    client: Client,
    origin: Url,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    back_off: BackOff,
    answer_limit: usize,
}

/// A call to the service.
pub(super) struct Call {
    method: Method,
    /// The path as in the contract, for the log.
    template: &'static str,
    path: String,
    query: Vec<(&'static str, String)>,
    key: Option<IdempotencyKey>,
    body: Option<String>,
}

impl Call {
    pub(super) fn chat(endpoint: Endpoint) -> Self {
        Self::new(endpoint.method(), endpoint.path())
    }

    pub(super) fn server(endpoint: ServerEndpoint) -> Self {
        Self::new(endpoint.method(), endpoint.path())
    }

    fn new(method: Method, template: &'static str) -> Self {
        Self { method, template, path: template.to_owned(), query: Vec::new(), key: None, body: None }
    }

    pub(super) fn query(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_owned())));
        self
    }

    pub(super) fn keyed(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the body. It is serialised once: every attempt sends the same bytes.
    pub(super) fn body(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string());
        self
    }

    pub(super) fn job(mut self, job: &JobId) -> Self {
        // Escaped, so that any id stays within one segment of the path.
        let segment: String = job
            .as_str()
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
                _ => format!("%{byte:02X}"),
            })
            .collect();
        self.path = self.template.replace("{id}", &segment);
        self
    }
}

/// A response before it is parsed.
struct RawResponse {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Exchange {
    pub(super) fn new(options: &ClientOptions, token: Option<&SecretString>) -> Result<Self, ConnectorError> {
        let setup = |error: &dyn std::error::Error| ConnectorError::setup(error.to_string());
        let origin = origin::parse(&options.origin).map_err(|error| setup(&error))?;
        let authorization = token.map(bearer).transpose().map_err(|error| setup(&error))?;
        warn_if_unencrypted(&origin);
        let client = http_client(&origin).map_err(|error| ConnectorError::setup(client_error(&error)))?;
        let ClientOptions { timeout, back_off, answer_limit, .. } = *options;
        Ok(Self { client, origin, authorization, timeout, back_off, answer_limit })
    }

    /// Returns the service's origin.
    pub(super) fn origin(&self) -> &Url {
        &self.origin
    }

    /// Makes a call and parses the data of its response.
    pub(super) async fn call<T: TryFrom<Value, Error = FieldError>>(
        &self,
        call: Call,
    ) -> Result<T, ConnectorError> {
        self.call_for(call, T::try_from).await
    }

    pub(super) async fn call_for<T>(
        &self,
        call: Call,
        read: impl Fn(Value) -> Result<T, FieldError>,
    ) -> Result<T, ConnectorError> {
        let span = info_span!(
            "connector_call",
            path = call.template,
            attempts = field::Empty,
            status = field::Empty,
            request_id = field::Empty
        );
        self.attempts(&call, read).instrument(span).await
    }

    async fn attempts<T>(
        &self,
        call: &Call,
        read: impl Fn(Value) -> Result<T, FieldError>,
    ) -> Result<T, ConnectorError> {
        let mut failed = 0;
        loop {
            let outcome = self.attempt(call).await.and_then(|response| parse_response(&response, &read));
            let error = match outcome {
                Ok(data) => {
                    Span::current().record("attempts", failed + 1);
                    debug!("succeeded");
                    return Ok(data);
                }
                Err(error) => error,
            };
            failed += 1;
            let wait = self.back_off.wait(failed, error.retry_after).filter(|_| error.retryable);
            let Some(wait) = wait else {
                Span::current().record("attempts", failed);
                debug!(%error, "failed");
                return Err(error);
            };
            warn!(%error, failed, wait_ms = wait.as_millis(), "retrying");
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, call: &Call) -> Result<RawResponse, ConnectorError> {
        match tokio::time::timeout(self.timeout, self.exchange(call)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ConnectorError::timeout(self.timeout)),
        }
    }

    async fn exchange(&self, call: &Call) -> Result<RawResponse, ConnectorError> {
        let mut url = address(&self.origin, &call.path, None);
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = match call.method {
            Method::Get => self.client.get(url),
            Method::Post => self.client.post(url).header(header::CONTENT_TYPE, "application/json"),
        };
        request = request.header(header::ACCEPT, "application/json");
        // A compressed response could not be parsed, and would be larger than its declared size.
        request = request.header(header::ACCEPT_ENCODING, "identity");
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.clone());
        }
        if let Some(key) = &call.key {
            request = request.header(IDEMPOTENCY_KEY, key.as_str());
        }
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        let http_error =
            |error: reqwest::Error| ConnectorError::unreachable("cannot reach the service", &chain(error));
        let mut response = request.send().await.map_err(http_error)?;
        let status = response.status().as_u16();
        let body = read_bounded(&mut response, self.answer_limit).await.map_err(|error| match error {
            BodyError::Http(error) => http_error(error),
            error @ BodyError::TooLarge { .. } => {
                ConnectorError::invalid_response(status, &error.to_string(), None)
            }
        })?;
        Ok(RawResponse { status, headers: response.headers().clone(), body })
    }
}

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Opens a response's envelope and parses its data.
fn parse_response<T>(
    response: &RawResponse,
    read: impl Fn(Value) -> Result<T, FieldError>,
) -> Result<T, ConnectorError> {
    let RawResponse { status, headers, body } = response;
    let request_id = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    Span::current().record("status", status);
    if let Some(id) = &request_id {
        Span::current().record("request_id", id.as_str());
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let data = open_envelope(*status, body).map_err(|mut error| {
        error.request_id = error.request_id.or(request_id.clone());
        let refused = ConnectorError::refused(error, retry_after(headers));
        // A transient failure may come from a gateway in front of the service.
        if refused.code.as_str().is_empty() && !refused.retryable {
            let message =
                format!("status {status} is not a response of the connector API: check the service's origin");
            return ConnectorError::invalid_response(*status, &message, refused.request_id);
        }
        refused
    })?;
    read(data).map_err(|error| {
        ConnectorError::invalid_response(*status, &format!("invalid response: {error}"), request_id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_a_job_id_within_its_path_segment() {
        let path = |id: &str| Call::server(ServerEndpoint::CompleteJob).job(&id.into()).path;
        assert_eq!(path("job_1"), "/site/jobs/job_1/complete");
        assert_eq!(path("../a b?c#d"), "/site/jobs/%2E%2E%2Fa%20b%3Fc%23d/complete");
    }
}
