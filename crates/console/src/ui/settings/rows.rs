//! What the lists of several sections share: their rows, the buttons of a row, and the entry that a dialog is
//! about.

use leptos::prelude::*;

use super::page::Empty;
use crate::text::{Text, settings as t};

/// An entry that a dialog is about, and whether the dialog is open. Copies are the same dialog.
pub struct Chosen<T: Send + Sync + 'static> {
    entry: RwSignal<Option<T>>,
    /// Whether the dialog is open.
    pub open: RwSignal<bool>,
}

impl<T: Send + Sync + 'static> Clone for Chosen<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Chosen<T> {}

impl<T: Clone + Send + Sync + 'static> Chosen<T> {
    pub fn new() -> Self {
        Self { entry: RwSignal::new(None), open: RwSignal::new(false) }
    }

    /// Opens the dialog for an entry; without one, for a new entry.
    pub fn choose(self, entry: Option<T>) {
        self.entry.set(entry);
        self.open.set(true);
    }

    /// Returns the entry.
    pub fn get(self) -> Option<T> {
        self.entry.get_untracked()
    }

    /// Returns a title: the first for an entry, the second for a new one.
    pub fn title(self, edit: Text, add: Text) -> Signal<String> {
        Signal::derive(move || {
            if self.entry.with(Option::is_some) { edit.get() } else { add.get() }.to_owned()
        })
    }
}

/// Returns the rows of a list; without any, a sentence.
pub fn rows<V: IntoView + 'static>(rows: Vec<V>, empty: Text) -> AnyView {
    if rows.is_empty() {
        view! { <Empty text=empty.get()/> }.into_any()
    } else {
        view! { <ul class="rows">{rows}</ul> }.into_any()
    }
}

/// The quiet button of a row, which asks before it does something.
#[component]
pub fn RowButton(
    text: Text,
    /// The name of the button for screen readers, with the name of the entry.
    label: String,
    on_click: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <button type="button" class="button is-quiet" aria-label=label on:click=move |_| on_click()>
            {text.get()}
        </button>
    }
}

/// Returns the button of a row that revokes the entry of this name.
pub fn revoke(name: &str, on_click: impl Fn() + 'static) -> AnyView {
    let label = t::REVOKE_NAMED.with(&[("name", name)]);
    view! {
        <div class="row-actions">
            <RowButton text=t::REVOKE label on_click/>
        </div>
    }
    .into_any()
}

/// Returns the buttons of a row that edit and delete the entry of this name.
pub fn edit_and_delete(name: &str, on_edit: impl Fn() + 'static, on_delete: impl Fn() + 'static) -> AnyView {
    let edit_label = t::EDIT_NAMED.with(&[("name", name)]);
    let delete_label = t::DELETE_NAMED.with(&[("name", name)]);
    view! {
        <div class="row-actions">
            <button type="button" class="button" aria-label=edit_label on:click=move |_| on_edit()>
                {t::EDIT.get()}
            </button>
            <RowButton text=t::DELETE label=delete_label on_click=on_delete/>
        </div>
    }
    .into_any()
}
