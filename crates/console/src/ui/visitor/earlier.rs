//! Other conversations of the same visitor.

use chat_protocol::admin::{ConversationSummary, State};
use leptos::prelude::*;

use crate::browser::clock;
use crate::location::Page;
use crate::markdown;
use crate::state::app;
use crate::text::{Text, list_time, visitor};

/// The section of other conversations.
#[component]
pub(super) fn Earlier(summary: Memo<ConversationSummary>) -> impl IntoView {
    let app = app();
    let others = Memo::new(move |_| app.conversations.thread(&summary.read().id).read().others.clone());
    let is_empty = Memo::new(move |_| others.read().is_empty());
    view! {
        <section class="visitor-section" aria-labelledby="visitor-earlier">
            <header><h3 id="visitor-earlier">{visitor::OTHER.get()}</h3></header>
            <p class="hint" hidden=move || !is_empty.get()>{visitor::NO_OTHER.get()}</p>
            <ul class="earlier" hidden=is_empty>
                {move || others.get().into_iter().map(|other| view! { <Row other/> }).collect_view()}
            </ul>
        </section>
    }
}

#[component]
fn Row(other: ConversationSummary) -> impl IntoView {
    let app = app();
    let text = other.last_message.as_ref().map(|last| markdown::plain(&last.text)).unwrap_or_default();
    let href = Page::conversation(&other.id).href();
    let time_ms = clock::parse_ms(&other.updated_at);
    view! {
        <li>
            <a href=href>
                <span class="earlier-text" dir="auto">{text}</span>
                <span class="earlier-state">
                    {state(other.status).get()}
                    {time_ms.map(|time_ms| view! { " · " {move || list_time(time_ms, app.now_ms.get())} })}
                </span>
            </a>
        </li>
    }
}

fn state(state: State) -> Text {
    match state {
        State::Open => visitor::STATE_OPEN,
        State::Waiting => visitor::STATE_WAITING,
        State::Closed => visitor::STATE_CLOSED,
    }
}
