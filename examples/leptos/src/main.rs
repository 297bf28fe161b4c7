//! A shop in Leptos, with the chat in its corner and a button of its own that opens it.
//!
//! Texts are in braces because `view!` passes elements without dynamic parts to the browser as HTML, which a
//! policy with Trusted Types refuses. Without such a policy, leave the braces out.

use chat_widget::{ChatControls, ChatEvent, ChatWidget, Settings, Theme};
use leptos::prelude::*;

const POTS: [&str; 3] = ["Mug", "Bowl", "Vase"];

fn main() {
    mount_to_body(Shop);
}

#[component]
fn Shop() -> impl IntoView {
    let chat = ChatControls::new();
    // Every component below finds the controls in the context.
    provide_context(chat);
    let shown = RwSignal::new(true);
    let evening = RwSignal::new(false);
    let last_message = RwSignal::new(String::new());
    let theme = Signal::derive(move || if evening.get() { Theme::Slate } else { Theme::Emerald });
    let mut settings = Settings::new("/connector");
    settings.suggested_questions = vec!["How long does delivery take?".to_owned()];
    let on_event = move |event| {
        if let ChatEvent::Message { role, content, .. } = event {
            last_message.set(format!("{}: {content}", role.as_str()));
        }
    };
    view! {
        <header>
            <h1>{"Clay & Co."}</h1>
            <AskButton/>
        </header>
        <main>
            <ul>{POTS.map(|name| view! { <Pot name/> })}</ul>
            <p>{"Last message in the chat: "} <output>{last_message}</output></p>
            <label><input type="checkbox" bind:checked=evening/> {"Evening"}</label>
            <label><input type="checkbox" bind:checked=shown/> {"Chat"}</label>
        </main>
        <Show when=move || shown.get()>
            <ChatWidget settings=settings.clone() theme on_event controls=chat/>
        </Show>
    }
}

/// A button that opens the chat and shows the number of unread messages, with a note while an operator is
/// online.
#[component]
fn AskButton() -> impl IntoView {
    let chat: ChatControls = expect_context();
    let label = move || match chat.unread().get() {
        0 => "Ask us".to_owned(),
        count => format!("Ask us ({count})"),
    };
    let hours = move || if chat.operator_online().get() == Some(true) { "An operator is online" } else { "" };
    view! {
        <button id="ask" aria-expanded=move || chat.is_open().get().to_string() on:click=move |_| chat.open_for_visitor()>
            {label}
        </button>
        <span id="hours">{hours}</span>
    }
}

/// A pot, with a button to ask about it.
#[component]
fn Pot(name: &'static str) -> impl IntoView {
    let chat: ChatControls = expect_context();
    let ask = move |_| {
        chat.set_draft(format!("The {}: ", name.to_lowercase()));
        chat.open_for_visitor();
    };
    view! {
        <li>
            <h2>{name}</h2>
            <button data-chat-cta=name on:click=ask>{"Ask about it"}</button>
        </li>
    }
}
