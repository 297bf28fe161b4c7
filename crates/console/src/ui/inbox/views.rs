//! The views of the inbox, with the number of conversations in each.

use chat_protocol::admin::{ConversationCounts, ConversationView};
use leptos::prelude::*;

use crate::location::{InboxQuery, Page};
use crate::state::app;
use crate::text::{Text, inbox, number};

/// Counts up to this one are exact.
const MAX_COUNT: i64 = 999;

/// Links to the views.
#[component]
pub fn Views(#[prop(into)] query: Signal<InboxQuery>) -> impl IntoView {
    let counts = app().conversations.counts();
    let link = move |view: ConversationView| {
        let is_current = move || query.read().view == view;
        let href = move || {
            let query = InboxQuery { view, ..query.get() };
            Page::Inbox { conversation: None, query }.href()
        };
        let count = move || count(&counts.read(), view).filter(|count| *count > 0);
        view! {
            <li>
                <a class="view-link" href=href aria-current=move || is_current().then_some("true")>
                    <span>{name(view).get()}</span>
                    <span class="count" class:urgent=view == ConversationView::Waiting>
                        {move || count().map(|count| {
                            if count > MAX_COUNT { format!("{}+", number(MAX_COUNT)) } else { number(count) }
                        })}
                    </span>
                </a>
            </li>
        }
    };
    view! {
        <nav class="views" aria-label=inbox::VIEWS.get()>
            <p class="views-title" aria-hidden="true">{inbox::TITLE.get()}</p>
            <ul>{ConversationView::ALL.map(link).collect_view()}</ul>
        </nav>
    }
}

/// Returns the name of a view.
pub fn name(view: ConversationView) -> Text {
    match view {
        ConversationView::Mine => inbox::VIEW_MINE,
        ConversationView::Unassigned => inbox::VIEW_UNASSIGNED,
        ConversationView::Open => inbox::VIEW_OPEN,
        ConversationView::Waiting => inbox::VIEW_WAITING,
        ConversationView::Snoozed => inbox::VIEW_SNOOZED,
        ConversationView::Closed => inbox::VIEW_CLOSED,
        ConversationView::All => inbox::VIEW_ALL,
    }
}

fn count(counts: &ConversationCounts, view: ConversationView) -> Option<i64> {
    match view {
        ConversationView::Mine => Some(counts.mine),
        ConversationView::Unassigned => Some(counts.unassigned),
        ConversationView::Open => Some(counts.open),
        ConversationView::Waiting => Some(counts.waiting),
        ConversationView::Snoozed => Some(counts.snoozed),
        ConversationView::Closed | ConversationView::All => None,
    }
}
