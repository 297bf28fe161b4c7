//! The rate limits (8), for all nodes together: of each visitor's address, of each token, and of what is
//! expensive or can be guessed.

mod limiter;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

use crate::Service;
use crate::client::Client;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use limiter::RateLimiter;

/// A number of requests in each time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Maximum requests in a window.
    pub requests: u32,
    /// The length of a window.
    pub window: Duration,
}

impl Default for RateLimit {
    /// The limit of each visitor's address: 6,000 requests a minute, because many visitors can share one.
    fn default() -> Self {
        Self::per_minute(6000)
    }
}

impl RateLimit {
    /// The default limit of each token: 600,000 requests a minute, five times as many as 10,000 visitors with
    /// an open chat need.
    pub const PER_TOKEN: Self = Self::per_minute(600_000);

    /// Returns a limit of requests a minute.
    pub const fn per_minute(requests: u32) -> Self {
        Self { requests, window: Duration::from_mins(1) }
    }
}

/// Maximum failed activations of one client: 10 in ten minutes.
const FAILED_ACTIVATION_LIMIT: RateLimit = RateLimit { requests: 10, window: Duration::from_mins(10) };
/// Maximum requests of one client with tokens that do not exist. Each needs a query.
const UNKNOWN_TOKEN_LIMIT: RateLimit = RateLimit::per_minute(600);
/// Maximum messages and batches of events that one visitor sends through the service's own proxy paths.
const VISITOR_LIMIT: RateLimit = RateLimit::per_minute(120);
/// Maximum reports of one operator that they are typing. A console sends one every few seconds.
const TYPING_LIMIT: RateLimit = RateLimit::per_minute(120);
/// Maximum questions that the operators of a tenant try out, and checks of their proxies.
const TRIAL_LIMIT: RateLimit = RateLimit::per_minute(30);
/// Maximum invitations that a tenant sends by e-mail: 30 an hour.
const INVITATION_LIMIT: RateLimit = RateLimit { requests: 30, window: Duration::from_hours(1) };
/// Maximum invitations that a tenant sends to one address: 3 a day.
const INVITED_LIMIT: RateLimit = RateLimit { requests: 3, window: Duration::from_hours(24) };

/// Maximum e-mails with replies that an address which nobody proved gets of a tenant: 3 a day.
const MAILED_LIMIT: RateLimit = RateLimit { requests: 3, window: Duration::from_hours(24) };
/// Maximum e-mails with replies that a proved address gets of a tenant: 30 a day.
const PROVED_MAILED_LIMIT: RateLimit = RateLimit { requests: 30, window: Duration::from_hours(24) };
/// Maximum e-mails with replies of a site to visitors: 300 a day.
const SITE_MAIL_LIMIT: RateLimit = RateLimit { requests: 300, window: Duration::from_hours(24) };
/// Maximum e-mails with replies of a tenant to visitors: 1,000 a day.
const TENANT_MAIL_LIMIT: RateLimit = RateLimit { requests: 1000, window: Duration::from_hours(24) };
/// Maximum AI replies to one visitor: more than somebody reads.
const AI_VISITOR_LIMIT: RateLimit = RateLimit::per_minute(10);
/// Maximum AI replies to all visitors of one address: an office, or somebody who invents visitors. It is also
/// that of the replies of a site in place of people.
const AI_ADDRESS_LIMIT: RateLimit = RateLimit::per_minute(60);

/// The limits of a service. Each counts for itself.
#[derive(Debug)]
pub(crate) struct RateLimits {
    /// Counts the requests of each visitor's address at each site. Without an address, the token's holder is
    /// the visitor.
    pub(crate) callers: RateLimiter,
    /// Counts the requests of each token, and those of the pages of each site.
    shared: RateLimiter,
    /// Counts the requests of each client with tokens that do not exist.
    pub(crate) unknown_tokens: RateLimiter,
    /// Counts the failed activations of each client.
    pub(crate) failed_activations: RateLimiter,
    /// Counts what each visitor sends through the proxy paths.
    pub(crate) visitors: RateLimiter,
    /// Counts the reports of each operator that they are typing.
    pub(crate) typing: RateLimiter,
    /// Counts what the operators of each tenant try out in the settings.
    pub(crate) trials: RateLimiter,
    /// Counts the invitations that each tenant sends.
    invitations: RateLimiter,
    /// Counts the invitations that each address gets of a tenant.
    invited: RateLimiter,
    /// Count the e-mails with replies to each address, and those of each site and of each tenant.
    mailed: RateLimiter,
    proved_mailed: RateLimiter,
    site_mails: RateLimiter,
    tenant_mails: RateLimiter,
    /// Counts the AI replies to each visitor.
    ai_visitors: RateLimiter,
    /// Counts the AI replies to the visitors of each address.
    ai_addresses: RateLimiter,
    /// Counts the bytes that the visitors of each address store at each site.
    stored_bytes: RateLimiter,
}

