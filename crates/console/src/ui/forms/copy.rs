//! Texts to copy: snippets, and secrets that are shown once.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::clipboard;
use crate::text::settings as t;

/// The time for which a button says that the text was copied.
const COPIED_FOR: Duration = Duration::from_secs(3);

/// A button that copies a text.
#[component]
pub fn CopyButton(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let said = RwSignal::new("");
    let copy = move |_| {
        let text = text.get_untracked();
        spawn_local(async move {
            let copied = clipboard::copy(&text).await;
            said.try_set(if copied { t::COPIED.get() } else { t::NOT_COPIED.get() });
            set_timeout(
                move || {
                    said.try_set("");
                },
                COPIED_FOR,
            );
        });
    };
    view! {
        <span class="copy">
            <button type="button" class="button" on:click=copy>
                {t::COPY.get()}
            </button>
            <span class="copy-said" role="status">{move || said.get()}</span>
        </span>
    }
}

/// Shows the form that makes a secret, and then the secret in its place.
pub fn secret_or<T>(
    made: RwSignal<Option<T>>,
    secret: impl Fn(T) -> AnyView + Send + 'static,
    form: impl Fn() -> AnyView + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
{
    move || match made.get() {
        Some(made) => view! { <div class="modal-body">{secret(made)}</div> }.into_any(),
        None => form(),
    }
}

/// A text to copy, which is not shown again.
#[component]
pub fn SecretOnce(
    #[prop(into)] label: String,
    #[prop(into)] secret: String,
    /// What it is for.
    #[prop(into)]
    help: String,
) -> impl IntoView {
    let id = super::form::unique_id("secret");
    let labelled = id.clone();
    let shown = secret.clone();
    view! {
        <div class="secret-once">
            <p class="secret-label" id=id>{label}</p>
            <code class="secret-text" dir="ltr" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby=labelled>
                {shown}
            </code>
            <CopyButton text=Signal::derive(move || secret.clone())/>
            <p class="notice is-warning">{t::SHOWN_ONCE.get()}</p>
            <p class="field-help">{help}</p>
        </div>
    }
}
