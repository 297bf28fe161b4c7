//! A shop that a server renders and the browser hydrates, with the chat in its corner.
//!
//! The feature `ssr` builds the server of `main.rs`, `hydrate` the WebAssembly module.

use chat_widget::{ChatControls, ChatWidget, Settings, Theme};
use leptos::prelude::*;

/// The page's content, which is the same on the server and in the browser.
#[component]
pub fn Shop() -> impl IntoView {
    let chat = ChatControls::new();
    let label = move || match chat.unread().get() {
        0 => "Ask us".to_owned(),
        count => format!("Ask us ({count})"),
    };
    let mut settings = Settings::new("/connector");
    settings.suggested_questions = vec!["How long does delivery take?".to_owned()];
    view! {
        <main>
            <h1>"Clay & Co."</h1>
            <button id="ask" on:click=move |_| chat.open_for_visitor()>{label}</button>
        </main>
        <ChatWidget settings theme=Theme::Emerald controls=chat/>
    }
}

/// Hydrates the page that the server has rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn hydrate() {
    leptos::mount::hydrate_body(Shop);
}
