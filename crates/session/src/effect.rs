//! What a session wants done.

use chat_protocol::{Endpoint, IdempotencyKey, Lead};

use crate::Entry;

/// Something to do for the session, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this request, and hand in what comes of it.
    Request(Request),
    /// Nobody waits for this request any more.
    Cancel(RequestId),
    /// Hand in [`crate::Input::TimerFired`] at this time (milliseconds since the Unix epoch). It replaces the time before.
    WakeAt(u64),
    /// Keep a text under a key of the browser's storage, or forget what is kept under it.
    Store(String, Option<String>),
    /// Tell the other tabs on [`crate::Session::channel`]: JSON text, that they hand in as [`crate::Input::TabMessage`].
    Broadcast(String),
    /// Something that a [`crate::Session`] gives to show has changed.
    Show,
    /// The page may want to know.
    Emit(SessionEvent),
}

/// Names a request, so that its answer finds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub(crate) u32);

/// A request to the proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Names it.
    pub id: RequestId,
    /// Method and path.
    pub endpoint: Endpoint,
    /// Query parameters, not yet encoded.
    pub query: Vec<(&'static str, String)>,
    /// The body's text, for `POST`.
    pub body: Option<String>,
    /// The `Idempotency-Key`, for `POST`.
    pub key: Option<IdempotencyKey>,
    /// When the session gives up on it and cancels it: milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// Whether it must outlive the page.
    pub keepalive: bool,
}

/// What a page that embeds the widget can listen to.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The window opened, or closed.
    Opened(bool),
    /// A message was delivered or came in.
    Message(Entry),
    /// How many messages the visitor has not seen.
    Unread(u32),
    /// Whether a person is there.
    Presence(bool),
    /// What the service makes of the visitor.
    Lead(Lead),
    /// Something went wrong; for developers.
    Error {
        /// The service's code, or `NETWORK`, `TIMEOUT`.
        code: String,
        /// What happened, and with which request.
        message: String,
    },
}
