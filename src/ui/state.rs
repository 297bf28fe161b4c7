//! The state of the interface: what is open, what was typed, where the log is scrolled to.

use std::cell::{Cell, RefCell};

use gloo_timers::callback::Timeout;
use web_sys::{Element, HtmlElement};

use super::announcer::Announced;
use super::contact::Contact;
use super::screen::Screen;
use crate::text::strings::Text;

/// The state of the interface, apart from that of the conversation.
#[derive(Default)]
pub(crate) struct State {
    /// Whether the window is open.
    pub(crate) open: Cell<bool>,
    /// Whether the visitor opened or closed it, and not the page: the focus may follow.
    pub(crate) by_visitor: Cell<bool>,
    /// The text in the composer.
    pub(crate) draft: RefCell<String>,
    /// The element of the log, while the window is open.
    pub(crate) log: RefCell<Option<Element>>,
    /// Whether the log follows new messages, because the visitor is at its end.
    pub(crate) pinned: Cell<bool>,
    /// The scroll position of the log that was read last. Pixels.
    pub(crate) scroll_top: Cell<i32>,
    /// The heights of the log's content and of its visible part at that time. Pixels.
    pub(super) scroll_sizes: Cell<(i32, i32)>,
    /// Whether the end of the log is out of sight.
    pub(super) cut_off: Cell<bool>,
    /// The message to whose beginning the log scrolls.
    pub(super) anchor: Cell<Option<u32>>,
    /// The range of messages that are on the page: all of a short conversation, a part of a long one.
    pub(crate) range: Cell<(usize, usize)>,
    /// The first delivered message of the range, and its index. One that is retried moves to the end.
    pub(super) range_anchor: Cell<Option<(u32, usize)>>,
    /// The number of messages that came in while the visitor was not at the end.
    pub(crate) missed: Cell<usize>,
    /// The message that was the first unread one when the window was opened.
    pub(crate) unread_from: Cell<Option<u32>>,
    /// Whether the messages that are put on the page now came in while the visitor looked.
    pub(crate) is_arriving: Cell<bool>,
    /// The timer of the greeting.
    pub(super) greeting_timer: RefCell<Option<Timeout>>,
    /// Whether the greeting is due.
    pub(super) greeting_due: Cell<bool>,
    /// The state of the contact line.
    pub(super) contact: Cell<Contact>,
    /// The error that it shows.
    pub(super) contact_error: Cell<Option<Text>>,
    /// Whether it has fields for a name and a phone number.
    pub(super) contact_more: Cell<bool>,
    /// The number of answers in a row that asked for a person.
    pub(super) handoffs: Cell<u32>,
    /// The message in the preview beside the launcher.
    pub(super) previewed: Cell<Option<u32>>,
    /// Whether the menu is open.
    pub(super) menu: Cell<bool>,
    /// Whether the visitor's own panel covers the window.
    pub(super) panel: Cell<bool>,
    /// Whether it asks for confirmation to forget everything.
    pub(super) confirms_reset: Cell<bool>,
    /// The live region of the announcer.
    pub(super) announcer: RefCell<Option<Element>>,
    /// The state that was announced last.
    pub(super) announced: Cell<Option<Announced>>,
    /// The timer that empties the announcer's region.
    pub(super) announcement_timer: RefCell<Option<Timeout>>,
    /// The element that contains launcher and window.
    pub(crate) frame: RefCell<Option<HtmlElement>>,
    /// Whether the window takes the whole screen.
    pub(crate) full_screen: Cell<bool>,
    /// The layout of the open window.
    pub(super) screen: RefCell<Option<Screen>>,
    /// Whether the config's picture failed to load.
    pub(crate) picture_failed: Cell<bool>,
}
