//! The interface: components are functions of the state, and perform no I/O.

mod announcer;
mod avatar;
mod composer;
mod contact;
mod dom;
mod focus;
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
mod state;
mod widget;
mod window_state;

pub(crate) use dom::Scope;
pub(crate) use state::State;
pub(crate) use widget::widget;

use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

use chat_session::{Notice, Session, SessionEvent};
use leptos::prelude::{ArcTrigger, Notify, Track};

use crate::driver::Driver;
use crate::driver::rows::Row;
use crate::settings::Settings;
use crate::text::strings::{Strings, Text};
use crate::text::time::TimeFormat;
use contact::Contact;

/// The context of every component. Clones share it.
#[derive(Clone)]
pub(crate) struct Ui {
    shared: Rc<Shared>,
    /// The message that a component shows, in components of a message.
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

impl Ui {
    /// Creates the interface of the conversation of `driver`. `changed` is notified when the view has to be
    /// updated.
    pub(crate) fn new(driver: Driver, changed: ArcTrigger, mut settings: Settings) -> Self {
        let (strings, times) = localize(&mut settings);
        let draft = RefCell::new(driver.draft());
        let state = State { pinned: Cell::new(true), draft, ..State::default() };
        let (settings, strings, times) = (RefCell::new(settings), RefCell::new(strings), RefCell::new(times));
        Self { shared: Rc::new(Shared { driver, changed, settings, strings, times, state }), key: 0 }
    }

    /// Replaces the settings. The page shows them when it is rendered again.
    pub(crate) fn change(&self, mut settings: Settings) {
        let (strings, times) = localize(&mut settings);
        self.shared.strings.replace(strings);
        self.shared.times.replace(times);
        if settings.locale != self.settings().locale {
            self.driver().set_locale(settings.locale.clone());
        }
        self.shared.settings.replace(settings);
        // The focus stays, because the change is not the visitor's.
        self.state().by_visitor.set(false);
        self.release_log();
        self.schedule_greeting();
    }

    /// Returns the context of a component that shows the message of this key.
    fn at(&self, key: u32) -> Self {
        Self { shared: self.shared.clone(), key }
    }

    /// Subscribes the running effect to changes of the state.
    fn track(&self) {
        self.shared.changed.track();
    }

    /// Runs the effects that are subscribed to changes of the state.
    fn notify(&self) {
        self.shared.changed.notify();
    }

    /// Returns the state of the interface.
    pub(crate) fn state(&self) -> &State {
        &self.shared.state
    }

    /// Borrows the site's settings. A borrow that is held while the settings are replaced causes a panic.
    pub(crate) fn settings(&self) -> Ref<'_, Settings> {
        self.shared.settings.borrow()
    }

    /// Returns the formats of times and days.
    fn times(&self) -> Ref<'_, TimeFormat> {
        self.shared.times.borrow()
    }

    /// Returns the driver of the conversation.
    pub(crate) fn driver(&self) -> &Driver {
        &self.shared.driver
    }

    /// Returns a text of the interface.
    fn text(&self, text: Text) -> String {
        self.shared.strings.borrow().get(text)
    }

    /// Returns a text of the interface that contains a name.
    fn named(&self, text: Text, name: &str) -> String {
        self.shared.strings.borrow().named(text, name)
    }

    /// Returns a text of the interface that contains a number.
    fn count(&self, text: Text, count: usize) -> String {
        self.shared.strings.borrow().count(text, count)
    }

    /// Reads the conversation's state.
    fn session<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        read(&self.shared.driver.session())
    }

    /// Reads the component's message, while it is on the page.
    fn row<T>(&self, read: impl FnOnce(&Row) -> T) -> Option<T> {
        let rows = self.shared.driver.rows();
        rows.range(self.state().range.get()).iter().find(|row| row.key.get() == self.key).map(read)
    }

    /// Returns whether the service takes no messages of this visitor: a notice replaces the composer.
    fn is_blocked(&self) -> bool {
        self.session(Session::notice) == Some(Notice::Blocked)
    }

    /// Returns the assistant's name.
    fn assistant_name(&self) -> String {
        let name = self.session(|session| session.config().and_then(|config| config.assistant_name.clone()));
        name.unwrap_or_else(|| self.text(Text::Assistant))
    }

    /// Sends a message of the visitor.
    fn send(&self, text: String) {
        self.state().pinned.set(true);
        if self.state().contact.get() == Contact::Done {
            self.set_contact(Contact::Closed);
        }
        self.driver().send(text);
    }

    /// Replaces the text in the composer.
    pub(crate) fn set_draft(&self, text: String) {
        self.driver().store_draft(&text);
        self.state().draft.replace(text);
        self.notify();
    }

    /// Records the visitor's consent to be remembered.
    pub(crate) fn grant_consent(&self) {
        let reports = self.settings().reports();
        self.driver().grant_consent(reports);
    }

    /// Erases the visitor, the conversation and messages that were not sent.
    pub(crate) fn reset(&self) {
        self.driver().reset();
        self.forget();
    }

    /// Forgets what the visitor typed and was shown.
    pub(crate) fn forget(&self) {
        self.driver().set_preference(preview::CLICKED, None);
        self.state().pinned.set(true);
        self.state().previewed.take();
        self.set_contact(Contact::Closed);
        self.empty_announcer();
        self.set_draft(String::new());
    }

    /// Handles an event of the conversation.
    pub(crate) fn on_event(&self, event: &SessionEvent) {
        match event {
            SessionEvent::Message(entry) => {
                self.announce(entry);
                self.preview(entry);
                self.close_contact_for(entry);
            }
            SessionEvent::Lead(lead) => {
                self.on_lead(lead);
            }
            _ => {}
        }
    }

    pub(crate) fn downgrade(&self) -> WeakUi {
        WeakUi(Rc::downgrade(&self.shared))
    }
}

/// Returns the texts of the settings, and the formats of times of their locale.
fn localize(settings: &mut Settings) -> (Strings, TimeFormat) {
    let times = TimeFormat::new(settings.locale.as_deref().unwrap_or_default());
    (Strings::new(std::mem::take(&mut settings.strings), &settings.language), times)
}

/// A weak reference to a [`Ui`].
#[derive(Clone, Default)]
pub(crate) struct WeakUi(Weak<Shared>);

impl WeakUi {
    pub(crate) fn upgrade(&self) -> Option<Ui> {
        Some(Ui { shared: self.0.upgrade()?, key: 0 })
    }
}
