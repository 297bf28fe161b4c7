//! What the visitor sees. Components are functions of the state; they own no I/O.

mod announcer;
mod avatar;
mod composer;
mod contact;
mod dom;
mod header;
mod icon;
mod launcher;
mod log;
mod menu;
mod message;
mod notice;
mod panel;
mod preview;
mod rich_text;
mod screen;
mod scroll;
mod widget;

pub(crate) use dom::Scope;
pub(crate) use widget::widget;

use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

use chat_protocol::Role;
use chat_session::{Notice, Session, SessionEvent};
use gloo_timers::callback::Timeout;
use leptos::prelude::{ArcTrigger, Notify, Track};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, ShadowRoot};

use crate::browser::viewport;
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
    settings: RefCell<Settings>,
    strings: RefCell<Strings>,
    times: RefCell<TimeFormat>,
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
    /// The visitor is at the end of the log.
    pub(crate) pinned: Cell<bool>,
    /// How far the log was scrolled last, in pixels.
    pub(crate) top: Cell<i32>,
    /// How high its content was then, and how much of it could be seen. Pixels.
    sizes: Cell<(i32, i32)>,
    /// The end of the log is out of sight.
    cut_off: Cell<bool>,
    /// The message whose beginning is to be seen.
    anchor: Cell<Option<u32>>,
    /// Which messages are on the page: all of a short conversation, a part of a long one.
    pub(crate) range: Cell<(usize, usize)>,
    /// What came in while the visitor was not at the end.
    pub(crate) missed: Cell<usize>,
    /// The message that was the first unread one when the window was opened.
    pub(crate) unread_from: Cell<Option<u32>>,
    /// What is put on the page now came in while the visitor looked.
    pub(crate) arrives: Cell<bool>,
    timer: RefCell<Option<Timeout>>,
    /// The greeting is due.
    greets: Cell<bool>,
    /// The line for contact details.
    contact: Cell<contact::Contact>,
    contact_error: Cell<Option<Text>>,
    /// It has fields for a name and a phone number.
    contact_more: Cell<bool>,
    /// The conversation needs contact details.
    contact_needed: Cell<bool>,
    /// How many answers in a row said that a person is needed.
    handoffs: Cell<u32>,
    /// The message whose first lines stand beside the launcher.
    previewed: Cell<Option<u32>>,
    /// The menu is open.
    menu: Cell<bool>,
    /// The visitor's own panel covers the window.
    panel: Cell<bool>,
    /// It asks whether to forget everything.
    asks: Cell<bool>,
    /// Speaks what comes in.
    announcer: RefCell<Option<Element>>,
    announced: Cell<Option<announcer::Announced>>,
    /// Empties the announcer's region.
    announced_until: RefCell<Option<Timeout>>,
    /// Launcher and window.
    pub(crate) frame: RefCell<Option<HtmlElement>>,
    /// The window takes the whole screen.
    pub(crate) full: Cell<bool>,
    /// What holds while the window is open.
    screen: RefCell<Option<screen::Screen>>,
    /// The config's picture did not load.
    pub(crate) picture_broken: Cell<bool>,
}

impl Ui {
    /// An interface to the conversation of `driver`. `changed` is notified when there is something else to show.
    pub(crate) fn new(driver: Driver, changed: ArcTrigger, mut settings: Settings) -> Self {
        let (strings, times) = words(&mut settings);
        let draft = RefCell::new(driver.draft());
        let state = State { pinned: Cell::new(true), draft, ..State::default() };
        let (settings, strings, times) = (RefCell::new(settings), RefCell::new(strings), RefCell::new(times));
        Self { shared: Rc::new(Shared { driver, changed, settings, strings, times, state }), key: 0 }
    }

    /// Takes other settings. What is on the page shows them when it is made anew.
    pub(crate) fn change(&self, mut settings: Settings) {
        let (strings, times) = words(&mut settings);
        self.shared.strings.replace(strings);
        self.shared.times.replace(times);
        if settings.locale != self.settings().locale {
            self.driver().set_locale(settings.locale.clone());
        }
        self.shared.settings.replace(settings);
        // The visitor did nothing: the focus stays where it is.
        self.state().by_visitor.set(false);
        self.forget_elements();
        self.greet_later();
    }

    /// What is on the page was made anew, and is laid out as the screen wants it.
    pub(crate) fn follow_screen(&self) {
        if let Some(screen) = &mut *self.state().screen.borrow_mut() {
            screen.follow(self);
        }
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
    pub(crate) fn settings(&self) -> Ref<'_, Settings> {
        self.shared.settings.borrow()
    }

