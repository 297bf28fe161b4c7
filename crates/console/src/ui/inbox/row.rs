//! A conversation in the list.

use chat_protocol::admin::{ConversationSummary, LastMessage, State};
use leptos::prelude::*;

use crate::browser::clock;
use crate::state::{DirectoryStoreFields, app, visitor_name};
use crate::text::{conversation, inbox, list_time, number};
use crate::ui::controls::{Avatar, Icon, icon};

/// A row: who, when, the last words, and what has to be done.
#[component]
pub fn Row(
    id: String,
    #[prop(into)] href: Signal<String>,
    #[prop(into)] is_open: Signal<bool>,
) -> impl IntoView {
    let app = app();
    let row_id = format!("row-{id}");
    let row = app.conversations.summary(&id);
    let row = RwSignal::from(row);
    let name = Memo::new(move |_| visitor_name(&row.read()));
    let unread = Memo::new(move |_| row.read().unread);
    let need = Memo::new(move |_| need(&row.read()));
    let has_draft = Memo::new(move |_| app.drafts.has_reply(&id));
    view! {
        <a
            class="row"
            id=row_id
            class:unread=move || { unread.get() > 0 }
            class:waiting=move || is_waiting(&row.read())
            href=href
            aria-current=move || is_open.get().then_some("true")
        >
            <Avatar name />
            <span class="row-line">
                <bdi class="row-name">{name}</bdi>
                {move || age(&row.read(), app.now_ms.get())}
            </span>
            <span class="row-line">
                <span class="row-words">
                    {move || has_draft.get().then(|| view! { <em>{inbox::DRAFT.get()}" "</em> })}
                    {move || author(&row.read()).filter(|_| !has_draft.get()).map(|name| view! {
                        <bdi class="row-author">{name}" "</bdi>
                    })}
                    // Its direction is that of the last words, not of what is before them.
                    <span class="row-text" dir="auto">{move || last_words(&row.read())}</span>
                </span>
                {move || Some(unread.get()).filter(|count| *count > 0).map(|count| view! {
                    <span class="badge">{number(count)}<span class="for-readers">" "{inbox::UNREAD.get()}</span></span>
                })}
            </span>
            <span class="row-line row-tags">
                {move || need.get().map(|need| view! {
                    <span class="tag warm">{icon(Icon::Person)}{need}</span>
                })}
                {move || state_tag(&row.read())}
                {move || {
                    let labels = app.directory.read();
                    let row = row.read();
                    row.labels.iter().filter_map(|id| labels.label(id)).take(3).map(|label| view! {
                        <span class="label" data-color=label.color.clone()><bdi>{label.name.clone()}</bdi></span>
                    }).collect_view()
                }}
                {move || (app.directory.sites().read().len() > 1).then(|| view! {
                    <span class="row-site">{app.directory.read().site(&row.read().site_id).map(str::to_owned)}</span>
                })}
                {move || assignee(&row.read())}
            </span>
        </a>
    }
}

fn is_waiting(conversation: &ConversationSummary) -> bool {
    conversation.status == State::Waiting
}

/// Returns why the visitor needs a person.
fn need(row: &ConversationSummary) -> Option<&'static str> {
    if row.status == State::Closed {
        None
    } else if row.lead.needs_handoff {
        Some(inbox::WANTS_PERSON.get())
    } else {
        is_waiting(row).then(|| inbox::WAITS.get())
    }
}

/// The time since the last message; for who waits, the waiting time.
fn age(row: &ConversationSummary, now_ms: f64) -> impl IntoView + use<> {
    let since = row.waiting_since.as_ref().filter(|_| is_waiting(row));
    let is_wait = since.is_some();
    let time = since.unwrap_or(&row.updated_at).clone();
    let shown = clock::parse_ms(&time).map(|time| list_time(time, now_ms)).unwrap_or_default();
    view! {
        <time class="row-time" class:urgent=is_wait datetime=time title=is_wait.then(|| inbox::WAITING_TIME.get())>
            {is_wait.then(|| icon(Icon::Clock))}
            {shown}
        </time>
    }
}

/// Returns the words of the last message. Only those of the visitor are no Markdown.
fn last_words(row: &ConversationSummary) -> String {
    match &row.last_message {
        Some(last) if last.role == "visitor" => last.text.clone(),
        Some(last) => crate::markdown::plain(&last.text),
        None => inbox::NO_MESSAGES.get().to_owned(),
    }
}

/// Returns who wrote the last message; `None` for the visitor, whose name the row has.
fn author(row: &ConversationSummary) -> Option<String> {
    let LastMessage { role, operator_id, operator_name, .. } = row.last_message.as_ref()?;
    let name = match role.as_str() {
        "assistant" => conversation::AI.get(),
        "operator" if operator_id.as_ref() == Some(&app().session.me().id) => inbox::YOU.get(),
        "operator" => operator_name.as_deref().unwrap_or_else(|| conversation::TEAM.get()),
        _ => return None,
    };
    Some(inbox::BY.with(&[("name", name)]))
}

fn state_tag(row: &ConversationSummary) -> impl IntoView + use<> {
    let text = if row.blocked {
        Some(inbox::BLOCKED)
    } else if row.status == State::Closed {
        Some(inbox::CLOSED)
    } else if row.snoozed_until.is_some() {
        Some(inbox::SNOOZED)
    } else {
        None
    };
    text.map(|text| view! { <span class="tag">{text.get()}</span> })
}

fn assignee(row: &ConversationSummary) -> impl IntoView + use<> {
    let id = row.assignee_id.clone()?;
    let app = app();
    let name = if app.session.me().id == id {
        inbox::YOU.get().to_owned()
    } else {
        app.directory.read().operator(&id).map_or_else(|| inbox::COLLEAGUE.get().to_owned(), str::to_owned)
    };
    Some(view! { <span class="row-assignee">{icon(Icon::Person)}<bdi>{name}</bdi></span> })
}
