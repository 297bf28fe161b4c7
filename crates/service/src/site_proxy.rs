//! The proxy paths of a site (4.13), below `/connector/{site}`, for pages without a server of their own.
//!
//! A page calls them without a token: the site is the one that the path names, and its pages are those of its
//! allowed origins. The calls are executed as those of the connector API.

mod origin;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use chat_protocol::{ChatConfig, Endpoint};

use crate::connector_api::{self, Access, Call};
use crate::error::ApiError;
use crate::rate::{Caller, Quota};
use crate::response::ApiResponse;
use crate::{Service, onboarding};
use origin::Allowed;

/// The path of all sites' proxy paths.
const BASE: &str = "/connector/";
/// Maximum length of a site's id, in bytes.
const MAX_ID_BYTES: usize = 64;
/// The Content-Security-Policy of every response: none of them is a page.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

const NO_PATH: ApiError = ApiError::NotFound("This path");
/// The response for unknown, disabled and deleted sites, which nobody can tell apart. It is not 404, after
/// which a widget forgets its conversation: the site may be enabled again.
const NO_SITE: ApiError =
    ApiError::Forbidden("This site has no chat: it is switched off, or the site's id is wrong.");

/// Returns the routes. Those of the calls are named, for the metrics.
pub(crate) fn routes() -> Router<Service> {
    let mut router = Router::new()
        .route("/connector", any(handle))
        .route("/connector/", any(handle))
        .route("/connector/{site}", any(handle))
        .route("/connector/{site}/", any(handle))
        .route("/connector/{site}/{*path}", any(handle));
    for path in ["/chat/config", "/chat/messages", "/chat/presence", "/events"] {
        router = router.route(&format!("{BASE}{{site}}{path}"), any(handle));
    }
    router
}

/// The facts about a request that complete its response.
#[derive(Default)]
struct Progress {
    allowed: Option<Allowed>,
    quota: Option<Quota>,
}

async fn handle(State(service): State<Service>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let has_body = !body.is_end_stream();
    let mut progress = Progress::default();
    let result = process(&service, &parts, body, &mut progress).await;
    let failed = result.is_err();
    let mut response = result.unwrap_or_else(IntoResponse::into_response);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    if let Some(quota) = progress.quota {
        quota.write_to(headers);
    }
    if let Some(allowed) = progress.allowed {
        allowed.write_to(headers);
    }
    // The body may not have been read to its end: the next request on this connection would be lost.
    if failed && has_body {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn process(
    service: &Service,
    parts: &Parts,
    body: Body,
    progress: &mut Progress,
) -> Result<Response, ApiError> {
    let (id, path) = split(parts.uri.path()).ok_or(NO_PATH)?;
    let site = connector_api::site(service, id).await?.filter(|site| site.is_active());
    let allowed = match &site {
        Some(site) => origin::check(service, site, parts),
        // Says nothing of any site. A page that cannot read it would take it for a lost connection.
        None => Ok(Allowed::any_page(parts)),
    };
    progress.allowed = allowed.clone().ok();
    let is_preflight = progress.allowed.as_ref().is_some_and(Allowed::is_preflight);
    let access = site.map(|site| Access::Page { site, origin: origin::of(parts) });
    let endpoints: Vec<Endpoint> = Endpoint::ALL.into_iter().filter(|it| it.path() == path).collect();
    // Nothing is counted for a site or a path that does not exist: a client could invent any number of them,
    // and counting costs more than the response.
    if let Some(access) = access.as_ref().filter(|_| !endpoints.is_empty()) {
        let quota = access.count(service, Caller::client(parts)).await?;
        progress.quota = Some(quota);
        quota.check()?;
    }
    if let (Err(_), Some(access), [_, ..]) = (&allowed, &access, endpoints.as_slice()) {
        onboarding::record_refused(service, access.site_id(), origin::of(parts).as_deref());
    }
    allowed?;
    let allow = match endpoints.as_slice() {
        [] => return Err(NO_PATH),
        [_, _] => "GET, POST",
        [endpoint] if endpoint.method() == chat_protocol::Method::Post => "POST",
        _ => "GET",
    };
    if is_preflight {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let matches = |endpoint: &Endpoint| match endpoint.method() {
        chat_protocol::Method::Get => parts.method == Method::GET,
        chat_protocol::Method::Post => parts.method == Method::POST,
    };
    let endpoint = endpoints.into_iter().find(matches).ok_or(ApiError::MethodNotAllowed { allow })?;
    let response = match access {
        Some(access) => call(service, access, endpoint, parts, body).await?,
        None if endpoint == Endpoint::Config => ApiResponse::success((&switched_off()).into()),
        None => return Err(NO_SITE),
    };
    Ok(response.into_response())
}

/// Returns the config of a chat that is switched off, by which pages show none.
fn switched_off() -> ChatConfig {
    ChatConfig { enabled: false, widget_enabled: false, ..ChatConfig::default() }
}

/// Executes a call of a site's page.
async fn call(
    service: &Service,
    access: Access,
    endpoint: Endpoint,
    parts: &Parts,
    body: Body,
) -> Result<ApiResponse, ApiError> {
    let call = Call::Chat(endpoint);
    let site = access.site()?;
    // Pages of the service itself, such as the preview of the console, have an origin that is not listed.
    let is_listed = |origin: &String| site.allowed_origins.contains(origin);
    if endpoint == Endpoint::Config && origin::of(parts).as_ref().is_some_and(is_listed) {
        onboarding::record_seen(service, &site.id);
    }
    let identity = connector_api::proved(service, &access, call, &parts.headers)?;
    if endpoint.method() == chat_protocol::Method::Get {
        let opened = connector_api::opened(service, &access, call, parts).await?;
        return connector_api::query(service, site, call, identity.as_ref(), opened, &parts.uri).await;
    }
    let (command, keyed) = connector_api::read(service, &site.id, call, None, parts, body).await?;
    // Nobody uses up what a verified visitor may send.
    let visitor_id = identity.as_ref().map(|identity| identity.id.as_str()).or(command.visitor_id());
    if let Some(visitor_id) = visitor_id {
        service.0.rates.visitors.take(service, &site.id, Caller::visitor(visitor_id)).await?.check()?;
    }
    connector_api::execute(service, command, access, identity, Caller::client(parts), keyed).await
}

/// Returns the site's id and the path below it, if the id can be one.
fn split(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(BASE)?;
    let (id, path) = rest.split_at(rest.find('/')?);
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    ((1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_id)).then_some((id, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_path_only_where_the_id_can_be_one() {
        assert_eq!(split("/connector/site_1/chat/config"), Some(("site_1", "/chat/config")));
        assert_eq!(split("/connector/site_1/../x"), Some(("site_1", "/../x")));
        let long = format!("/connector/{}/events", "s".repeat(65));
        for path in ["/connector", "/connector/", "/connector/site_1", "/connector//events", &long] {
            assert_eq!(split(path), None, "{path}");
        }
        for id in ["..", "%2e%2e", "a.b", "a%00", "a;b", "ü"] {
            assert_eq!(split(&format!("/connector/{id}/events")), None, "{id}");
        }
    }
}
