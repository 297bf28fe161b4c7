//! Short messages about what happened, with an optional action.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

use super::{Connection, app};
use crate::api::{ApiError, ErrorCode};

/// The time for which a notice is shown, unless its action is on offer for another time.
const LIFETIME: Duration = Duration::from_secs(6);

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Something happened as it was asked for.
    Done,
    /// Something went wrong.
    Problem,
}

/// What a notice offers to do.
#[derive(Clone)]
pub struct NoticeAction {
    /// The text of the button.
    pub label: &'static str,
    /// Called by the button.
    pub run: Arc<dyn Fn() + Send + Sync>,
}

/// A notice.
#[derive(Clone)]
pub struct Notice {
    /// Its number.
    pub id: u32,
    /// Its kind.
    pub kind: NoticeKind,
    /// Its text.
    pub text: String,
    /// What it offers.
    pub action: Option<NoticeAction>,
}

/// The notices. Copies are the same list.
#[derive(Clone, Copy)]
pub struct Notices {
    shown: RwSignal<Vec<Notice>>,
    next_id: StoredValue<u32>,
}

impl Notices {
    pub(super) fn new() -> Self {
        Self { shown: RwSignal::new(Vec::new()), next_id: StoredValue::new(0) }
    }

    /// Returns the notices that are shown, oldest first.
    pub fn shown(self) -> Signal<Vec<Notice>> {
        self.shown.into()
    }

    /// Tells that something happened.
    pub fn done(self, text: impl Into<String>) {
        self.show(NoticeKind::Done, text.into(), None, LIFETIME);
    }

    /// Tells that something went wrong.
    pub fn problem(self, text: impl Into<String>) {
        self.show(NoticeKind::Problem, text.into(), None, LIFETIME);
    }

    /// Tells that something could not be loaded. While the connection is lost, the banner says so, and what
    /// is on the screen is loaded again with the connection.
    pub(super) fn not_loaded(self, error: &ApiError) {
        let is_lost = app().live.connection().get_untracked() == Connection::Lost;
        if error.status != 401 && !(is_lost && error.code == ErrorCode::NotReached) {
            self.problem(error.message.clone());
        }
    }

    /// Tells that something happened, and offers an action.
    pub fn offer(self, text: impl Into<String>, label: &'static str, run: impl Fn() + Send + Sync + 'static) {
        self.offer_for(LIFETIME, text, label, run);
    }

    /// Tells that something happened, and offers an action for a time.
    pub fn offer_for(
        self,
        lifetime: Duration,
        text: impl Into<String>,
        label: &'static str,
        run: impl Fn() + Send + Sync + 'static,
    ) {
        let action = NoticeAction { label, run: Arc::new(run) };
        self.show(NoticeKind::Done, text.into(), Some(action), lifetime);
    }

    /// Removes a notice.
    pub fn dismiss(self, id: u32) {
        self.shown.update(|shown| shown.retain(|notice| notice.id != id));
    }

    fn show(self, kind: NoticeKind, text: String, action: Option<NoticeAction>, lifetime: Duration) {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        self.shown.update(|shown| {
            // The same text twice would only be longer to read.
            shown.retain(|notice| notice.text != text);
            shown.push(Notice { id, kind, text, action });
        });
        set_timeout(move || self.dismiss(id), lifetime);
    }
}
