//! Announcements for screen readers, in a live region outside of the shadow root: not every screen reader
//! observes regions inside.

use std::rc::Rc;

use chat_protocol::Role;
use chat_session::{Entry, Notice, Session, Wait};
use gloo_timers::callback::Timeout;
use web_sys::Element;

use super::Ui;
use super::rich_text::plain;
use crate::browser::document;
use crate::text::strings::Text;

/// Maximum announcements in the region. One that is removed too early is not spoken.
const MAX_ANNOUNCEMENTS: u32 = 4;
/// Time after which the region is emptied, so that a visitor who reads the page does not find it.
/// Milliseconds.
const CLEAR_TIMEOUT_MS: u32 = 10_000;

/// The state that was announced last: the number of failed messages, a missing reply, the writing indicator,
/// the wait, and deferred messages.
pub(super) type Announced = (usize, bool, bool, Wait, bool);

impl Ui {
    /// Adds the region to `host`. A slot of the shadow root hides it from sight.
    pub(crate) fn open_announcer(&self, host: &Element) {
        let region = self.el("div aria-live=polite slot=announcer").attr("lang", &self.settings().language);
        let region = region.node::<Element>();
        // Appending to an element of the page does not fail.
        _ = host.append_child(&region);
        self.state().announcer.replace(Some(region));
    }

    /// Hides the region from sight in a widget without a shadow root.
    pub(crate) fn hide_announcer(&self) {
        if let Some(region) = &*self.state().announcer.borrow() {
            region.set_class_name("cw-hidden");
        }
    }

    /// Announces a message of the assistant or an operator.
    pub(super) fn announce(&self, entry: &Entry) {
        let name = match entry.author {
            Role::Visitor => return,
            Role::Operator => self.operator_name(entry.name.as_deref()),
            Role::Assistant | Role::Other(_) => self.assistant_name(),
        };
        if self.driver().rows().newest().iter().any(|row| row.joins && row.key == entry.key) {
            let name = entry.name.as_deref();
            self.announce_text(&self.person_text(name, Text::NamedJoined, Text::PersonJoined));
        }
        self.announce_text(&[&name, ": ", &*plain(self, &entry.text)].concat());
    }

    /// Announces changes of the state other than messages.
    pub(super) fn announce_changes(&self) {
        let (failed, no_reply, writing, wait, deferred) = self.session(|session| {
            let no_reply = session.notice() == Some(Notice::NoReply);
            (session.failed(), no_reply, self.writer(session), session.wait(), session.is_deferred())
        });
        let now = (failed, no_reply, writing.is_some() && self.state().open.get(), wait, deferred);
        // The first state of a page is not a change.
        let Some(previous) = self.state().announced.replace(Some(now)) else { return };
        if now.0 > previous.0 {
            self.announce_text(&self.text(Text::NotSent));
        }
        if deferred && !previous.4 {
            self.announce_text(&self.text(Text::TryLater));
        }
        if now.1 && !previous.1 {
            self.announce_text(&self.text(Text::NoReply));
        }
        if now.2 && !previous.2 {
            let name = writing.unwrap_or_default();
            self.announce_text(&[&name, " ", &*self.text(Text::IsWriting)].concat());
        }
        if now.3 > previous.3 {
            self.announce_text(&self.text(if wait == Wait::Long { Text::WaitLong } else { Text::WaitStill }));
        }
    }

    /// Removes what was announced.
    pub(super) fn empty_announcer(&self) {
        if let Some(region) = &*self.state().announcer.borrow() {
            region.set_text_content(None);
        }
    }

    fn announce_text(&self, text: &str) {
        let Some(region) = self.state().announcer.borrow().clone() else { return };
        let paragraph = self.el("p").node::<Element>();
        _ = paragraph.append_child(&document().create_text_node(text));
        _ = region.append_child(&paragraph);
        if region.child_element_count() > MAX_ANNOUNCEMENTS
            && let Some(first) = region.first_element_child()
        {
            first.remove();
        }
        // Dropping the previous timer cancels it.
        let timer = Timeout::new(CLEAR_TIMEOUT_MS, move || region.set_text_content(None));
        self.state().announcement_timer.replace(Some(timer));
    }

    /// Returns the name of an operator, or that of the team.
    pub(crate) fn operator_name(&self, name: Option<&str>) -> String {
        self.known_name(name).unwrap_or_else(|| self.text(Text::Support))
    }

    /// Returns the name of an operator: that of the site's option, which may be one for all of them, or the
    /// one that the service tells.
    pub(super) fn known_name(&self, name: Option<&str>) -> Option<String> {
        self.settings().operator_name.clone().or_else(|| name.map(str::to_owned))
    }

    /// Returns a text about an operator: `named` with the name if there is one, else `unnamed`.
    pub(super) fn person_text(&self, name: Option<&str>, named: Text, unnamed: Text) -> String {
        match self.known_name(name) {
            Some(name) => self.named(named, &name),
            None => self.text(unnamed),
        }
    }

    /// Returns the name of the operator who wrote last, if the service tells.
    pub(super) fn last_name(&self) -> Option<Rc<str>> {
        self.session(|session| session.person_name().map(Into::into))
    }

    /// Returns the name of the operator, or else of the assistant, that is writing.
    fn writer(&self, session: &Session) -> Option<String> {
        let assistant = || session.is_writing().then(|| self.assistant_name());
        session.person_writing().map(|name| self.operator_name(Some(name))).or_else(assistant)
    }

    /// Returns whether an operator was the last to answer.
    pub(super) fn person_answers(&self) -> bool {
        self.session(Session::person_took_over)
    }
}
