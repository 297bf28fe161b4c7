//! Refuses requests of other websites to the console and the test paths.
//!
//! These paths require no password, so a page that is open in the same browser could use them: through DNS
//! rebinding, or by cross-site requests. Each request is therefore checked by `Host`, `Origin` and
//! `Sec-Fetch-Site`; a request that changes something also needs a content type that no form can send.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::TestMode;
use crate::connector_api::is_json;
use crate::error::ApiError;

/// Pages that links on other sites may open.
const PAGES: [&str; 2] = ["/", "/operator"];

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) async fn guard(State(mode): State<TestMode>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let mut response = match check(&parts, &mode.0.hosts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => error.into_response(),
    };
    // No other site may embed these responses, not even as an image or a script.
    response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn check(parts: &Parts, hosts: &[String]) -> Result<(), ApiError> {
    let host = host(parts).ok_or(ApiError::Forbidden("Invalid Host: expected one name or address."))?;
    if !is_ours(&host, hosts) {
        return Err(ApiError::Forbidden("Unknown Host: add it with the option --host."));
    }
    if parts.headers.contains_key(header::ORIGIN) && !is_own_origin(&parts.headers, &host) {
        return Err(ApiError::Forbidden("Requests of other websites are refused: Origin is not this host."));
    }
    let site = parts.headers.get(SITE).map(HeaderValue::as_bytes);
    if !matches!(site, None | Some(b"same-origin" | b"none")) && !is_link(parts) {
        return Err(ApiError::Forbidden(
            "Requests of other websites are refused: Sec-Fetch-Site is not same-origin.",
        ));
    }
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&parts.method);
    if !reads && !is_json(&parts.headers) {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    Ok(())
}

/// Returns the host of a request, from its target or its header; `None` when there is no host, or more than
/// one.
fn host(parts: &Parts) -> Option<Authority> {
    let mut named = parts.headers.get_all(header::HOST).iter();
    let named = match (named.next(), named.next()) {
        (Some(host), None) => Some(Authority::try_from(host.as_bytes()).ok()?),
        (Some(_), Some(_)) => return None,
        (None, _) => None,
    };
    let host = match (named, parts.uri.authority()) {
        (Some(named), Some(target)) if named != *target => return None,
        (Some(host), _) => host,
        (None, target) => target?.clone(),
    };
    (!host.as_str().contains('@')).then_some(host)
}

/// Returns whether a host is this machine: `localhost`, an IP address, or one of the configured names.
fn is_ours(host: &Authority, hosts: &[String]) -> bool {
    let name = host.host().to_ascii_lowercase();
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.parse::<Ipv4Addr>().is_ok()
        || address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
        || name == "localhost"
        || name.ends_with(".localhost")
        || hosts.iter().any(|known| known.eq_ignore_ascii_case(&name))
}

/// Returns whether `Origin` is the host itself. The scheme is not compared, as a reverse proxy may terminate
/// TLS.
fn is_own_origin(headers: &HeaderMap, host: &Authority) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (origin, None) = (origins.next().and_then(|origin| origin.to_str().ok()), origins.next()) else {
        return false;
    };
    let authority = origin
        .and_then(|origin| origin.split_once("://"))
        .and_then(|(scheme, authority)| ["http", "https"].contains(&scheme).then_some(authority));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
}

/// Returns whether the request is a top-level navigation to one of the [`PAGES`].
fn is_link(parts: &Parts) -> bool {
    let says = |name: &HeaderName, value: &str| {
        parts.headers.get(name).is_some_and(|sent| sent.as_bytes() == value.as_bytes())
    };
    parts.method == Method::GET
        && PAGES.contains(&parts.uri.path())
        && says(&MODE, "navigate")
        && says(&DESTINATION, "document")
}
