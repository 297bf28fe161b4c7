//! Authentication of API calls by the site token (5). Only activation needs none.

use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use chat_protocol::ServerEndpoint;
use tracing::warn;

use super::call::Call;
use crate::cache::Version;
use crate::db::transaction;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::rate::{Caller, Quota};
use crate::sites::{self, Site};
use crate::tokens::{self, StoredToken};
use crate::{Service, db::DbError};

/// Headers that browsers add and servers do not.
const BROWSER_HEADERS: [&str; 2] = ["origin", "sec-fetch-site"];

/// The scope in which requests with unknown tokens are counted.
const UNKNOWN_TOKENS: &str = "unknown tokens";

/// Milliseconds between two records of a token's use.
const USE_INTERVAL_MS: i64 = 60_000;

/// The way in which a request was authorized.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// By a token of a site.
    Token {
        /// The token's id.
        id: String,
        site: Arc<Site>,
    },
    /// By a page of a site, through the service's own proxy paths.
    Page {
        site: Arc<Site>,
        /// The page's origin, if the request names one.
        origin: Option<String>,
    },
    /// Without a token: the call activates a site and returns the token.
    Public,
}

impl Access {
    /// Returns the site's id; an empty text for an activation.
    pub(crate) fn site_id(&self) -> &str {
        match self {
            Self::Token { site, .. } | Self::Page { site, .. } => &site.id,
            Self::Public => "",
        }
    }

    /// Returns the site.
    pub(crate) fn site(&self) -> Result<&Arc<Site>, ApiError> {
        match self {
            Self::Token { site, .. } | Self::Page { site, .. } => Ok(site),
            Self::Public => Err(ApiError::InvalidToken),
        }
    }

    /// Counts a request of a caller: for the caller at the site, and for all callers of the token or of the
    /// site's pages. An activation has no token yet.
    pub(crate) async fn count(&self, service: &Service, caller: Caller) -> Result<Quota, ApiError> {
        let shared = match self {
            Self::Token { id, .. } => Some(format!("token {id}")),
            Self::Page { site, .. } => Some(format!("pages of {}", site.id)),
            Self::Public => None,
        };
        service.0.rates.take(service, self.site_id(), caller, shared.as_deref()).await
    }

    /// Returns the origin of the page, if it is known: a site's server does not tell it.
    pub(super) fn page_origin(&self) -> Option<&str> {
        match self {
            Self::Page { origin, .. } => origin.as_deref(),
            Self::Token { .. } | Self::Public => None,
        }
    }
}

/// Checks the token of a request. `call` is `None` when the path or the method is unknown, which only the
/// token's holder is told.
pub(super) async fn authorize(
    service: &Service,
    call: Option<Call>,
    parts: &Parts,
) -> Result<Access, ApiError> {
    let headers = &parts.headers;
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
    let (token, version) = token(service, &id, Caller::client(parts)).await?;
    let token = token.ok_or(ApiError::InvalidToken)?;
    let now_ms = service.now_ms();
    if !token.accepts(&hash, now_ms) {
        return Err(ApiError::InvalidToken);
    }
    let site = site(service, &token.site_id).await?.filter(|site| site.is_active());
    let site = site.ok_or(ApiError::InvalidToken)?;
    if token.last_used_ms.is_none_or(|at| now_ms - at >= USE_INTERVAL_MS) {
        record_use(service, id.clone(), &token, version, now_ms);
    }
    Ok(Access::Token { id, site })
}

/// Records the use of a token, without holding up the request.
///
/// `version` is that of the cache before the token was read: a token that was revoked since is not cached.
fn record_use(service: &Service, id: String, token: &StoredToken, version: Version, now_ms: i64) {
    let used = Arc::new(token.used_at(now_ms));
    service.0.caches.tokens.put(version, id.clone(), Some(used));
    let service = service.clone();
    service.clone().0.tasks.spawn(async move {
        let recorded: Result<(), DbError> =
            transaction!(service.db(), |tx| tokens::record_use(tx, now_ms, &id).await).await;
        if let Err(error) = recorded {
            warn!("the use of a site token was not recorded: {error}");
        }
    });
}

