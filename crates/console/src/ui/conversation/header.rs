//! The head of a conversation: who it is with, who answers, and what can be done.

use chat_protocol::admin::{ConversationChange, ConversationSummary, State};
use leptos::prelude::*;

use super::menus::{AssignMenu, LabelMenu, MoreMenu, SnoozeMenu};
use crate::browser::clock;
use crate::location::Page;
use crate::state::{DirectoryStoreFields, app, visitor_name};
use crate::text::{conversation, inbox, until};
use crate::ui::controls::{Avatar, Icon, icon};

/// A pause of the AI that ends after this time ends only when it is told to, in milliseconds.
const ENDLESS_MS: f64 = 1_000.0 * 86_400.0 * 365.0 * 100.0;

/// The head.
#[component]
pub fn Header(id: String, shows_visitor: RwSignal<bool>) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let name = Memo::new(move |_| visitor_name(&summary.read()));
    let back = move || match &*app.router.page().read() {
        Page::Inbox { query, .. } => Page::Inbox { conversation: None, query: query.clone() }.href(),
        _ => Page::default().href(),
    };
    let is_closed = Memo::new(move |_| summary.read().status == State::Closed);
    let action_id = StoredValue::new(id.clone());
    let close = move || {
        let id = action_id.get_value();
        if is_closed.get_untracked() {
            let change = ConversationChange { status: Some(State::Open), ..ConversationChange::default() };
            app.conversations.change(&id, change);
        } else {
            app.conversations.close(&id);
        }
    };
    view! {
        <header class="talk-head">
            <a class="quiet square back" href=back aria-label=conversation::BACK.get()>{icon(Icon::Back)}</a>
            <Avatar name />
            <div class="talk-title">
                <h2 id="conversation-title" tabindex="-1" dir="auto" title=name>{name}</h2>
                <p class="talk-state">{move || status(&summary.read())}</p>
            </div>
            <div class="talk-actions" role="group" aria-label=conversation::ACTIONS.get()>
                <Handover id=id.clone() />
                <AssignMenu id=id.clone() />
                <LabelMenu id=id.clone() />
                <SnoozeMenu id=id.clone() />
                <button type="button" class="quiet close-action" data-action="close" on:click=move |_| close()>
                    {move || if is_closed.get() {
                        (icon(Icon::Undo), conversation::REOPEN.get())
                    } else {
                        (icon(Icon::Check), conversation::CLOSE.get())
                    }}
                </button>
                <MoreMenu id />
            </div>
            <button
                type="button"
                class="quiet square visitor-open"
                aria-label=inbox::SHOW_VISITOR.get()
                title=inbox::SHOW_VISITOR.get()
                aria-expanded=move || shows_visitor.get().to_string()
                on:click=move |_| shows_visitor.update(|shows| *shows = !*shows)
            >
                {icon(Icon::Person)}
            </button>
        </header>
    }
}

/// Takes the conversation over from the AI, or hands it back.
#[component]
fn Handover(id: String) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let is_mine = Memo::new(move |_| summary.read().assignee_id.as_deref() == Some(&app.session.me().id));
    let is_paused = Memo::new(move |_| pause_end(&summary.read(), app.now_ms.get()).is_some());
    let id = StoredValue::new(id);
    move || {
        if summary.read().status == State::Closed {
            return ().into_any();
        }
        if is_mine.get() && is_paused.get() {
            let hand_back = move |_| {
                let change = ConversationChange { ai_paused: Some(false), ..ConversationChange::default() };
                app.conversations.change(&id.get_value(), change);
            };
            view! {
                <button
                    type="button"
                    class="quiet"
                    data-action="hand-back"
                    title=conversation::HAND_BACK.get()
                    on:click=hand_back
                >
                    {icon(Icon::Sparkle)}
                    <span class="wide-only">{conversation::HAND_BACK.get()}</span>
                    <span class="narrow-only for-readers">{conversation::HAND_BACK.get()}</span>
                </button>
            }
            .into_any()
        } else {
            let take_over = move |_| app.conversations.take_over(&id.get_value());
            view! {
                <button type="button" class="loud" data-action="take-over" on:click=take_over>
                    {conversation::TAKE_OVER.get()}
                </button>
            }
            .into_any()
        }
    }
}

/// Returns when the AI goes on by itself, in milliseconds since 1970; infinity until it is told to; `None`
/// while it answers.
fn pause_end(conversation: &ConversationSummary, now_ms: f64) -> Option<f64> {
    let end = clock::parse_ms(conversation.ai_paused_until.as_deref()?)?;
    (end > now_ms).then_some(if end - now_ms > ENDLESS_MS { f64::INFINITY } else { end })
}

/// The assignee and the state of the conversation, and whether the AI answers.
fn status(conversation: &ConversationSummary) -> impl IntoView + use<> {
    let app = app();
    let assignee = conversation.assignee_id.as_deref().map(|id| {
        if app.session.me().id == id {
            conversation::WITH_YOU.get().to_owned()
        } else {
            let directory = app.directory.read();
            let name = directory.operator(id).unwrap_or(inbox::COLLEAGUE.get());
            conversation::WITH.with(&[("name", name)])
        }
    });
    let state = match conversation.status {
        State::Waiting => {
            let asked = conversation.lead.needs_handoff;
            let text = if asked { conversation::WAITS } else { inbox::WAITS };
            Some(view! { <span class="tag warm">{text.get()}</span> }.into_any())
        }
        State::Closed => Some(view! { <span class="tag">{inbox::CLOSED.get()}</span> }.into_any()),
        State::Open => None,
    };
    let answering = app.directory.read().answering(&conversation.site_id).to_owned();
    let ai = match (answering.as_str(), pause_end(conversation, app.now_ms.get())) {
        ("people_only", _) => Some(conversation::AI_SILENT.get().to_owned()),
        (_, Some(end)) if end.is_finite() => {
            Some(conversation::AI_SILENT_UNTIL.with(&[("time", &until(end, app.now_ms.get()))]))
        }
        (_, Some(_)) => Some(conversation::AI_SILENT.get().to_owned()),
        // That depends on who is online when the visitor writes.
        ("people_first", None) => None,
        (_, None) => Some(conversation::AI_ANSWERS.get().to_owned()),
    };
    let ai = ai.filter(|_| conversation.status != State::Closed);
    let snoozed = conversation.snoozed_until.as_deref().and_then(clock::parse_ms);
    let snoozed =
        snoozed.map(|end| conversation::SNOOZED_UNTIL.with(&[("time", &until(end, app.now_ms.get()))]));
    let site = app.directory.read().site(&conversation.site_id).map(str::to_owned);
    let is_choice = app.directory.sites().read().len() > 1;
    let blocked =
        conversation.blocked.then(|| view! { <span class="tag danger">{inbox::BLOCKED.get()}</span> });
    view! {
        // Where there is no room for all, the last ones are not shown.
        {snoozed.map(|text| view! { <span>{text}</span> })}
        {state}
        {blocked}
        {assignee.map(|text| view! { <span>{text}</span> })}
        {ai.map(|ai| view! { <span class="ai-state">{icon(Icon::Sparkle)}{ai}</span> })}
        {site.filter(|_| is_choice).map(|site| view! { <bdi>{site}</bdi> })}
    }
}
