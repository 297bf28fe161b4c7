//! Inputs: what a driver feeds to a session.

use chat_protocol::{Value, VisitorProfile};

use crate::{EntryKey, RequestId, Stored};

/// The initial state of a session.
#[derive(Debug, Default)]
pub struct Start {
    /// Milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// 128 random bits, different in every tab.
    pub seed: u128,
    /// The contents of the browser's storage.
    pub stored: Stored,
    /// `data` of the chat config, if the page has requested it already.
    pub config: Option<Value>,
    /// The site's profile of the visitor.
    pub visitor: VisitorProfile,
    /// The site's id of the customer. Each customer has a separate conversation, and so have visitors without
    /// an id.
    pub customer_id: Option<String>,
    /// The page proves the visitor, as [`Input::Person`] will tell. Otherwise, stored values of verified
    /// visitors are removed.
    pub expects_proof: bool,
    /// Locale of the page, BCP 47.
    pub locale: Option<String>,
    /// The events that are reported to the service.
    pub reports: Reports,
    /// The tab is visible.
    pub visible: bool,
    /// The browser reports that it is online.
    pub online: bool,
}

/// The events that are reported to the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reports {
    /// Nothing.
    #[default]
    Off,
    /// Events that the site tracks, and contact details that the visitor entered.
    Manual,
    /// These, page views, and opening and closing the window.
    Auto,
}

/// The page that the visitor is on.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its path.
    pub path: String,
    /// Its full address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The referrer, or an empty text.
    pub referrer: String,
    /// The present time, ISO 8601.
    pub now_iso: String,
}

/// An input of a session.
#[derive(Debug)]
pub enum Input {
    /// The visitor sends a message.
    Send {
        /// The text, as typed.
        text: String,
        /// Path of the page.
        page_path: String,
    },
    /// The visitor retries a failed message, or sends deferred messages at once. The attempt does not wait
    /// for a `Retry-After`, which applies again from the next response.
    Retry(EntryKey),
    /// The visitor sends the last message again, as a new one, because it got no reply.
    AskAgain {
        /// Path of the page.
        page_path: String,
    },
    /// A response arrived, with any status.
    Answered(RequestId, Answer),
    /// The newest messages of a long history, ahead of the response: its envelope with these messages alone.
    /// They are shown until [`Self::Answered`] brings them again, with those before them.
    Newest(RequestId, Value),
    /// A request failed without a response, for example without a connection. The session handles timeouts
    /// itself.
    Failed(RequestId),
    /// The timer of [`crate::Effect::WakeAt`] has fired.
    TimerFired,
    /// The tab became visible, or hidden.
    Visible(bool),
    /// The browser went online, or offline.
    Online(bool),
    /// The visitor opened the window, or closed it.
    Opened(bool, Page),
    /// The window opened automatically, because it was open on the previous page of this tab. This is not
    /// reported.
    Reopened,
    /// The visitor viewed a page.
    PageViewed(Page),
    /// The site tracks an event: its type, and an object with the site's data, or null.
    Track(String, Value, Page),
    /// The site adds to the visitor's profile, which is sent with later messages. A visitor id is ignored.
    Identify(VisitorProfile),
    /// The site proves that the visitor is the person of this id, or says that nobody is signed in. The
    /// present contents of storage come with it. A conversation from before somebody signed in becomes
    /// theirs, unless they have one here already.
    Person(Option<String>, Stored),
    /// The page has another locale, BCP 47.
    Locale(Option<String>),
    /// The visitor gave consent to storage and reports. Nothing was stored before. A stored conversation of
    /// an earlier page is continued, unless another one has begun.
    Consented(Stored, Reports),
    /// The visitor entered contact details. They are stored, sent with later messages, and reported as
    /// `lead_submitted` without the details.
    Contact(VisitorProfile, Page),
    /// A message of another tab arrived, from [`crate::Effect::Broadcast`].
    TabMessage(Value),
    /// The browser refused a write of [`crate::Effect::Store`].
    PersistFailed,
    /// The page is left or frozen: the last chance to send events.
    PageHidden,
    /// The page was restored from the back-forward cache, with the present contents of storage.
    PageRestored(Stored),
    /// Load the config again.
    ReloadConfig,
    /// Erase the visitor, here and in the other tabs, and start a new one.
    Reset,
}

/// A response to a request.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`, as milliseconds from now.
    pub retry_after_ms: Option<u64>,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// Whether the driver has more messages of this response. It hands them over when the session polls after
    /// the last one.
    pub has_more: bool,
}
