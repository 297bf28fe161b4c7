//! The visitor's messages, as the simulation tracks them.

use chat_protocol::{IdempotencyKey, SendMessage, Value, VisitorId};
use chat_session::Request;

use super::tab::TabId;

/// Identifies a message: its index among all that the visitor wrote.
pub type Tag = usize;

/// Returns the source page of a message. It identifies the message even if two have the same text.
pub fn page_of(tag: Tag) -> String {
    format!("/p/{tag}")
}

/// Returns the message with this source page.
pub fn tag_of_page(page: &str) -> Option<Tag> {
    page.strip_prefix("/p/")?.parse().ok()
}

/// Returns the message in a request. If storage lost its source page, the key identifies it, or the text.
pub fn tag_of(request: &Request, written: &[VisitorMessage]) -> Option<Tag> {
    let body: Value = serde_json::from_str(request.body.as_deref()?).ok()?;
    let body = SendMessage::try_from(body).ok()?;
    let page = body.source_page.as_deref().and_then(tag_of_page);
    let key = request.key.as_ref()?.as_str();
    // The key gets a suffix when the message becomes another request.
    let is_related =
        |known: &IdempotencyKey| known.as_str().starts_with(key) || key.starts_with(known.as_str());
    let by_key = || written.iter().position(|message| message.key.as_ref().is_some_and(is_related));
    let by_text = || written.iter().position(|message| message.key.is_none() && message.text == body.message);
    page.or_else(by_key).or_else(by_text)
}

/// A message that the visitor wrote.
pub struct VisitorMessage {
    pub text: String,
    /// The visitor whose session took the message. `None` if the tab hung until it crashed.
    pub visitor: Option<VisitorId>,
    pub tab: TabId,
    /// Storage failed or was cleared since: the message may be lost with its page.
    pub volatile: bool,
    /// The first history of a conversation that began earlier was not merged yet when the visitor wrote the
    /// message.
    pub in_first_history: bool,
    /// The key of the last attempt.
    pub key: Option<IdempotencyKey>,
    /// The conversation is gone, so that the message becomes another request.
    pub may_change_key: bool,
    pub retried: bool,
    pub round: Round,
}

/// The attempts of one leader, until the visitor retries.
#[derive(Clone, Copy, Default)]
pub struct Round {
    /// Page and term of the leader.
    pub by: Option<(TabId, u32)>,
    pub attempts: u32,
    pub not_before_ms: u64,
    /// The number of retries by the visitor. Each one allows further attempts.
    pub retries: u32,
    /// The visitor has retried, and no attempt has skipped a wait since.
    pub may_skip_wait: bool,
}

impl VisitorMessage {
    pub fn new(text: String, tab: TabId, volatile: bool) -> Self {
        Self {
            text,
            visitor: None,
            tab,
            volatile,
            in_first_history: false,
            key: None,
            may_change_key: false,
            retried: false,
            round: Round::default(),
        }
    }
}
