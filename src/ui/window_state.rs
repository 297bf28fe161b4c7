//! Opening and closing the window, and the interface's place on the page.

use chat_protocol::Role;
use chat_session::Session;
use web_sys::Element;

use super::Ui;
use super::screen::{self, Screen};
use crate::driver::Driver;

impl Ui {
    /// Starts the interface that was put on the page, in `host`.
    pub(crate) fn start(&self, host: &Element) {
        self.open_announcer(host);
        self.schedule_greeting();
        let state = self.state();
        if self.settings().inline {
            state.open.set(true);
            state.screen.replace(Some(Screen::new(self)));
            self.driver().opened(true);
        } else if self.driver().was_open() && !screen::is_small() {
            self.reopen();
        }
        self.notify();
    }

    /// Stops the interface, which leaves the page.
    pub(crate) fn stop(&self) {
        self.release_log();
        let state = self.state();
        state.frame.take();
        state.screen.take();
        state.greeting_timer.take();
        state.announcement_timer.take();
        if let Some(announcer) = state.announcer.take() {
            announcer.remove();
        }
    }

    /// Opens or closes the window. The focus follows if the visitor did it.
    pub(crate) fn set_open(&self, open: bool, by_visitor: bool) {
        self.change_open(open, by_visitor, Driver::opened);
    }

    /// Opens the window that was open on the previous page in this tab.
    fn reopen(&self) {
        self.change_open(true, false, |driver, _| driver.reopened());
    }

    fn change_open(&self, open: bool, by_visitor: bool, report: fn(&Driver, bool)) {
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
            self.release_log();
            state.screen.replace(open.then(|| Screen::new(self)));
            self.driver().store_open(open);
            report(self.driver(), open);
            self.notify();
            if !open && by_visitor {
                // On a small screen the launcher appears in the next frame.
                self.focus("[part=launcher]");
                self.focus_later("[part=launcher]");
            }
        }
    }

    /// Returns the first unread message.
    fn first_unread(&self) -> Option<u32> {
        let unread = self.session(Session::unread) as usize;
        self.session(|session| {
            let others = session.entries().iter().rev().filter(|entry| entry.author != Role::Visitor);
            others.take(unread).last().map(|entry| entry.key.get())
        })
    }

    /// Adapts elements that were rendered again to the screen.
    pub(crate) fn apply_screen(&self) {
        if let Some(screen) = &mut *self.state().screen.borrow_mut() {
            screen.apply(self);
        }
    }

    /// Drops the reference to the log, which is about to leave the page. Its listeners hold the state: the
    /// two would keep each other from being collected.
    pub(crate) fn release_log(&self) {
        self.state().log.take();
    }
}
