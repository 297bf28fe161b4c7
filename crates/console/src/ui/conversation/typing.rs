//! Typing: warning of colleagues who write, and telling them that this operator does.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::requests;
use crate::browser::clock;
use crate::state::app;
use crate::text::composer;

/// The minimum interval between two reports that the operator is typing, in milliseconds.
const TYPING_INTERVAL_MS: f64 = 4_000.0;

/// Says who else is writing, so that the visitor does not get two answers.
#[expect(clippy::needless_pass_by_value, reason = "a property of a component")]
#[component]
pub fn TypingWarning(id: String) -> impl IntoView {
    let app = app();
    let thread = RwSignal::from(app.conversations.thread(&id));
    let now_ms = RwSignal::new(clock::now_ms());
    let timer = set_interval_with_handle(move || now_ms.set(clock::now_ms()), Duration::from_secs(2)).ok();
    on_cleanup(move || {
        if let Some(timer) = timer {
            timer.clear();
        }
    });
    let text = Memo::new(move |_| {
        let now_ms = now_ms.get().max(clock::now_ms());
        let me = app.session.me().id;
        let thread = thread.read();
        let typing: Vec<_> = thread.typing_now(&me, now_ms).collect();
        let first = typing.first()?;
        let text = if first.note { composer::TYPING_NOTE } else { composer::TYPING_REPLY };
        Some((text.with(&[("name", &first.name)]), first.note))
    });
    view! {
        <p class="typing" class:warm=move || text.read().as_ref().is_some_and(|(_, note)| !note) role="status">
            {move || text.get().map(|(text, _)| view! { <span class="dots" aria-hidden="true">"•••"</span> <bdi>{text}</bdi> })}
        </p>
    }
}

/// Tells colleagues that this operator is typing: not more often than needed, and once when it ends.
#[derive(Clone, Copy)]
pub struct Typing {
    id: StoredValue<String>,
    told_ms: StoredValue<f64>,
    /// Whether that was about a note.
    told_note: StoredValue<bool>,
}

impl Typing {
    /// Tells about a conversation, also that typing has ended when its composer is gone.
    pub fn new(id: StoredValue<String>) -> Self {
        let typing = Self { id, told_ms: StoredValue::new(0.0), told_note: StoredValue::new(false) };
        let conversation = id.get_value();
        on_cleanup(move || {
            if typing.told_ms.try_get_value().is_some_and(|told| told > 0.0) {
                send_typing(conversation, false, true);
            }
        });
        typing
    }

    /// Tells that the operator has typed, or has emptied the field.
    pub fn tell(self, note: bool, stopped: bool) {
        let (now_ms, told_ms) = (clock::now_ms(), self.told_ms.get_value());
        // The visitor sees that a reply is written, and must not go on seeing it while a note is.
        let is_known = note == self.told_note.get_value() && now_ms - told_ms < TYPING_INTERVAL_MS;
        if stopped && told_ms == 0.0 || !stopped && is_known {
            return;
        }
        self.told_note.set_value(note);
        self.told_ms.set_value(if stopped { 0.0 } else { now_ms });
        send_typing(self.id.get_value(), note, stopped);
    }
}

fn send_typing(id: String, note: bool, stopped: bool) {
    // Nothing depends on it.
    spawn_local(async move { _ = requests::tell_typing(&id, note, stopped).await });
}
