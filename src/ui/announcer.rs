//! Speaks what happens, by a live region that is no part of the shadow root: not every screen reader listens there.

use chat_protocol::Role;
use chat_session::{Delivery, Entry, Notice, Session, Wait};
use gloo_timers::callback::Timeout;
use web_sys::Element;

use super::Ui;
use super::rich_text::plain;
use crate::browser::document;
use crate::text::strings::Text;

/// Maximum announcements in the region: one that goes too early is not spoken.
const MAX_KEPT: u32 = 4;
/// How long an announcement stays, so that nobody comes across it while reading the page. Milliseconds.
const KEPT_MS: u32 = 10_000;

/// The state that was announced last: the number of failed messages, no answer, writing, the wait, messages that are not
/// tried again soon.
pub(super) type Announced = (usize, bool, bool, Wait, bool);

impl Ui {
    /// Puts the region into `host`, where a slot of the shadow root shows it to nobody but screen readers.
    pub(crate) fn open_announcer(&self, host: &Element) {
        let region = self.el("div aria-live=polite slot=announcer").attr("lang", &self.settings().language);
        let region = region.node::<Element>();
        // Appending to an element of the page does not fail.
        _ = host.append_child(&region);
        self.state().announcer.replace(Some(region));
    }

    /// Hides the region from sight, where no shadow root does so.
    pub(crate) fn hide_announcer(&self) {
        if let Some(region) = &*self.state().announcer.borrow() {
            region.set_class_name("cw-hidden");
        }
    }

    /// Speaks a message of somebody else, once.
    pub(super) fn announce(&self, entry: &Entry) {
        let name = match entry.author {
            Role::Visitor => return,
            Role::Operator => self.operator_name(),
            Role::Assistant | Role::Other(_) => self.assistant_name(),
        };
        if self.driver().rows().iter().any(|row| row.joins && row.key == entry.key) {
            self.say(&self.person_text(Text::NamedJoined, Text::PersonJoined));
        }
        self.say(&[&name, ": ", &*plain(self, &entry.text)].concat());
    }

    /// Speaks what has changed beside the messages.
    pub(super) fn announce_changes(&self) {
        let failed = self.driver().rows().iter().filter(|row| row.delivery == Delivery::Failed).count();
        let (no_reply, writing, wait, deferred) = self.session(|session| {
            let no_reply = session.notice() == Some(Notice::NoReply);
            (no_reply, session.is_writing(), session.wait(), session.is_deferred())
        });
        let now = (failed, no_reply, writing && self.state().open.get(), wait, deferred);
        // What a page finds is not news.
        let Some(before) = self.state().announced.replace(Some(now)) else { return };
        if now.0 > before.0 {
            self.say(&self.text(Text::NotSent));
        }
        if deferred && !before.4 {
            self.say(&self.text(Text::TryLater));
        }
        if now.1 && !before.1 {
            self.say(&self.text(Text::NoReply));
        }
        if now.2 && !before.2 {
            self.say(&[&self.assistant_name(), " ", &*self.text(Text::IsWriting)].concat());
        }
        if now.3 > before.3 {
            self.say(&self.text(if wait == Wait::Long { Text::WaitLong } else { Text::WaitStill }));
        }
    }

    fn say(&self, text: &str) {
        let Some(region) = self.state().announcer.borrow().clone() else { return };
        let said = self.el("p").node::<Element>();
        _ = said.append_child(&document().create_text_node(text));
        _ = region.append_child(&said);
        if region.child_element_count() > MAX_KEPT
            && let Some(first) = region.first_element_child()
        {
            first.remove();
        }
        // The timer before is cancelled by being dropped.
        let timer = Timeout::new(KEPT_MS, move || region.set_text_content(None));
        self.state().announcement_timer.replace(Some(timer));
    }

    /// The name of a person of the site.
    pub(crate) fn operator_name(&self) -> String {
        self.settings().operator_name.clone().unwrap_or_else(|| self.text(Text::Support))
    }

    /// A text about a person of the site: with the name, where there is one, or without.
    pub(super) fn person_text(&self, named: Text, unnamed: Text) -> String {
        match &self.settings().operator_name {
            Some(name) => self.named(named, name),
            None => self.text(unnamed),
        }
    }

    /// Returns whether a person was the last to answer.
    pub(super) fn person_answers(&self) -> bool {
        self.session(Session::person_took_over)
    }
}
