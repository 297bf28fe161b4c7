//! The five endpoints that a customer's proxy serves (4.13), and those that only its server calls.

/// The method of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`: changes nothing.
    Get,
    /// `POST`: changes something, with an `Idempotency-Key`.
    Post,
}

/// One of the five endpoints of 4.13, below the proxy's prefix for browsers and below the service's base for
/// the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `GET /chat/config` (4.4).
    Config,
    /// `POST /chat/messages` (4.5).
    Send,
    /// `GET /chat/messages` (4.6).
    Messages,
    /// `GET /chat/presence` (4.7).
    Presence,
    /// `POST /events` (4.8).
    Events,
}

impl Endpoint {
    /// All five endpoints.
    pub const ALL: [Self; 5] = [Self::Config, Self::Send, Self::Messages, Self::Presence, Self::Events];

    /// Returns the method of the endpoint.
    pub const fn method(self) -> Method {
        match self {
            Self::Config | Self::Messages | Self::Presence => Method::Get,
            Self::Send | Self::Events => Method::Post,
        }
    }

    /// Returns the path below the prefix, with its leading slash.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Config => "/chat/config",
            Self::Send | Self::Messages => "/chat/messages",
            Self::Presence => "/chat/presence",
            Self::Events => "/events",
        }
    }
}

/// One of the endpoints that only the site's server calls. A proxy must not forward them.
#[cfg(any(feature = "server", test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerEndpoint {
    /// `POST /auth/activate` (4.2), the only call without a token.
    Activate,
    /// `GET /site/status` (4.3).
    SiteStatus,
    /// `POST /content/sync` (4.9).
    SyncContent,
    /// `GET /seo/overlays` (4.10).
    Overlays,
    /// `POST /site/jobs/next` (4.11).
    ClaimJob,
    /// `POST /site/jobs/{id}/complete` (4.12).
    CompleteJob,
}

#[cfg(any(feature = "server", test))]
impl ServerEndpoint {
    /// All endpoints.
    pub const ALL: [Self; 6] = [
        Self::Activate,
        Self::SiteStatus,
        Self::SyncContent,
        Self::Overlays,
        Self::ClaimJob,
        Self::CompleteJob,
    ];

    /// Returns the method of the endpoint.
    pub const fn method(self) -> Method {
        match self {
            Self::SiteStatus | Self::Overlays => Method::Get,
            Self::Activate | Self::SyncContent | Self::ClaimJob | Self::CompleteJob => Method::Post,
        }
    }

    /// Returns the path below the service's base, with its leading slash. `{id}` stands for the job's id.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Activate => "/auth/activate",
            Self::SiteStatus => "/site/status",
            Self::SyncContent => "/content/sync",
            Self::Overlays => "/seo/overlays",
            Self::ClaimJob => "/site/jobs/next",
            Self::CompleteJob => "/site/jobs/{id}/complete",
        }
    }

    /// Returns whether the endpoint requires the site token (5).
    pub const fn needs_token(self) -> bool {
        !matches!(self, Self::Activate)
    }
}
