//! The inbox: the list of conversations, the open one, and its visitor.

mod actions;
mod filters;
mod first_steps;
mod list;
mod row;
mod views;

use leptos::prelude::*;

use super::conversation::Conversation;
use super::visitor::VisitorPanel;
use crate::browser;
use crate::location::{InboxQuery, Page};
use crate::state::app;
use crate::text::inbox;
use crate::ui::controls::{Icon, icon};

/// On a phone, one pane replaces the other. The focus goes to the conversation, and back to its row.
fn keep_focus(before: Option<&str>, now: Option<&str>) {
    let target = match (before, now) {
        (_, Some(_)) => "conversation-title".to_owned(),
        (Some(id), None) => format!("row-{id}"),
        (None, None) => return,
    };
    request_animation_frame(move || browser::focus(&target));
}

/// The inbox.
#[component]
pub fn Inbox() -> impl IntoView {
    let app = app();
    let page = app.router.page();
    let query = Memo::new(move |_| match &*page.read() {
        Page::Inbox { query, .. } => query.clone(),
        _ => InboxQuery::default(),
    });
    let open = Memo::new(move |_| match &*page.read() {
        Page::Inbox { conversation, .. } => conversation.clone(),
        _ => None,
    });
    // On a narrow screen, the visitor's panel is a sheet over the conversation.
    let shows_visitor = RwSignal::new(false);
    actions::offer_list(query, open);
    actions::offer_undo();
    Effect::new(move |_| app.conversations.show(query.get()));
    Effect::new(move |before: Option<Option<String>>| {
        let now = open.get();
        if let Some(id) = now.clone() {
            shows_visitor.set(false);
            app.conversations.load(id);
        }
        if browser::matches_media("(width < 720px)") {
            keep_focus(before.flatten().as_deref(), now.as_deref());
        }
        now
    });
    view! {
        <div class="inbox" class:has-conversation=move || open.read().is_some() class:shows-visitor=shows_visitor>
            <h1 class="for-readers">{inbox::TITLE.get()}</h1>
            <views::Views query />
            <section class="list-pane" aria-label=inbox::CONVERSATIONS.get()>
                <filters::Filters query />
                <list::ConversationList query open />
            </section>
            {move || match open.get() {
                Some(id) => {
                    actions::offer_conversation(shows_visitor);
                    let panel_id = id.clone();
                    view! {
                        <Conversation id shows_visitor />
                        <aside class="visitor-pane" aria-label=inbox::VISITOR.get()>
                            <button
                                type="button"
                                class="quiet square visitor-close"
                                aria-label=inbox::HIDE_VISITOR.get()
                                on:click=move |_| shows_visitor.set(false)
                            >
                                {icon(Icon::Close)}
                            </button>
                            <VisitorPanel conversation=panel_id />
                        </aside>
                    }.into_any()
                }
                None => view! {
                    <div class="nothing-open">
                        {icon(Icon::Inbox)}
                        <p>{inbox::NOTHING_OPEN.get()}</p>
                        <p class="hint">{inbox::NOTHING_OPEN_HINT.get()}</p>
                    </div>
                }.into_any(),
            }}
        </div>
    }
}
