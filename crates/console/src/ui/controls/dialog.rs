//! Dialogs. The browser's own element keeps the focus inside, closes by Escape and returns the focus.

use leptos::prelude::*;

use super::{Icon, icon};
use crate::text::shell;

/// A dialog that is open while it exists.
#[component]
pub fn Dialog(
    /// The title.
    #[prop(into)]
    title: String,
    /// Called when the dialog is dismissed.
    #[prop(into)]
    on_close: Callback<()>,
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<leptos::html::Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && !dialog.open()
        {
            _ = dialog.show_modal();
        }
    });
    let label = title.clone();
    view! {
        <dialog
            node_ref=node
            class="dialog"
            aria-label=label
            on:cancel=move |event: web_sys::Event| {
                event.prevent_default();
                on_close.run(());
            }
        >
            <header class="dialog-head">
                <h2>{title}</h2>
                <button type="button" class="quiet square" aria-label=shell::CLOSE.get() on:click=move |_| on_close.run(())>
                    {icon(Icon::Close)}
                </button>
            </header>
            {children()}
        </dialog>
    }
}

/// Asks before something that cannot be taken back.
#[component]
pub fn Confirm(
    /// The question.
    #[prop(into)]
    title: String,
    /// What will happen.
    #[prop(into)]
    text: String,
    /// The text of the button that does it.
    #[prop(into)]
    action: String,
    /// Called when it is confirmed.
    #[prop(into)]
    on_confirm: Callback<()>,
    /// Called when the dialog is dismissed, also after a confirmation.
    #[prop(into)]
    on_close: Callback<()>,
) -> impl IntoView {
    view! {
        <Dialog title on_close>
            <p>{text}</p>
            <footer class="dialog-foot">
                <button type="button" class="quiet" on:click=move |_| on_close.run(())>
                    {shell::CANCEL.get()}
                </button>
                <button
                    type="button"
                    class="loud danger"
                    on:click=move |_| {
                        on_close.run(());
                        on_confirm.run(());
                    }
                >
                    {action}
                </button>
            </footer>
        </Dialog>
    }
}
