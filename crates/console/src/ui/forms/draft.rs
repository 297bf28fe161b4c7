//! The values of a form: those that are typed, and those that are saved.

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::browser::storage;
use crate::state::{SessionState, app};

/// The signals of a form's fields.
pub trait Fields: Copy + Send + Sync + 'static {
    /// The values of the fields.
    type Draft: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Creates the signals.
    fn new(draft: &Self::Draft) -> Self;
    /// Returns the values, and follows them.
    fn get(self) -> Self::Draft;
    /// Sets the values.
    fn set(self, draft: &Self::Draft);
}

/// Declares the values of a form, and the signals of its fields.
macro_rules! draft {
    ($(#[$doc:meta])* $draft:ident, $fields:ident { $($name:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        struct $draft {
            $($name: $type,)+
        }

        #[derive(Clone, Copy)]
        struct $fields {
            $($name: RwSignal<$type>,)+
        }

        impl $crate::ui::forms::Fields for $fields {
            type Draft = $draft;

            fn new(draft: &$draft) -> Self {
                Self { $($name: RwSignal::new(draft.$name.clone()),)+ }
            }

            fn get(self) -> $draft {
                $draft { $($name: self.$name.get(),)+ }
            }

            fn set(self, draft: &$draft) {
                $(self.$name.set(draft.$name.clone());)+
            }
        }
    };
}

pub(crate) use draft;

/// The fields of a form beside the values that are saved. Copies are the same form.
pub struct Editing<F: Fields> {
    /// The signals of the fields.
    pub fields: F,
    saved: RwSignal<F::Draft>,
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "a derived one would need drafts that are `Copy`")]
impl<F: Fields> Clone for Editing<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Fields> Copy for Editing<F> {}

impl<F: Fields> Editing<F> {
    /// Begins with the saved values.
    pub fn new(draft: F::Draft) -> Self {
        Self { fields: F::new(&draft), saved: RwSignal::new(draft) }
    }

    /// Keeps unsaved changes in this browser while the form is on the screen, and brings them back when the
    /// session ended meanwhile. `key` names the form. A form with a secret is not kept.
    #[must_use]
    pub fn kept(self, key: &str) -> Self {
        let session = app().session;
        let key = ["settings.draft.", &session.my_id(), ".", key].concat();
        // Changes of values that somebody else has changed since then would take those back.
        if let Some((saved, now)) = storage::read::<(F::Draft, F::Draft)>(&key)
            && saved == self.saved()
        {
            self.fields.set(&now);
        }
        let is_dirty = self.is_dirty();
        let stored = key.clone();
        Effect::new(move |_| {
            if is_dirty.get() {
                storage::write(&stored, &(self.saved(), self.fields.get()));
            } else {
                storage::remove(&stored);
            }
        });
        on_cleanup(move || {
            let state = session.state();
            if state.with_untracked(|state| matches!(state, SessionState::SignedIn(_))) {
                storage::remove(&key);
            }
        });
        self
    }

    /// Returns whether the fields differ from what is saved.
    pub fn is_dirty(self) -> Signal<bool> {
        Memo::new(move |_| self.saved.with(|saved| self.fields.get() != *saved)).into()
    }

    /// Returns the present values.
    pub fn now(self) -> F::Draft {
        untrack(|| self.fields.get())
    }

    /// Returns the saved values.
    pub fn saved(self) -> F::Draft {
        self.saved.get_untracked()
    }

    /// Takes the changes back.
    pub fn reset(self) {
        self.fields.set(&self.saved());
    }

    /// Notes that what was sent is saved, as the service returned it. What was typed since then stays.
    pub fn accept(self, sent: &F::Draft, saved: F::Draft) {
        if self.now() == *sent {
            self.fields.set(&saved);
        }
        self.saved.set(saved);
    }
}

/// Returns a value that differs from the saved one.
pub fn changed<T: PartialEq + Clone>(now: &T, saved: &T) -> Option<T> {
    (now != saved).then(|| now.clone())
}

/// Returns the lines of a text without those that are empty.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns a text that is not empty.
pub fn filled(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use leptos::reactive::owner::Owner;

    use super::*;

    draft!(Draft, Signals { name: String, on: bool });

    fn named(name: &str) -> Draft {
        Draft { name: name.to_owned(), on: false }
    }

    #[test]
    fn what_is_typed_while_it_is_saved_stays() {
        let owner = Owner::new();
        owner.with(|| {
            let editing = Editing::<Signals>::new(named("Shop"));
            editing.fields.name.set(" Store ".to_owned());
            let sent = editing.now();
            editing.fields.name.set(" Store 2".to_owned());
            editing.accept(&sent, named("Store"));
            assert_eq!((editing.now(), editing.saved()), (named(" Store 2"), named("Store")));
            let sent = editing.now();
            editing.accept(&sent, named("Store 2"));
            assert_eq!(editing.now(), named("Store 2"));
            editing.fields.on.set(true);
            editing.reset();
            assert_eq!(editing.now(), named("Store 2"));
        });
    }

    #[test]
    fn empty_lines_are_no_entries() {
        assert_eq!(lines(" a \n\n b\n"), ["a", "b"]);
        assert_eq!((filled(" "), filled(" a ")), (None, Some("a".to_owned())));
    }
}
