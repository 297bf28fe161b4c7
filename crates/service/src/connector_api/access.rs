//! Authentication of API calls by the site token (5). Only activation needs none.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use chat_protocol::ServerEndpoint;
use tracing::warn;

use super::call::Call;
use crate::cache::Version;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::sites::{self, Site};
use crate::tokens::{self, StoredToken};
use crate::{Service, db::DbError};

/// Headers that browsers add and servers do not.
const BROWSER_HEADERS: [&str; 2] = ["origin", "sec-fetch-site"];

/// Milliseconds between two records of a token's use.
const USE_INTERVAL_MS: i64 = 60_000;

/// The way in which a request was authorized.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// For a site: by its token, or by the service's own proxy paths.
    Site(Arc<Site>),
    /// Without a token: the call activates a site and returns the token.
    Public,
}

impl Access {
    /// Returns the site's id; an empty text for an activation.
    pub(super) fn site_id(&self) -> &str {
        match self {
            Self::Site(site) => &site.id,
            Self::Public => "",
        }
    }

    /// Returns the site.
    pub(super) fn site(&self) -> Result<&Arc<Site>, ApiError> {
        match self {
            Self::Site(site) => Ok(site),
            Self::Public => Err(ApiError::InvalidToken),
        }
    }
}

/// Checks the token of a request. `call` is `None` when the path or the method is unknown, which only the
/// token's holder is told.
pub(super) async fn authorize(
    service: &Service,
    call: Option<Call>,
    headers: &HeaderMap,
) -> Result<Access, ApiError> {
    if matches!(call, Some(Call::Server(endpoint)) if !ServerEndpoint::needs_token(endpoint)) {
        // A web page must not obtain a token, even if it reaches this port through DNS rebinding.
        if BROWSER_HEADERS.iter().any(|name| headers.contains_key(*name)) {
            return Err(ApiError::Forbidden(
                "A browser cannot activate a site: activate it from its server.",
            ));
        }
        return Ok(Access::Public);
    }
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer =
        authorization.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ApiError::InvalidToken)?;
    let hash = fingerprint(&[bearer.as_bytes()]);
    let id = tokens::id_of(&hash);
    let version = service.0.caches.tokens.version();
    let token = token(service, &id).await?.ok_or(ApiError::InvalidToken)?;
    let now_ms = service.now_ms();
    if !token.accepts(&hash, now_ms) {
        return Err(ApiError::InvalidToken);
    }
    let site = site(service, &token.site_id).await?.filter(|site| site.is_active());
    let site = site.ok_or(ApiError::InvalidToken)?;
    if token.last_used_ms.is_none_or(|at| now_ms - at >= USE_INTERVAL_MS) {
        record_use(service, id, &token, version, now_ms);
    }
    Ok(Access::Site(site))
}

/// Records the use of a token, without holding up the request.
///
/// `version` is that of the cache before the token was read: a token that was revoked since is not cached.
fn record_use(service: &Service, id: String, token: &StoredToken, version: Version, now_ms: i64) {
    let used = Arc::new(token.used_at(now_ms));
    service.0.caches.tokens.put(version, id.clone(), Some(used));
    let service = service.clone();
    service.clone().0.tasks.spawn(async move {
        let recorded: Result<(), DbError> = service
            .db()
            .write(move |tx| Box::pin(async move { tokens::record_use(tx, now_ms, &id).await }))
            .await;
        if let Err(error) = recorded {
            warn!("the use of a site token was not recorded: {error}");
        }
    });
}

/// Returns a token by its id.
async fn token(service: &Service, id: &str) -> Result<Option<Arc<StoredToken>>, ApiError> {
    let cache = &service.0.caches.tokens;
    let version = match cache.get(&id.to_owned()) {
        Ok(token) => return Ok(token),
        Err(version) => version,
    };
    let token = tokens::find(service.db(), id).await?.map(Arc::new);
    cache.put(version, id.to_owned(), token.clone());
    Ok(token)
}

/// Returns a site by its id.
pub(crate) async fn site(service: &Service, id: &str) -> Result<Option<Arc<Site>>, ApiError> {
    let cache = &service.0.caches.sites;
    let version = match cache.get(&id.to_owned()) {
        Ok(site) => return Ok(site),
        Err(version) => version,
    };
    let site = sites::find(service.db(), id).await?.map(Arc::new);
    cache.put(version, id.to_owned(), site.clone());
    Ok(site)
}
