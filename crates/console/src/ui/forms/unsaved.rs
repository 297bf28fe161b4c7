//! Forms with changes that are not saved: nobody leaves them by mistake.

use std::collections::BTreeSet;

use leptos::ev;
use leptos::prelude::*;

use crate::browser::window;
use crate::location::Router;
use crate::text::settings as t;

/// The forms of a page, or of a dialog, that have unsaved changes.
#[derive(Clone, Copy)]
pub struct Unsaved {
    forms: RwSignal<BTreeSet<u32>>,
    next: StoredValue<u32>,
}

impl Unsaved {
    fn new() -> Self {
        Self { forms: RwSignal::new(BTreeSet::new()), next: StoredValue::new(0) }
    }

    /// Guards a page against being left: by a link, by the back button, and by closing it.
    pub fn guard_page(router: Router) -> Self {
        let unsaved = Self::new();
        provide_context(unsaved);
        router.set_guard(move || unsaved.may_leave());
        let listener = window_event_listener(ev::beforeunload, move |event| {
            if unsaved.has_changes() {
                event.prevent_default();
            }
        });
        on_cleanup(move || {
            router.clear_guard();
            listener.remove();
        });
        unsaved
    }

    /// Returns the forms of a dialog, which count for its page as well. `outer` are those of the page.
    pub fn of_dialog(outer: Option<Self>) -> Self {
        let unsaved = Self::new();
        if let Some(outer) = outer {
            outer.follow(Signal::derive(move || unsaved.forms.with(|forms| !forms.is_empty())));
        }
        provide_context(unsaved);
        unsaved
    }

    /// Follows whether a form has unsaved changes, until it is gone.
    pub fn follow(self, is_dirty: Signal<bool>) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        Effect::new(move |_| {
            let is_dirty = is_dirty.get();
            if is_dirty != self.forms.with_untracked(|forms| forms.contains(&id)) {
                self.forms.update(|forms| {
                    if is_dirty {
                        forms.insert(id);
                    } else {
                        forms.remove(&id);
                    }
                });
            }
        });
        on_cleanup(move || {
            self.forms.try_update(|forms| forms.remove(&id));
        });
    }

    fn has_changes(self) -> bool {
        self.forms.try_with_untracked(|forms| !forms.is_empty()).unwrap_or_default()
    }

    /// Returns whether nothing is lost, or the operator agrees to lose it.
    pub fn may_leave(self) -> bool {
        !self.has_changes() || window().confirm_with_message(t::UNSAVED_QUESTION.get()).unwrap_or(true)
    }
}