impl RateLimits {
    /// `bytes_per_address` is the maximum that visitors of one address store at a site within an hour.
    pub(crate) fn new(per_caller: RateLimit, per_token: RateLimit, bytes_per_address: u32) -> Self {
        let stored_bytes = RateLimit { requests: bytes_per_address, window: Duration::from_hours(1) };
        Self {
            callers: RateLimiter::new(per_caller),
            shared: RateLimiter::new(per_token),
            unknown_tokens: RateLimiter::new(UNKNOWN_TOKEN_LIMIT),
            failed_activations: RateLimiter::new(FAILED_ACTIVATION_LIMIT),
            visitors: RateLimiter::new(VISITOR_LIMIT),
            typing: RateLimiter::new(TYPING_LIMIT),
            trials: RateLimiter::new(TRIAL_LIMIT),
            invitations: RateLimiter::new(INVITATION_LIMIT),
            invited: RateLimiter::new(INVITED_LIMIT),
            mailed: RateLimiter::new(MAILED_LIMIT),
            proved_mailed: RateLimiter::new(PROVED_MAILED_LIMIT),
            site_mails: RateLimiter::new(SITE_MAIL_LIMIT),
            tenant_mails: RateLimiter::new(TENANT_MAIL_LIMIT),
            ai_visitors: RateLimiter::new(AI_VISITOR_LIMIT),
            ai_addresses: RateLimiter::new(AI_ADDRESS_LIMIT),
            stored_bytes: RateLimiter::new(stored_bytes),
        }
    }

    /// Counts an invitation that a tenant sends to an address by e-mail.
    pub(crate) async fn take_invitation(
        &self,
        service: &Service,
        tenant_id: &str,
        email: &str,
    ) -> Result<(), ApiError> {
        self.invited.take(service, tenant_id, Caller::visitor(email)).await?.check()?;
        self.invitations.take(service, tenant_id, Caller::Anybody).await?.check()
    }

    /// Counts an e-mail with replies to a visitor. `proved` tells whether the mailbox is known to be the
    /// visitor's: a stranger, whose address somebody else has typed, gets few.
    pub(crate) async fn take_reply_mail(
        &self,
        service: &Service,
        tenant_id: &str,
        site_id: &str,
        email: &str,
        proved: bool,
    ) -> Result<(), ApiError> {
        // Scopes of their own, as nodes share counts by scope and limit.
        let [tenant, site] = [tenant_id, site_id].map(|id| format!("mail of {id}"));
        let email = email.to_lowercase();
        let of_address = if proved { &self.proved_mailed } else { &self.mailed };
        of_address.take(service, &tenant, Caller::visitor(&email)).await?.check()?;
        self.site_mails.take(service, &site, Caller::Anybody).await?.check()?;
        self.tenant_mails.take(service, &tenant, Caller::Anybody).await?.check()
    }

    /// Counts an AI reply of a site. Returns false if the visitor, or all visitors of the address, have had
    /// as many as they may. A server that does not tell the visitor's address is not limited as if it were
    /// one.
    pub(crate) async fn take_ai_reply(
        &self,
        service: &Service,
        site_id: &str,
        visitor_id: Option<&str>,
        caller: Caller,
    ) -> Result<bool, ApiError> {
        let scope = format!("ai {site_id}");
        if let Some(visitor_id) = visitor_id
            && self.ai_visitors.take(service, &scope, Caller::visitor(visitor_id)).await?.exceeded
        {
            return Ok(false);
        }
        let is_known = caller != Caller::Anybody;
        Ok(!is_known || !self.ai_addresses.take(service, &scope, caller).await?.exceeded)
    }

    /// Counts an AI reply of a site in place of people. Returns false if the site has had as many as it may:
    /// the addresses of its visitors, which bound other replies, are not stored.
    pub(crate) async fn take_late_ai_reply(
        &self,
        service: &Service,
        site_id: &str,
    ) -> Result<bool, ApiError> {
        let scope = format!("late ai {site_id}");
        Ok(!self.ai_addresses.take(service, &scope, Caller::Anybody).await?.exceeded)
    }

