//! What happens to a conversation.

use chat_protocol::{Value, VisitorProfile};

use crate::{EntryKey, RequestId, Stored};

/// What a session begins with.
#[derive(Debug, Default)]
pub struct Start {
    /// Milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// 128 random bits, different in every tab.
    pub seed: u128,
    /// What this browser kept.
    pub stored: Stored,
    /// `data` of the chat config, when somebody asked for it already.
    pub config: Option<Value>,
    /// What the site says about the visitor.
    pub visitor: VisitorProfile,
    /// The site's own name for the visitor. Each has a conversation of its own, and so has nobody.
    pub customer_id: Option<String>,
    /// Locale of the page, BCP 47.
    pub locale: Option<String>,
    /// What the service is told about what the visitor does on the page.
    pub reports: Reports,
    /// The tab can be seen.
    pub visible: bool,
    /// The browser believes to have a network.
    pub online: bool,
}

/// What the service is told about what the visitor does on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reports {
    /// Nothing.
    #[default]
    Off,
    /// What the site tracks, and contact details that the visitor left.
    Manual,
    /// Page views, opening and closing as well.
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
    /// Where the visitor came from; empty when the browser does not tell.
    pub referrer: String,
    /// The present time, ISO 8601.
    pub now_iso: String,
}

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    /// The visitor sends a message from a page of this path.
    Send {
        /// The message, as typed.
        text: String,
        /// Path of the page.
        page_path: String,
    },
    /// The visitor asks for another try of a message that failed, or for one at once where messages are deferred. It does
    /// not wait for a `Retry-After`, which counts again from the next answer on.
    Retry(EntryKey),
    /// The visitor asks again what got no reply: the last message, as a new one.
    AskAgain {
        /// Path of the page.
        page_path: String,
    },
    /// A request was answered, with whatever status.
    Answered(RequestId, Answer),
    /// A request was not answered: no connection, or it broke. The session sees to time-outs itself.
    Failed(RequestId),
    /// The time asked for by [`crate::Effect::WakeAt`] has come.
    TimerFired,
    /// The tab can be seen, or cannot any more.
    Visible(bool),
    /// The browser found its network, or lost it.
    Online(bool),
    /// The visitor opened the window, or closed it.
    Opened(bool, Page),
    /// The window is open again, as it was on the page before in this tab. It is not reported: the visitor did nothing.
    Reopened,
    /// The visitor came to a page.
    PageViewed(Page),
    /// The site tracks something: an event of this type, with an object of its own data, or null.
    Track(String, Value, Page),
    /// The site knows more about the visitor: it goes along with what is sent from now on. A visitor id is not taken.
    Identify(VisitorProfile),
    /// The page has another locale, BCP 47.
    Locale(Option<String>),
    /// The visitor agreed to be remembered, and to what is reported. Until now nothing was kept; a browser that remembers
    /// the visitor from an earlier page goes on with that conversation, unless another one has begun.
    Consented(Stored, Reports),
    /// The visitor left contact details: they are stored, go along with what is sent from now on, and are reported as
    /// `lead_submitted`, without the details.
    Contact(VisitorProfile, Page),
    /// Another tab told something by [`crate::Effect::Broadcast`].
    TabMessage(Value),
    /// The browser did not keep what [`crate::Effect::Store`] gave it.
    PersistFailed,
    /// The page is left or frozen: the last chance to send events, and maybe the last of all.
    PageHidden,
    /// The page that was left goes on, with what this browser keeps by now.
    PageRestored(Stored),
    /// The config is to be read again.
    ReloadConfig,
    /// Everything is forgotten, here and in the other tabs: a new visitor begins.
    Reset,
}

/// An answer to a request.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`, as milliseconds from now.
    pub retry_after_ms: Option<u64>,
    /// The body; null when it was not JSON.
    pub body: Value,
}
