//! A reply or a note that the service does not have yet.

use leptos::prelude::*;

use crate::browser::clock;
use crate::markdown::{Kind, RichText};
use crate::state::{DraftKind, PendingMessage, PendingState, app};
use crate::text::conversation;

/// A pending message, with what can be done about it.
#[component]
pub fn Pending(message: PendingMessage) -> impl IntoView {
    let outbox = app().outbox;
    let PendingMessage { key, kind, text, state, due_ms, .. } = message;
    let key = StoredValue::new(key);
    let is_note = kind == DraftKind::Note;
    let undo = move |_| {
        outbox.undo(&key.get_value());
        crate::browser::focus("composer-text");
    };
    let line = match state {
        PendingState::Held => view! {
            <span>{conversation::SENDING_SOON.get()}</span>
            <Countdown due_ms />
            <button type="button" class="link" data-action="undo" on:click=undo>{conversation::UNDO.get()}</button>
        }
        .into_any(),
        PendingState::Sending => view! { <span>{conversation::SENDING.get()}</span> }.into_any(),
        PendingState::BackingOff => view! {
            <span>{conversation::WAITING_TO_SEND.get()}</span>
            <button type="button" class="link" on:click=move |_| outbox.retry_now()>
                {conversation::TRY_NOW.get()}
            </button>
        }
        .into_any(),
        PendingState::Failed(reason) => view! {
            <span class="problem" role="alert">{conversation::NOT_SENT.with(&[("reason", &reason)])}</span>
            <button type="button" class="link" on:click=move |_| outbox.retry(&key.get_value())>
                {conversation::TRY_NOW.get()}
            </button>
            <button type="button" class="link" on:click=undo>{conversation::EDIT.get()}</button>
            <button type="button" class="link" on:click=move |_| outbox.discard(&key.get_value())>
                {conversation::DISCARD.get()}
            </button>
        }
        .into_any(),
    };
    view! {
        <article class="message pending" class:note=is_note data-role=if is_note { "note" } else { "operator" }>
            <div class="bubble"><RichText text kind=Kind::Rich /></div>
            <p class="delivery">{line}</p>
        </article>
    }
}

/// The bar that shrinks while a message can be taken back.
#[component]
fn Countdown(due_ms: f64) -> impl IntoView {
    let left_ms = (due_ms - clock::now_ms()).max(0.0);
    view! { <span class="countdown" aria-hidden="true" style:animation-duration=format!("{left_ms:.0}ms")></span> }
}
