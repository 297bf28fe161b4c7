//! Events of the browser, for the session.

use std::rc::Rc;

use chat_session::Input;
use web_sys::EventTarget;

use super::{Driver, Inner, read};
use crate::browser::listener::Listener;
use crate::browser::{self, visibility};

impl Driver {
    /// Passes events of the browser to the session, until the driver is stopped.
    pub(super) fn listen(&self) {
        type Handler<'a> = (&'a EventTarget, &'static str, fn(&Rc<Inner>));
        let (window, document) = (browser::window(), browser::document());
        let handlers: [Handler; 7] = [
            (&document, "visibilitychange", |inner| inner.handle(Input::Visible(visibility::is_visible()))),
            (&window, "online", |inner| inner.handle(Input::Online(true))),
            (&window, "offline", |inner| inner.handle(Input::Online(false))),
            // The last event in which a request can be sent.
            (&window, "pagehide", |inner| inner.set_hidden(true)),
            (&document, "freeze", |inner| inner.set_hidden(true)),
            // The page leaves the back-forward cache, or thaws.
            (&window, "pageshow", |inner| inner.set_hidden(false)),
            (&document, "resume", |inner| inner.set_hidden(false)),
        ];
        for (target, kind, on_event) in handlers {
            let inner = Rc::downgrade(&self.0);
            let listener = Listener::new(target, kind, move |_| {
                if let Some(inner) = inner.upgrade() {
                    on_event(&inner);
                }
            });
            self.0.listeners.borrow_mut().push(listener);
        }
    }
}

impl Inner {
    /// Handles that the page is hidden or restored. An open channel may keep a page out of the back-forward
    /// cache.
    fn set_hidden(self: &Rc<Self>, hidden: bool) {
        if hidden == self.hidden.replace(hidden) {
            return;
        }
        if hidden {
            self.handle(Input::PageHidden);
            self.channel.take();
        } else {
            self.open_channel();
            let stored = read(&self.storage.borrow());
            self.handle(Input::PageRestored(stored));
            // The visitor may have signed out in the meantime.
            if self.transport.prover().forget() {
                self.prove();
            }
        }
    }
}
