//! The extractors of the handlers of accounts.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::admin::Empty;
use secrecy::ExposeSecret;
use serde::Serialize;

use super::client::{self, Transport};
use super::cookie::Cookie;
use super::guard::session_cookie;
use super::session::{Browser, Session};
use super::throttle::Counted;
use crate::Service;
use crate::error::ApiError;
use crate::input::success;
use crate::secrets::new_id;

/// The lifetime of the cookie that shows that a browser has signed in before, in seconds: 180 days.
const DEVICE_MAX_AGE_S: i64 = 180 * 24 * 3600;

/// The origin of a request, and the cookies that it may set.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) browser: Browser,
    network: String,
    transport: Transport,
    device: Option<String>,
    /// The session that the browser already has.
    pub(super) session: Option<Session>,
}

impl FromRequestParts<Service> for Context {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let transport = client::transport(service, parts);
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let user_agent = user_agent.unwrap_or_default().to_owned();
        Ok(Self {
            browser: Browser { address: client::address(parts), user_agent },
            network: client::network(parts),
            transport,
            device: Cookie::Device.read(&parts.headers, transport).map(str::to_owned),
            session: parts.extensions.get().cloned(),
        })
    }
}

impl Context {
    /// Refuses browsers that would not send the session's cookie back.
    pub(crate) fn require_cookies(&self) -> Result<(), ApiError> {
        match self.transport {
            Transport::Https | Transport::Loopback => Ok(()),
            Transport::Plain => Err(ApiError::Forbidden(
                "Signing in needs HTTPS, except on the service's own machine: set up TLS, \
                 or open the console at http://localhost.",
            )),
        }
    }

    /// Counts the client's attempts for its network.
    pub(super) fn of_network(&self, purpose: &str) -> Counted {
        Counted::network(purpose, &self.network)
    }

    /// Counts the attempts of a browser that this account has used before; `None` for others.
    ///
    /// The cookie is decrypted for unknown accounts (`""`) too, so that this takes as long.
    pub(super) fn of_device(&self, service: &Service, account_id: &str) -> Option<Counted> {
        let device_id = self.device_id(service, account_id)?;
        Some(Counted::account("sign in with device", &device_id))
    }

    fn device_id(&self, service: &Service, account_id: &str) -> Option<String> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(self.device.as_deref()?).ok()?;
        let id = service.0.options.key.unseal(&device_purpose(account_id), &sealed).ok()?;
        Some(id.expose_secret().to_owned())
    }

    /// Returns the client's address for the audit log of an account's tenant; empty unless the account has
    /// used this browser before. Several tenants can have accounts of one address, and must not learn from
    /// where its owner signs in to others.
    pub(super) fn address_for(&self, service: &Service, account_id: &str) -> &str {
        let is_known = self.device_id(service, account_id).is_some();
        if is_known { &self.browser.address } else { "" }
    }

    /// Returns a response that signs in: with the cookie of the session, and that of the browser.
    pub(crate) fn signed_in(
        &self,
        service: &Service,
        account_id: &str,
        secret: &str,
        data: &impl Serialize,
    ) -> Result<Response, ApiError> {
        let mut response = self.known_device(service, account_id, data)?;
        append(response.headers_mut(), session_cookie(secret, self.transport));
        Ok(response)
    }

    /// Returns a response that makes the browser known to an account, without signing in.
    pub(super) fn known_device(
        &self,
        service: &Service,
        account_id: &str,
        data: &impl Serialize,
    ) -> Result<Response, ApiError> {
        let mut response = success(data)?.into_response();
        let id = self.device_id(service, account_id).unwrap_or_else(|| new_id("device"));
        let sealed = service.0.options.key.seal(&device_purpose(account_id), &id);
        let sealed = BASE64_URL_SAFE_NO_PAD.encode(sealed);
        append(response.headers_mut(), Cookie::Device.set(&sealed, DEVICE_MAX_AGE_S, self.transport));
        Ok(response)
    }

    /// Returns a response that removes the session's cookie.
    pub(super) fn signed_out(&self) -> Result<Response, ApiError> {
        let mut response = success(&Empty {})?.into_response();
        append(response.headers_mut(), Cookie::Session.remove(self.transport));
        Ok(response)
    }
}

fn append(headers: &mut HeaderMap, cookie: Option<HeaderValue>) {
    if let Some(cookie) = cookie {
        headers.append(header::SET_COOKIE, cookie);
    }
}

fn device_purpose(account_id: &str) -> String {
    format!("device of {account_id}")
}
