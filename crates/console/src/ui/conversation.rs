//! The open conversation: its head, its messages, and the composer.

mod canned;
mod composer;
mod editor;
mod emoji;
mod header;
mod log;
mod menus;
mod message;
mod pending;
mod snooze;
mod tools;
mod typing;

use leptos::prelude::*;

use crate::browser::{listener::Listener, visibility, window};
use crate::state::app;
use crate::text::conversation;

/// A conversation. It is created anew for another one.
#[component]
pub fn Conversation(id: String, shows_visitor: RwSignal<bool>) -> impl IntoView {
    let conversations = app().conversations;
    let summary = RwSignal::from(conversations.summary(&id));
    let unread = Memo::new(move |_| summary.read().unread);
    let in_use = RwSignal::new(visibility::is_in_use());
    let update = move |_| in_use.set(visibility::is_in_use());
    let listeners = ["focus", "blur", "visibilitychange"].map(|name| Listener::new(&window(), name, update));
    let listeners = StoredValue::new_local(listeners.into_iter().collect::<Vec<_>>());
    on_cleanup(move || listeners.set_value(Vec::new()));
    let read_id = id.clone();
    Effect::new(move |_| {
        if unread.get() > 0 && in_use.get() {
            conversations.mark_read(&read_id);
        }
    });
    view! {
        <section class="conversation" aria-label=conversation::CONVERSATION.get()>
            <header::Header id=id.clone() shows_visitor />
            <log::Log id=id.clone() />
            <composer::Composer id />
        </section>
    }
}
