//! The rail: links to the sections of the console, and the operator's own menu.

use chat_protocol::admin::{Availability, Workspace};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Section, section};
use crate::api::requests;
use crate::location::{InboxQuery, Page, Query};
use crate::state::{app, show_workspace};
use crate::text::{account, number, shell};
use crate::ui::controls::{Avatar, Icon, Menu, MenuItem, icon};

/// The rail.
#[component]
pub fn Rail() -> impl IntoView {
    let app = app();
    let unread = Signal::derive(move || app.conversations.counts().read().unread);
    let is_admin = Memo::new(move |_| app.session.me().is_admin());
    let inbox = Page::Inbox { conversation: None, query: InboxQuery::default() };
    view! {
        <nav class="rail" aria-label=shell::SECTIONS.get()>
            <RailLink page=inbox section=Section::Inbox name=shell::INBOX.get() symbol=Icon::Inbox count=unread />
            <RailLink page=Page::Reports(Query::default()) section=Section::Reports name=shell::REPORTS.get() symbol=Icon::Chart />
            <Show when=move || is_admin.get()>
                <RailLink
                    page=Page::Publishing(Vec::new(), Query::default())
                    section=Section::Publishing
                    name=shell::PUBLISHING.get()
                    symbol=Icon::Publish
                />
            </Show>
            <RailLink page=Page::settings(&[]) section=Section::Settings name=shell::SETTINGS.get() symbol=Icon::Settings />
            <div class="rail-end">
                <OwnMenu />
            </div>
        </nav>
    }
}

#[component]
fn RailLink(
    page: Page,
    section: Section,
    name: &'static str,
    symbol: Icon,
    #[prop(optional, into)] count: Option<Signal<i64>>,
) -> impl IntoView {
    let current = app().router.page();
    let is_current = Memo::new(move |_| self::section(&current.read()) == section);
    let badge = move || count.map(|count| count.get()).filter(|count| *count > 0);
    view! {
        <a class="rail-link" href=page.href() aria-current=move || is_current.get().then_some("page") title=name>
            {icon(symbol)}
            <span class="rail-name">{name}</span>
            {move || badge().map(|count| view! {
                <span class="badge">{if count > 99 { "99+".to_owned() } else { number(count) }}
                    <span class="for-readers">" "{shell::UNREAD.get()}</span>
                </span>
            })}
        </a>
    }
}

/// The operator's own state and account.
#[component]
fn OwnMenu() -> impl IntoView {
    let app = app();
    let name = Signal::derive(move || app.session.me().name);
    let availability = Memo::new(move |_| app.preferences.read().availability);
    let state = move || match availability.get() {
        Availability::Automatic => "online",
        Availability::Away => "away",
        Availability::Offline => "offline",
    };
    let label = Signal::derive(move || shell::OWN_MENU.with(&[("name", &name.get())]));
    let choices = [
        (Availability::Automatic, shell::AVAILABLE.get()),
        (Availability::Away, shell::AWAY.get()),
        (Availability::Offline, shell::OFFLINE.get()),
    ];
    view! {
        <Menu
            label
            class="own"
            button=ViewFn::from(move || view! {
                <Avatar name />
                <span class="state-dot" data-state=state></span>
            })
        >
            <p class="menu-title"><bdi>{name}</bdi></p>
            {choices.map(|(choice, text)| view! {
                <MenuItem
                    checked=Signal::derive(move || availability.get() == choice)
                    on_choose=move |()| app.set_availability(choice)
                >{text}</MenuItem>
            }).collect_view()}
            <Workspaces />
            {leptos::html::hr()}
            <MenuItem on_choose=move |()| app.router.open(Page::Account)>{icon(Icon::Person)}{account::TITLE.get()}</MenuItem>
            <MenuItem on_choose=move |()| sign_out()>{icon(Icon::Exit)}{account::SIGN_OUT.get()}</MenuItem>
        </Menu>
    }
}

/// The workspaces of the account, if there are several.
#[component]
fn Workspaces() -> impl IntoView {
    let app = app();
    let (all, my_id) = (app.session.workspaces(), app.session.my_id());
    let item = move |workspace: Workspace| {
        let id = workspace.operator_id;
        let is_current = id == my_id;
        let choose = move |()| {
            if !is_current {
                switch(id.clone());
            }
        };
        view! {
            <MenuItem checked=Signal::stored(is_current) on_choose=choose><bdi>{workspace.tenant.name}</bdi></MenuItem>
        }
    };
    (all.len() > 1).then(|| {
        view! {
            {leptos::html::hr()}
            <p class="menu-title">{account::WORKSPACES.get()}</p>
            <div role="group" aria-label=account::WORKSPACES.get()>{all.into_iter().map(item).collect_view()}</div>
        }
    })
}

/// Switches to another workspace.
fn switch(operator_id: String) {
    let app = app();
    spawn_local(async move {
        app.outbox.send_all().await;
        match requests::switch_workspace(&operator_id).await {
            Ok(_) => show_workspace(&operator_id),
            Err(error) if error.status == 401 => {}
            Err(error) => app.notices.problem(error.message),
        }
    });
}

fn sign_out() {
    let app = app();
    spawn_local(async move {
        app.outbox.send_all().await;
        match requests::sign_out().await {
            Ok(_) => {
                // The next person at this computer must not read what was begun.
                let workspaces = app.session.workspaces();
                let operators: Vec<String> =
                    workspaces.into_iter().map(|workspace| workspace.operator_id).collect();
                app.drafts.clear(&operators);
                app.session.set_signed_out(Some(account::SIGNED_OUT.get().to_owned()));
            }
            Err(error) if error.status == 401 => {}
            Err(error) => app.notices.problem(error.message),
        }
    });
}
