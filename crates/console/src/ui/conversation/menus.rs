//! The menus of a conversation: assign, label, snooze, and what is rarely needed.

use chat_protocol::admin::{ConversationChange, WorkingState};
use leptos::prelude::*;

use super::snooze;
use crate::browser::{clipboard, clock};
use crate::location::Page;
use crate::state::{DirectoryStoreFields, app};
use crate::text::{conversation, inbox, until};
use crate::ui::controls::{Confirm, Icon, Menu, MenuItem, icon};

fn change(id: &str, change: ConversationChange) {
    app().conversations.change(id, change);
}

/// Chooses who is responsible.
#[component]
pub fn AssignMenu(id: String) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let assignee = Memo::new(move |_| summary.read().assignee_id.clone().unwrap_or_default());
    let id = StoredValue::new(id);
    let choice = move |operator: String, name: String, state: Option<WorkingState>| {
        let chosen = operator.clone();
        view! {
            <MenuItem
                checked=Signal::derive(move || *assignee.read() == chosen)
                on_choose=move |()| change(&id.get_value(), ConversationChange {
                    assignee_id: Some(operator.clone()),
                    ..ConversationChange::default()
                })
            >
                {state.map(|state| view! { <span class="state-dot" data-state=state_name(state)></span> })}
                <bdi>{name}</bdi>
            </MenuItem>
        }
    };
    view! {
        <Menu label=conversation::ASSIGN.get() action="assign" button=ViewFn::from(|| icon(Icon::People))>
            <p class="menu-title">{conversation::ASSIGN.get()}</p>
            {choice(String::new(), inbox::ASSIGNEE_NOBODY.get().to_owned(), None)}
            {move || {
                let me = app.session.me().id;
                let mut team = app.directory.team().get();
                team.sort_by_key(|member| (member.id != me, member.name.to_lowercase()));
                team.into_iter().map(|member| {
                    let is_me = member.id == me;
                    let name = if is_me { conversation::ME.with(&[("name", &member.name)]) } else { member.name };
                    choice(member.id, name, Some(member.state))
                }).collect_view()
            }}
        </Menu>
    }
}

fn state_name(state: WorkingState) -> &'static str {
    match state {
        WorkingState::Online => "online",
        WorkingState::Away => "away",
        WorkingState::Offline => "offline",
    }
}

/// Chooses the labels. The menu stays open for several.
#[component]
pub fn LabelMenu(id: String) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let id = StoredValue::new(id);
    let toggle = move |label: &str| app.conversations.toggle_label(&id.get_value(), label);
    view! {
        <Menu label=conversation::LABELS.get() action="label" button=ViewFn::from(|| icon(Icon::Label))>
            <p class="menu-title">{conversation::LABELS.get()}</p>
            {move || app.directory.labels().get().into_iter().map(|label| {
                let (known, chosen) = (label.id.clone(), label.id);
                view! {
                    <MenuItem
                        checked=Signal::derive(move || summary.read().labels.contains(&known))
                        stays_open=true
                        on_choose=move |()| toggle(&chosen)
                    >
                        <span class="label-dot" data-color=label.color></span>
                        <bdi>{label.name}</bdi>
                    </MenuItem>
                }
            }).collect_view()}
            {move || app.directory.labels().read().is_empty().then(|| view! {
                <p class="menu-hint">{conversation::NO_LABELS.get()}</p>
            })}
            <a class="menu-item" role="menuitem" tabindex="-1" href=Page::settings(&["labels"]).href()>
                {conversation::MANAGE_LABELS.get()}
            </a>
        </Menu>
    }
}

/// Puts the conversation aside until a time.
#[component]
pub fn SnoozeMenu(id: String) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let is_snoozed = Memo::new(move |_| summary.read().snoozed_until.is_some());
    let id = StoredValue::new(id);
    let set = move |time: String| {
        let id = id.get_value();
        if !time.is_empty() {
            app.conversations.open_next(&id);
        }
        change(&id, ConversationChange { snoozed_until: Some(time), ..ConversationChange::default() });
    };
    view! {
        <Menu label=conversation::SNOOZE.get() action="snooze" button=ViewFn::from(|| icon(Icon::Clock))>
            <p class="menu-title">{conversation::SNOOZE.get()}</p>
            {move || is_snoozed.get().then(|| view! {
                <MenuItem on_choose=move |()| set(String::new())>{conversation::END_SNOOZE.get()}</MenuItem>
            })}
            {move || snooze::times(&snooze::Moment::now()).into_iter().map(|(name, time_ms)| view! {
                <MenuItem on_choose=move |()| set(clock::to_rfc3339(time_ms))>
                    <span>{name.get()}</span>
                    <span class="menu-detail">{until(time_ms, clock::now_ms())}</span>
                </MenuItem>
            }).collect_view()}
        </Menu>
    }
}

/// The menu of rare actions: mark as unread, copy the link, block.
#[component]
pub fn MoreMenu(id: String) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let is_blocked = Memo::new(move |_| summary.read().blocked);
    let asks = RwSignal::new(false);
    let id = StoredValue::new(id);
    let block = move |blocked: bool| {
        change(
            &id.get_value(),
            ConversationChange { blocked: Some(blocked), ..ConversationChange::default() },
        );
    };
    let mark_unread = move || {
        let id = id.get_value();
        let Page::Inbox { query, .. } = app.router.page().get_untracked() else { return };
        // An open conversation is read at once.
        app.router.open(Page::Inbox { conversation: None, query });
        change(&id, ConversationChange { read: Some(false), ..ConversationChange::default() });
    };
    let copy_link = move || {
        let address = crate::browser::window().location().origin().unwrap_or_default();
        let address = format!("{address}{}", Page::conversation(&id.get_value()).href());
        leptos::task::spawn_local(async move {
            if clipboard::copy(&address).await {
                app.notices.done(conversation::LINK_COPIED.get());
            }
        });
    };
    view! {
        <Menu label=conversation::MORE.get() button=ViewFn::from(|| icon(Icon::More))>
            <MenuItem on_choose=move |()| mark_unread()>{icon(Icon::Inbox)}{conversation::MARK_UNREAD.get()}</MenuItem>
            <MenuItem on_choose=move |()| copy_link()>{icon(Icon::Copy)}{conversation::COPY_LINK.get()}</MenuItem>
            {move || if is_blocked.get() {
                view! {
                    <MenuItem on_choose=move |()| block(false)>{icon(Icon::Block)}{conversation::UNBLOCK.get()}</MenuItem>
                }.into_any()
            } else {
                view! {
                    <MenuItem danger=true on_choose=move |()| asks.set(true)>
                        {icon(Icon::Block)}{conversation::BLOCK.get()}
                    </MenuItem>
                }.into_any()
            }}
        </Menu>
        <Show when=move || asks.get()>
            <Confirm
                title=conversation::BLOCK_TITLE.get()
                text=conversation::BLOCK_TEXT.get()
                action=conversation::BLOCK.get()
                on_confirm=move |()| block(true)
                on_close=move |()| asks.set(false)
            />
        </Show>
    }
}
