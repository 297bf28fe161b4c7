//! The pages of what the whole workspace shares: labels and canned replies. Entries are added, edited and
//! deleted in dialogs.

use std::future::Future;

use chat_protocol::admin::Empty;
use leptos::prelude::*;

use super::page::{Head, notices};
use super::rows::{Chosen, edit_and_delete, rows};
use crate::api::ApiError;
use crate::text::{Text, settings as t};
use crate::ui::forms::{Confirm, Dialog, Loaded, Remote};

/// The texts of a page.
pub struct Texts {
    pub title: Text,
    pub lead: Text,
    /// Shown when there are no entries.
    pub empty: Text,
    pub add: Text,
    pub edit: Text,
    pub delete: Text,
    pub delete_help: Text,
    pub deleted: Text,
}

/// An entry of such a page.
pub trait Entry: Clone + Send + Sync + 'static {
    const TEXTS: Texts;
    /// Whether the dialog is as wide as a page.
    const IS_WIDE: bool;

    /// Returns the entry's id.
    fn id(&self) -> String;

    /// Returns what the entry is called where its buttons are named.
    fn name(&self) -> String;

    /// Returns what the row shows beside its buttons.
    fn row(self) -> AnyView;

    /// Returns the form that changes the entry; without one, the form that adds one.
    fn form(entry: Option<Self>, saved: Saved<Self>) -> AnyView;

    /// Loads all entries.
    fn load() -> impl Future<Output = Result<Vec<Self>, ApiError>> + 'static;

    /// Deletes an entry.
    fn delete(id: String) -> impl Future<Output = Result<Empty, ApiError>> + 'static;
}

/// What follows when a form has saved its entry.
pub struct Saved<T: Send + Sync + 'static> {
    entries: Remote<Vec<T>>,
    open: RwSignal<bool>,
}

impl<T: Send + Sync + 'static> Clone for Saved<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Saved<T> {}

impl<T: Entry> Saved<T> {
    /// Says so, shows the list anew and closes the dialog.
    pub fn done(self) {
        notices().done(t::SAVED.get());
        self.entries.reload();
        self.open.set(false);
    }
}

/// Returns the page of the entries of one kind.
pub fn entries_page<T: Entry>() -> impl IntoView {
    let notices = notices();
    let entries = Remote::new(T::load);
    let (edited, deleted) = (Chosen::<T>::new(), Chosen::<T>::new());
    let saved = Saved { entries, open: edited.open };
    let row = move |entry: T| {
        let (for_edit, for_delete) = (entry.clone(), entry.clone());
        let buttons = edit_and_delete(
            &entry.name(),
            move || edited.choose(Some(for_edit.clone())),
            move || deleted.choose(Some(for_delete.clone())),
        );
        view! {
            <li>
                {entry.row()}
                {buttons}
            </li>
        }
    };
    view! {
        <Head title=T::TEXTS.title.get() lead=T::TEXTS.lead.get()>
            <button type="button" class="button is-primary" on:click=move |_| edited.choose(None)>
                {T::TEXTS.add.get()}
            </button>
        </Head>
        <Loaded remote=entries let:all>{rows(all.into_iter().map(row).collect(), T::TEXTS.empty)}</Loaded>
        <Dialog open=edited.open title=edited.title(T::TEXTS.edit, T::TEXTS.add) is_wide=T::IS_WIDE>
            {T::form(edited.get(), saved)}
        </Dialog>
        <Confirm
            open=deleted.open
            title=T::TEXTS.delete.get()
            text=T::TEXTS.delete_help.get()
            action=t::DELETE.get()
            request=move || T::delete(deleted.get().map(|entry| entry.id()).unwrap_or_default())
            on_done=move |_| {
                notices.done(T::TEXTS.deleted.get());
                entries.reload();
            }
        />
    }
}
