//! A shop in Leptos, with the chat in its corner and a button of its own that opens it.
//!
//! Texts stand in braces because `view!` hands what is wholly static to the browser as HTML, which a page whose policy
//! asks for Trusted Types does not let through. Where yours does not ask for them, leave the braces out.

use chat_widget::{ChatControls, ChatEvent, ChatWidget, Settings, Theme};
use leptos::prelude::*;

const POTS: [&str; 3] = ["Mug", "Bowl", "Vase"];

fn main() {
    mount_to_body(Shop);
}

#[component]
fn Shop() -> impl IntoView {
    let chat = ChatControls::new();
    // Any component further down finds the controls, without being handed them.
    provide_context(chat);
    let wanted = RwSignal::new(true);
    let evening = RwSignal::new(false);
    let heard = RwSignal::new(String::new());
    let theme = Signal::derive(move || if evening.get() { Theme::Slate } else { Theme::Emerald });
    let mut settings = Settings::new("/connector");
    settings.suggested_questions = vec!["How long does delivery take?".to_owned()];
    let on_event = move |event| {
        if let ChatEvent::Message { role, content, .. } = event {
            heard.set(format!("{}: {content}", role.as_str()));
        }
    };
    view! {
        <header>
            <h1>{"Clay & Co."}</h1>
            <AskButton/>
        </header>
        <main>
            <ul>{POTS.map(|name| view! { <Pot name/> })}</ul>
            <p>{"Last said in the chat: "} <output>{heard}</output></p>
            <label><input type="checkbox" bind:checked=evening/> {"Evening"}</label>
            <label><input type="checkbox" bind:checked=wanted/> {"Chat"}</label>
        </main>
        <Show when=move || wanted.get()>
            <ChatWidget settings=settings.clone() theme on_event controls=chat/>
        </Show>
    }
}

/// Opens the chat, and says how much of it is unread and whether somebody is there.
#[component]
fn AskButton() -> impl IntoView {
    let chat: ChatControls = expect_context();
    let label = move || match chat.unread().get() {
        0 => "Ask us".to_owned(),
        count => format!("Ask us ({count})"),
    };
    let hours = move || if chat.operator_online().get() == Some(true) { "Somebody is there" } else { "" };
    view! {
        <button id="ask" aria-expanded=move || chat.is_open().get().to_string() on:click=move |_| chat.open_for_visitor()>
            {label}
        </button>
        <span id="hours">{hours}</span>
    }
}

/// A pot, and a way to ask about it.
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
