//! Effects: what a session asks its driver to do.

use chat_protocol::{Endpoint, IdempotencyKey, Lead};

use crate::Entry;

/// An effect to carry out, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this request, and feed its outcome to the session.
    Request(Request),
    /// Cancel this request.
    Cancel(RequestId),
    /// Feed [`crate::Input::TimerFired`] at this time (milliseconds since the Unix epoch). It replaces the
    /// earlier timer.
    WakeAt(u64),
    /// Store a text under a key of the browser's storage; `None` removes the key.
    Store(String, Option<String>),
    /// Broadcast JSON text to the other tabs on [`crate::Session::channel`]. They feed it as
    /// [`crate::Input::TabMessage`].
    Broadcast(String),
    /// Render the session again: its visible state has changed.
    Show,
    /// Use the channel that [`crate::Session::channel`] names now.
    Rejoin,
    /// A verified visitor is gone: forget what the session does not know of, such as a draft.
    Forget,
    /// The verified visitor has signed out in another tab. Forget the proof, and ask the page for another
    /// one.
    ProveAgain,
    /// Emit an event to the page.
    Emit(SessionEvent),
}

/// Identifies a request, so that its response can be matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub(crate) u32);

/// A request to the proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// Method and path.
    pub endpoint: Endpoint,
    /// Query parameters, not yet encoded.
    pub query: Vec<(&'static str, String)>,
    /// The body's text, for `POST`.
    pub body: Option<String>,
    /// The `Idempotency-Key`, for `POST`.
    pub key: Option<IdempotencyKey>,
    /// The time when the session cancels the request: milliseconds since the Unix epoch.
    pub deadline_ms: u64,
    /// Whether it must outlive the page.
    pub keepalive: bool,
    /// Whether it must not prove the present visitor: a previous one wrote it.
    pub is_unproved: bool,
}

/// An event for the page that embeds the widget.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The window opened, or closed.
    Opened(bool),
    /// A message was delivered or received.
    Message(Entry),
    /// The number of unread messages.
    Unread(u32),
    /// Whether an operator is online.
    Presence(bool),
    /// The service's assessment of the visitor as a lead.
    Lead(Lead),
    /// An error, for developers.
    Error {
        /// The service's code, or `NETWORK`, `TIMEOUT`.
        code: String,
        /// The error and the request.
        message: String,
    },
}