/// Returns a token by its id, and the version of the cache before it was read. A client that tries many
/// unknown tokens is refused without a query.
async fn token(
    service: &Service,
    id: &str,
    client: Caller,
) -> Result<(Option<Arc<StoredToken>>, Version), ApiError> {
    let cache = &service.0.caches.tokens;
    // Before `get`: a change between the two makes the version older than the row, never newer.
    let version = cache.version();
    if let Ok(token) = cache.get(&id.to_owned()) {
        return Ok((token, version));
    }
    let unknown = &service.0.rates.unknown_tokens;
    if let Some(quota) = unknown.exceeded(service, UNKNOWN_TOKENS, client) {
        quota.check()?;
    }
    let token = tokens::find(service.db(), id).await?.map(Arc::new);
    if token.is_none() {
        unknown.take(service, UNKNOWN_TOKENS, client).await?;
    }
    cache.put(version, id.to_owned(), token.clone());
    Ok((token, version))
}

/// Returns a site by its id. Ids that pages invent cost a bounded number of queries.
pub(crate) async fn site(service: &Service, id: &str) -> Result<Option<Arc<Site>>, ApiError> {
    let cache = &service.0.caches.sites;
    let version = match cache.get(&id.to_owned()) {
        Ok(site) => return Ok(site),
        Err(version) => version,
    };
    let (find, ids) = (sites::find(service.db(), id), sites::ids(service.db()));
    let Some(site) = service.0.caches.site_ids.find(id, find, ids).await? else { return Ok(None) };
    let site = site.map(Arc::new);
    cache.put(version, id.to_owned(), site.clone());
    Ok(site)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use secrecy::ExposeSecret;

    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::visitors::fixture::service;

    on_both_databases! {
        async fn a_use_that_is_recorded_after_a_revocation_does_not_bring_the_token_back(database: &TestDatabase) {
            let service = service(database).await;
            let shop = sites::find(service.db(), "shop").await.expect("read").expect("a site");
            let now_ms = service.now_ms();
            for is_cached in [false, true] {
                let (created, site) = (shop.clone(), shop.clone());
                let new = transaction!(service.db(), |tx| tokens::create(tx, now_ms, &created, "t", None).await)
                    .await
                    .expect("a token");
                let id = new.info.id;
                let bearer = format!("Bearer {}", new.secret.expose_secret());
                let request = Request::builder().header("authorization", bearer).body(()).expect("a request");
                let (parts, ()) = request.into_parts();
                if is_cached {
                    token(&service, &id, Caller::Anybody).await.expect("read");
                }
                // A request has read the token, and is about to record its use.
                let (read, version) = token(&service, &id, Caller::Anybody).await.expect("read");
                let revoked = id.clone();
                transaction!(service.db(), |tx| tokens::revoke(tx, now_ms, &site, &revoked).await)
                    .await
                    .expect("revoked");
                record_use(&service, id, &read.expect("a token"), version, now_ms);
                let refused = authorize(&service, None, &parts).await;
                assert_eq!(refused.expect_err("revoked"), ApiError::InvalidToken, "{is_cached}");
            }
        }

        async fn a_client_that_tries_many_tokens_is_refused_and_no_other(database: &TestDatabase) {
            let service = service(database).await;
            let parts = |client: &str, token: usize| {
                let client = crate::client::Client { address: client.parse().expect("an address"), https: true };
                let request = Request::builder().header("authorization", format!("Bearer {token}")).extension(client);
                request.body(()).expect("a request").into_parts().0
            };
            let mut refused = None;
            // Twice the limit, in case a new minute begins.
            for token in 0..1300 {
                match authorize(&service, None, &parts("192.0.2.1", token)).await.expect_err("unknown") {
                    ApiError::RateLimited { retry_after_s } => {
                        refused = Some(retry_after_s);
                        break;
                    }
                    error => assert_eq!(error, ApiError::InvalidToken),
                }
            }
            assert!((1..=60).contains(&refused.expect("refused")));
            let other = authorize(&service, None, &parts("192.0.2.2", 7)).await;
            assert_eq!(other.expect_err("unknown"), ApiError::InvalidToken);
        }
    }
}
