//! The five paths that a customer's proxy serves (4.13).

/// The methods that the five paths answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Changes something, and carries an `Idempotency-Key`.
    Post,
}

/// One of the five calls of 4.13, under the proxy's prefix in the browser and under the service's base behind it.
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
    /// All five.
    pub const ALL: [Self; 5] = [Self::Config, Self::Send, Self::Messages, Self::Presence, Self::Events];

    /// The method of the call.
    pub const fn method(self) -> Method {
        match self {
            Self::Config | Self::Messages | Self::Presence => Method::Get,
            Self::Send | Self::Events => Method::Post,
        }
    }

    /// The path below the prefix, with its leading slash.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Config => "/chat/config",
            Self::Send | Self::Messages => "/chat/messages",
            Self::Presence => "/chat/presence",
            Self::Events => "/events",
        }
    }
}