    /// Counts bytes that a visitor is about to store in a scope of a site, or fails if the visitors of the
    /// address have stored as much as they may. A server that does not tell the visitor's address is not
    /// limited as if it were one.
    pub(crate) async fn take_bytes(
        &self,
        service: &Service,
        scope: &str,
        caller: Caller,
        bytes: u64,
    ) -> Result<(), ApiError> {
        if caller == Caller::Anybody {
            return Ok(());
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.stored_bytes.take_weight(service, scope, caller.subscriber(), bytes).await?.check()
    }

    /// Counts a request: for its caller at the site, and if that one has not exceeded its own limit, in the
    /// scope that all callers share. Returns the window that has the least left.
    pub(crate) async fn take(
        &self,
        service: &Service,
        site_id: &str,
        caller: Caller,
        shared: Option<&str>,
    ) -> Result<Quota, ApiError> {
        let of_caller = self.callers.take(service, site_id, caller).await?;
        let Some(shared) = shared.filter(|_| !of_caller.exceeded) else { return Ok(of_caller) };
        let of_all = self.shared.take(service, shared, Caller::Anybody).await?;
        Ok(if of_all.exceeded || of_all.remaining < of_caller.remaining { of_all } else { of_caller })
    }
}

/// The state of a caller's window after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    limit: u32,
    remaining: u32,
    reset_s: u64,
    exceeded: bool,
}

impl Quota {
    /// Returns the error of a request that exceeds its limit.
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.exceeded { Err(ApiError::RateLimited { retry_after_s: self.reset_s }) } else { Ok(()) }
    }

    pub(crate) fn write_to(self, headers: &mut HeaderMap) {
        headers.insert(HeaderName::from_static("x-ratelimit-limit"), self.limit.into());
        headers.insert(HeaderName::from_static("x-ratelimit-remaining"), self.remaining.into());
        headers.insert(HeaderName::from_static("x-ratelimit-reset"), self.reset_s.into());
    }
}

/// The caller that a request is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// All callers of a scope together, such as the holder of a token.
    Anybody,
    /// An IP address, reduced to its /64 network for IPv6.
    Address(IpAddr),
    /// A visitor, by the hash of an id that may have any length.
    Visitor(u64),
}

impl Caller {
    fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns the visitor with an id.
    pub(crate) fn visitor(id: &str) -> Self {
        let hash = fingerprint(&[id.as_bytes()]);
        Self::Visitor(hash.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    /// Returns the /48 network of an IPv6 address, of which one customer of a provider may have all. Other
    /// callers are returned unchanged.
    fn subscriber(self) -> Self {
        match self {
            Self::Address(IpAddr::V6(address)) => {
                Self::Address(IpAddr::V6((address.to_bits() >> 80 << 80).into()))
            }
            Self::Address(IpAddr::V4(_)) | Self::Anybody | Self::Visitor(_) => self,
        }
    }

    /// Returns the /48 network of an IPv6 address or the /24 network of an IPv4 address, which one customer
    /// of a provider may own. Other callers are returned unchanged.
    pub(crate) fn network(self) -> Self {
        match self {
            Self::Address(IpAddr::V4(address)) => {
                Self::Address(IpAddr::V4((address.to_bits() >> 8 << 8).into()))
            }
            Self::Address(IpAddr::V6(_)) | Self::Anybody | Self::Visitor(_) => self.subscriber(),
        }
    }

    /// Returns the visitor named by `X-Forwarded-For`, or else the token's holder.
    pub(crate) fn forwarded(headers: &HeaderMap) -> Self {
        let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
        let first = forwarded.and_then(|list| list.split(',').next()).unwrap_or_default().trim();
        let address = first.parse().or_else(|_| first.parse::<SocketAddr>().map(|address| address.ip()));
        address.map_or(Self::Anybody, Self::at)
    }

    /// Returns the client of a request, behind trusted reverse proxies.
    pub(crate) fn client(parts: &Parts) -> Self {
        Self::at(Client::of(&parts.extensions).address)
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anybody => out.write_str("token"),
            Self::Address(address) => write!(out, "{address}"),
            Self::Visitor(hash) => write!(out, "visitor {hash:016x}"),
        }
    }
}