    /// The formats of times and days.
    fn times(&self) -> Ref<'_, TimeFormat> {
        self.shared.times.borrow()
    }

    /// The conversation.
    pub(crate) fn driver(&self) -> &Driver {
        &self.shared.driver
    }

    /// A text of the interface.
    fn text(&self, text: Text) -> String {
        self.shared.strings.borrow().get(text)
    }

    /// A text of the interface with a name in it.
    fn named(&self, text: Text, name: &str) -> String {
        self.shared.strings.borrow().named(text, name)
    }

    /// A text of the interface with a number in it.
    fn count(&self, text: Text, count: usize) -> String {
        self.shared.strings.borrow().count(text, count)
    }

    /// Reads the conversation's state.
    fn session<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.shared.driver.session())
    }

    /// Reads the message that this part is about, while it is on the page.
    fn row<T>(&self, read: impl FnOnce(&Row) -> T) -> Option<T> {
        let rows = self.shared.driver.rows();
        let (from, to) = self.state().range.get();
        rows.iter().take(to).skip(from).find(|row| row.key.get() == self.key).map(read)
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
        self.change_open(open, by_visitor, Driver::opened);
    }

    /// Opens the window as it was on the page before in this tab.
    fn reopen(&self) {
        self.change_open(true, false, |driver, _| driver.reopened());
    }

    fn change_open(&self, open: bool, by_visitor: bool, tell: fn(&Driver, bool)) {
        let state = self.state();
        if state.open.get() != open && !self.settings().inline {
            if open {
                state.unread_from.set(self.first_unread());
                state.pinned.set(true);
                self.end_greeting();
                state.previewed.set(None);
            }
            state.panel.set(false);
            state.menu.set(false);
            state.open.set(open);
            state.by_visitor.set(by_visitor);
            self.forget_elements();
            state.screen.replace(open.then(|| screen::Screen::of(self)));
            self.driver().keep_open(open);
            tell(self.driver(), open);
            self.notify();
            if !open && by_visitor {
                // On a small screen it is there in the next frame.
                self.focus("[part=launcher]");
                self.focus_later("[part=launcher]");
            }
        }
    }

    /// The first of the messages that nobody has seen yet.
    fn first_unread(&self) -> Option<u32> {
        let unread = self.session(Session::unread) as usize;
        let rows = self.driver().rows();
        let others = rows.iter().rev().filter(|row| row.author != Role::Visitor);
        others.take(unread).last().map(|row| row.key.get())
    }

    /// Replaces what the visitor has typed.
    pub(crate) fn set_draft(&self, text: String) {
        self.driver().keep_draft(&text);
        self.state().draft.replace(text);
        self.notify();
    }

    /// The visitor agreed to be remembered.
    pub(crate) fn consent(&self) {
        let reports = self.settings().reports();
        self.driver().consent(reports);
    }

    /// Forgets the visitor, the conversation and what was to be sent.
    pub(crate) fn reset(&self) {
        self.driver().reset();
        self.driver().choose(preview::CLICKED, None);
        self.state().pinned.set(true);
        self.set_contact(contact::Contact::Closed);
        self.set_draft(String::new());
    }

    /// Lets go of the log, which is about to leave the page: it knows this, and neither would ever be collected.
    pub(crate) fn forget_elements(&self) {
        self.state().log.take();
    }

    /// The widget leaves the page.
    pub(crate) fn end(&self) {
        self.forget_elements();
        let state = self.state();
        state.frame.take();
        state.screen.take();
        state.timer.take();
        state.announced_until.take();
        if let Some(announcer) = state.announcer.take() {
            announcer.remove();
        }
    }

    /// The focus goes where the visitor writes on, before what had it goes away. By touch, that would raise the keyboard
    /// over what is there to be read.
    fn focus_field(&self) {
        let writes = !viewport::is_touch() || self.has_focus("input,textarea");
        self.focus(if writes { "[part=input]" } else { "[part=window]" });
    }

    /// Gives the focus to the first element that a selector finds. Returns whether there is one.
    fn focus(&self, selector: &str) -> bool {
        let frame = self.state().frame.borrow().clone();
        let found = frame.and_then(|frame| frame.query_selector(selector).ok().flatten());
        found.is_some_and(|element| element.unchecked_into::<HtmlElement>().focus().is_ok())
    }

    /// For an element that is about to come onto the page.
    fn focus_later(&self, selector: &'static str) {
        let ui = self.clone();
        leptos::prelude::request_animation_frame(move || _ = ui.focus(selector));
    }

    /// The element of the widget that has the focus.
    fn active_element(&self) -> Option<Element> {
        let root = self.state().frame.borrow().as_ref()?.get_root_node();
        // The document has the same, where there is no shadow root.
        root.unchecked_into::<ShadowRoot>().active_element()
    }

    /// Returns whether the focus is on an element, or in one, that the selector names.
    fn has_focus(&self, selector: &str) -> bool {
        self.active_element().is_some_and(|element| element.closest(selector).ok().flatten().is_some())
    }

    /// The widget is on the page.
    pub(crate) fn begin(&self, host: &Element) {
        self.open_announcer(host);
        self.greet_later();
        let state = self.state();
        if self.settings().inline {
            state.open.set(true);
            state.screen.replace(Some(screen::Screen::of(self)));
            self.driver().opened(true);
        } else if self.driver().was_open() && !screen::is_small() {
            self.reopen();
        }
        self.notify();
    }

    /// Takes in what the conversation tells.
    pub(crate) fn heard(&self, event: &SessionEvent) {
        match event {
            SessionEvent::Message(entry) => {
                self.announce(entry);
                self.preview(entry);
                self.fold_contact(entry);
            }
            SessionEvent::Lead(lead) => {
                self.take_lead(lead);
            }
            _ => {}
        }
    }

    /// Does beside the page what follows from the state.
    fn follow(&self) {
        self.follow_state();
        self.follow_contact();
    }

    pub(crate) fn downgrade(&self) -> WeakUi {
        WeakUi(Rc::downgrade(&self.shared))
    }

    /// Sends what the visitor wrote or chose.
    fn send(&self, text: String) {
        self.state().pinned.set(true);
        if self.state().contact.get() == contact::Contact::Done {
            self.set_contact(contact::Contact::Closed);
        }
        self.driver().send(text);
    }
}

/// The texts and the formats of times of these settings.
fn words(settings: &mut Settings) -> (Strings, TimeFormat) {
    let times = TimeFormat::new(settings.locale.as_deref().unwrap_or_default());
    (Strings::new(std::mem::take(&mut settings.strings), &settings.language), times)
}

/// An interface, as long as somebody else keeps it.
#[derive(Clone, Default)]
pub(crate) struct WeakUi(Weak<Shared>);

impl WeakUi {
    pub(crate) fn upgrade(&self) -> Option<Ui> {
        Some(Ui { shared: self.0.upgrade()?, key: 0 })
    }
}
