//! Refuses requests that the console itself did not send, and looks up the session of the others.
//!
//! A page of another site that is open in the same browser could use an operator's session: by cross-site
//! requests, or through DNS rebinding. Each request is therefore checked by `Host`, `Origin` and
//! `Sec-Fetch-Site`. A request that changes something also needs a content type that no form can send.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Method, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::client::{self, Transport};
use super::cookie::Cookie;
use super::session;
use crate::Service;
use crate::error::ApiError;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// The operator for whom a console sends its requests.
const OPERATOR: HeaderName = HeaderName::from_static("operator-id");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The kind of routes that are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Api,
    /// Pages, which links on other sites may open.
    Pages,
}

/// Protects the routes of the admin API. [`Operator`](super::Operator) is available to their handlers only.
pub(crate) fn guarded(routes: Router<Service>, service: &Service) -> Router<Service> {
    layered(routes, service, Kind::Api)
}

/// Protects the console's pages, which hold nothing of a tenant.
pub(crate) fn guarded_pages(routes: Router<Service>, service: &Service) -> Router<Service> {
    layered(routes, service, Kind::Pages)
}

fn layered(routes: Router<Service>, service: &Service, kind: Kind) -> Router<Service> {
    routes.layer(middleware::from_fn_with_state((service.clone(), kind), guard))
}

async fn guard(State((service, kind)): State<(Service, Kind)>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let public = service.0.options.public_origin.as_deref();
    let session = match check(&parts, public, kind) {
        Ok(()) if kind == Kind::Api => identify(&service, &mut parts).await,
        checked => checked.map(|()| None),
    };
    let mut response = match session {
        Ok(cookie) => {
            let mut response = next.run(Request::from_parts(parts, body)).await;
            // A handler that signs out or in has the last word on the session's cookie.
            if let Some(cookie) = cookie
                && !response.headers().contains_key(header::SET_COOKIE)
            {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(error) => error.into_response(),
    };
    protect(response.headers_mut(), kind);
    response
}

/// Adds the session of the request's cookie to its extensions. Returns the cookie that replaces it, when the
/// session has been used for long.
///
/// The tabs of a browser have one session. A tab that still shows the workspace before a switch says for
/// which operator it asks, and is refused, so that nothing of it reaches the other workspace.
async fn identify(service: &Service, parts: &mut Parts) -> Result<Option<HeaderValue>, ApiError> {
    let transport = client::transport(service, parts);
    let Some(secret) = Cookie::Session.read(&parts.headers, transport).map(str::to_owned) else {
        return Ok(None);
    };
    let Some((operator, session)) = session::find(service, &secret).await? else { return Ok(None) };
    if parts.headers.get(OPERATOR).is_some_and(|id| id.as_bytes() != operator.id.as_bytes()) {
        return Err(ApiError::OperatorChanged);
    }
    let rotated = session::keep_alive(service, &session, &secret).await;
    parts.extensions.insert(operator);
    parts.extensions.insert(session);
    Ok(rotated.and_then(|secret| session_cookie(&secret, transport)))
}

/// Returns the cookie of a session.
pub(super) fn session_cookie(secret: &str, transport: Transport) -> Option<HeaderValue> {
    Cookie::Session.set(secret, session::MAX_AGE.as_secs().cast_signed(), transport)
}

/// Adds the headers that keep other sites from embedding a response, and caches from storing it.
fn protect(headers: &mut HeaderMap, kind: Kind) {
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Pages need a policy of their own, and their files may be cached.
    let policy = HeaderValue::from_static(API_POLICY);
    let no_store = HeaderValue::from_static("no-store");
    match kind {
        Kind::Api => {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
            headers.insert(header::CACHE_CONTROL, no_store);
        }
        Kind::Pages => {
            headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
            headers.entry(header::CACHE_CONTROL).or_insert(no_store);
        }
    }
}

/// Refuses a request that a page of another origin sent, or one to an unknown host.
pub(crate) fn check_source(service: &Service, parts: &Parts) -> Result<(), ApiError> {
    check_origin(parts, service.0.options.public_origin.as_deref(), Kind::Api)
}

fn check(parts: &Parts, public: Option<&str>, kind: Kind) -> Result<(), ApiError> {
    check_origin(parts, public, kind)?;
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&parts.method);
    if !reads && !is_json(&parts.headers) {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    Ok(())
}

fn check_origin(parts: &Parts, public: Option<&str>, kind: Kind) -> Result<(), ApiError> {
    let host =
        client::host(parts).ok_or(ApiError::Forbidden("Invalid Host: expected one name or address."))?;
    if !is_ours(&host, public) {
        return Err(ApiError::Forbidden("Unknown Host: set the public origin of the service to this host."));
    }
    if parts.headers.contains_key(header::ORIGIN) && !is_own_origin(&parts.headers, &host, public) {
        return Err(ApiError::Forbidden("Requests of other websites are refused: Origin is not this host."));
    }
    let site = parts.headers.get(SITE).map(HeaderValue::as_bytes);
    let is_own = matches!(site, None | Some(b"same-origin" | b"none"));
    let is_page = kind == Kind::Pages && is_link(parts);
    if !is_own && !is_page {
        return Err(ApiError::Forbidden(
            "Requests of other websites are refused: Sec-Fetch-Site is not same-origin.",
        ));
    }
    Ok(())
}

/// Returns whether the content type is JSON. A page of another site cannot send it without a CORS preflight.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(content_type), None) = (types.next(), types.next()) else { return false };
    let media_type = content_type.to_str().ok().and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// Returns whether a host is that of the public origin. A service without one is reached by `localhost` or by
/// an IP address, which no other site can name.
fn is_ours(host: &Authority, public: Option<&str>) -> bool {
    match public {
        Some(public) => {
            let public = public.parse::<Uri>().ok();
            let name = public.as_ref().and_then(Uri::host);
            name.is_some_and(|name| name.eq_ignore_ascii_case(host.host()))
        }
        None => client::is_localhost(host) || client::literal(host).is_some(),
    }
}

/// Returns whether `Origin` is the public origin, or the host itself where there is none.
fn is_own_origin(headers: &HeaderMap, host: &Authority, public: Option<&str>) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next().and_then(|origin| origin.to_str().ok()), origins.next())
    else {
        return false;
    };
    if let Some(public) = public {
        return origin.eq_ignore_ascii_case(public.trim_end_matches('/'));
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
}

/// Returns whether the request is a top-level navigation.
fn is_link(parts: &Parts) -> bool {
    let says = |name: &HeaderName, value: &str| {
        parts.headers.get(name).is_some_and(|sent| sent.as_bytes() == value.as_bytes())
    };
    parts.method == Method::GET && says(&MODE, "navigate") && says(&DESTINATION, "document")
}
