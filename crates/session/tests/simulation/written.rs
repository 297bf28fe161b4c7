//! The visitor's messages, as the simulation keeps account of them.

use chat_protocol::{IdempotencyKey, SendMessage, Value, VisitorId};
use chat_session::Request;

use super::tab::TabId;

/// Names a message: its place among all that the visitor wrote.
pub type Tag = usize;

/// The page from which a message is sent tells which it is, also where two say the same.
pub fn page_of(tag: Tag) -> String {
    format!("/p/{tag}")
}

/// The message that was sent from this page.
pub fn tag_of_page(page: &str) -> Option<Tag> {
    page.strip_prefix("/p/")?.parse().ok()
}

/// Which of the visitor's messages a request carries. Where storage lost the page with the rest of the letter, the key
/// tells, or at last the text.
pub fn tag_of(request: &Request, written: &[Written]) -> Option<Tag> {
    let body: Value = serde_json::from_str(request.body.as_deref()?).ok()?;
    let body = SendMessage::try_from(body).ok()?;
    let page = body.source_page.as_deref().and_then(tag_of_page);
    let key = request.key.as_ref()?.as_str();
    // A number is added to the key when the message has to become another request.
    let akin = |known: &IdempotencyKey| known.as_str().starts_with(key) || key.starts_with(known.as_str());
    let by_key = || written.iter().position(|message| message.key.as_ref().is_some_and(akin));
    let by_text = || written.iter().position(|message| message.key.is_none() && message.text == body.message);
    page.or_else(by_key).or_else(by_text)
}

/// A message that the visitor wrote.
pub struct Written {
    pub text: String,
    /// Whose session took it in; none when the tab hung until it crashed.
    pub visitor: Option<VisitorId>,
    pub tab: TabId,
    /// Storage failed or was cleared since it was written: it may be lost with its page.
    pub frail: bool,
    /// Under which it was sent last.
    pub key: Option<IdempotencyKey>,
    /// The service said that its conversation is gone, so that it is another request from now on.
    pub renewable: bool,
    pub retried: bool,
    pub round: Round,
}

/// The attempts that one leader makes, until the visitor asks for more.
#[derive(Clone, Copy, Default)]
pub struct Round {
    /// Page and term of the leader.
    pub by: Option<(TabId, u32)>,
    pub attempts: u32,
    pub not_before_ms: u64,
    /// How often the visitor asked to send at once; each time starts another round in the tab that hears of it.
    pub urged: u32,
    /// The visitor asked, and no attempt was made before its time since.
    pub may_hurry: bool,
}

impl Written {
    pub fn new(text: String, tab: TabId, frail: bool) -> Self {
        Self {
            text,
            visitor: None,
            tab,
            frail,
            key: None,
            renewable: false,
            retried: false,
            round: Round::default(),
        }
    }
}
