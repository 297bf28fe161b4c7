//! What the visitor sees. Components are functions of the state; they own no I/O.

mod avatar;
mod composer;
mod dom;
mod header;
mod icon;
mod launcher;
mod log;
mod message;
mod notice;
mod widget;

pub(crate) use dom::Scope;
pub(crate) use widget::widget;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_session::{Notice, Session};
use leptos::prelude::{ArcTrigger, Notify, Track};
use web_sys::{Element, HtmlElement};

use crate::driver::Driver;
use crate::driver::rows::Row;
use crate::settings::Settings;
use crate::text::strings::{Strings, Text};
use crate::text::time::TimeFormat;

/// What every part of the interface may use; clones are the same thing.
#[derive(Clone)]
pub(crate) struct Ui {
    shared: Rc<Shared>,
    /// Which message the part is about, where it is about one.
    pub(crate) key: u32,
}

struct Shared {
    driver: Driver,
    changed: ArcTrigger,
    settings: Settings,
    strings: Strings,
    times: TimeFormat,
    state: State,
}

/// What the window itself remembers.
#[derive(Default)]
pub(crate) struct State {
    /// The window is open.
    pub(crate) open: Cell<bool>,
    /// The visitor opened or closed it, not the page: the focus may follow.
    pub(crate) by_visitor: Cell<bool>,
    /// What the visitor has typed and not sent.
    pub(crate) draft: RefCell<String>,
    /// The log, while the window is open.
    pub(crate) log: RefCell<Option<Element>>,
    /// The field, while there is one.
    pub(crate) field: RefCell<Option<HtmlElement>>,
    /// The visitor is at the end of the log.
    pub(crate) pinned: Cell<bool>,
    /// The config's picture did not load.
    pub(crate) picture_broken: Cell<bool>,
}

impl Ui {
    /// An interface to the conversation of `driver`. `changed` is notified when there is something else to show.
    pub(crate) fn new(driver: Driver, changed: ArcTrigger, mut settings: Settings) -> Self {
        let times = TimeFormat::new(settings.locale.as_deref().unwrap_or_default());
        let strings = Strings::new(std::mem::take(&mut settings.strings));
        let state = State { pinned: Cell::new(true), ..State::default() };
        Self { shared: Rc::new(Shared { driver, changed, settings, strings, times, state }), key: 0 }
    }

    /// The same, for a part that is about the message of this key.
    fn at(&self, key: u32) -> Self {
        Self { shared: self.shared.clone(), key }
    }

    /// Whoever runs this within an effect is run again when the state has changed.
    fn track(&self) {
        self.shared.changed.track();
    }

    /// The state has changed.
    fn notify(&self) {
        self.shared.changed.notify();
    }

    /// What the window itself remembers.
    pub(crate) fn state(&self) -> &State {
        &self.shared.state
    }

    /// What the site chose.
    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The formats of times and days.
    fn times(&self) -> &TimeFormat {
        &self.shared.times
    }

    /// The conversation.
    pub(crate) fn driver(&self) -> &Driver {
        &self.shared.driver
    }

    /// A text of the interface.
    fn text(&self, text: Text) -> String {
        self.shared.strings.get(text)
    }

    /// A text of the interface with a number in it.
    fn count(&self, text: Text, count: usize) -> String {
        self.shared.strings.count(text, count)
    }

    /// Reads the conversation's state.
    fn session<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.shared.driver.session())
    }

    /// Reads the message that this part is about, while it is there.
    fn row<T>(&self, read: impl FnOnce(&Row) -> T) -> Option<T> {
        let rows = self.shared.driver.rows();
        rows.iter().rev().find(|row| row.key.get() == self.key).map(read)
    }

    /// What keeps messages from being sent, when something does.
    fn closed_by(&self) -> Option<Notice> {
        self.session(Session::notice).filter(|notice| *notice != Notice::NoReply)
    }

    /// The assistant's name, for its messages and the window's title.
    fn assistant_name(&self) -> String {
        let name = self.session(|session| session.config().and_then(|config| config.assistant_name.clone()));
        name.unwrap_or_else(|| self.text(Text::Assistant))
    }

    /// Opens the window, or closes it. The focus follows when the visitor did it.
    pub(crate) fn set_open(&self, open: bool, by_visitor: bool) {
        let state = self.state();
        if state.open.replace(open) != open {
            state.by_visitor.set(by_visitor);
            self.forget_elements();
            state.pinned.set(true);
            self.driver().opened(open);
            self.notify();
        }
    }

    /// Shows the end of the log, if the visitor was there, once what has changed is laid out.
    fn stay_at_end(&self) {
        if self.state().pinned.get()
            && let Some(log) = self.state().log.borrow().clone()
        {
            leptos::prelude::request_animation_frame(move || log.set_scroll_top(log.scroll_height()));
        }
    }

    /// Replaces what the visitor has typed.
    pub(crate) fn set_draft(&self, text: String) {
        self.state().draft.replace(text);
        self.notify();
    }

    /// Lets go of elements that are about to leave the page: they know this, and neither would ever be collected.
    pub(crate) fn forget_elements(&self) {
        self.state().log.take();
        self.state().field.take();
    }

    /// The focus goes where the visitor writes on, before what had it goes away.
    fn focus_field(&self) {
        if let Some(field) = &*self.state().field.borrow() {
            _ = field.focus();
        }
    }

    /// Sends what the visitor wrote or chose.
    fn send(&self, text: String) {
        self.state().pinned.set(true);
        self.driver().send(text);
    }
}
