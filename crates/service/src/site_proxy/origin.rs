//! The pages that may call the proxy paths of a site: those of its allowed origins, and of the service's own.

use axum::http::Method;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::request::Parts;

use crate::error::ApiError;
use crate::sites::Site;
use crate::{Service, accounts};

const REFUSED: ApiError =
    ApiError::Forbidden("This page may not use the chat: add its origin to the site's allowed origins.");

const METHODS: HeaderValue = HeaderValue::from_static("GET,POST");
const HEADERS: HeaderValue =
    HeaderValue::from_static("content-type,accept-language,idempotency-key,visitor-token");
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-request-id,x-service-api-version,x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset,retry-after",
);
/// Seconds for which a browser remembers a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Returns the origin of the page that sends a request, if the request names one.
pub(super) fn of(parts: &Parts) -> Option<String> {
    parts.headers.get(header::ORIGIN)?.to_str().ok().map(str::to_owned)
}

/// A request of a page that may send it.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// The page's origin, if the request names one; `*` allows all pages.
    origin: Option<HeaderValue>,
    preflight: bool,
}

/// Refuses the requests of other pages.
pub(super) fn check(service: &Service, site: &Site, parts: &Parts) -> Result<Allowed, ApiError> {
    let mut origins = parts.headers.get_all(header::ORIGIN).iter();
    let origin = origins.next().cloned();
    if origins.next().is_some() {
        return Err(REFUSED);
    }
    let is_listed = |origin: &HeaderValue| {
        site.allowed_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
    };
    if !origin.as_ref().is_some_and(is_listed) {
        accounts::check_source(service, parts).map_err(|_| REFUSED)?;
    }
    Ok(Allowed::new(origin, parts))
}

impl Allowed {
    /// Allows any page.
    pub(super) fn any_page(parts: &Parts) -> Self {
        let anyone = parts.headers.contains_key(header::ORIGIN).then_some(HeaderValue::from_static("*"));
        Self::new(anyone, parts)
    }

    fn new(origin: Option<HeaderValue>, parts: &Parts) -> Self {
        let asks = parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let preflight = parts.method == Method::OPTIONS && origin.is_some() && asks;
        Self { origin, preflight }
    }

    /// Returns whether the browser only asks whether it may send a request.
    pub(super) fn is_preflight(&self) -> bool {
        self.preflight
    }

    /// Adds the CORS headers. Credentials are not allowed.
    pub(super) fn write_to(self, headers: &mut HeaderMap) {
        let Some(origin) = self.origin else { return };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if self.preflight {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        } else {
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}
