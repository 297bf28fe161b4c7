//! The search and the filters of the list. They are parts of the address.

use std::time::Duration;

use chat_protocol::admin::ConversationView;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::views;
use crate::location::{InboxQuery, Page};
use crate::state::{DirectoryStoreFields, app};
use crate::text::{inbox, shell};
use crate::ui::controls::{Icon, Menu, MenuItem, icon};

/// The pause in typing after which the service is asked.
const SEARCH_DELAY: Duration = Duration::from_millis(250);

/// The head of the list.
#[component]
pub fn Filters(#[prop(into)] query: Signal<InboxQuery>) -> impl IntoView {
    let app = app();
    let change = move |change: &dyn Fn(&mut InboxQuery)| {
        let mut query = query.get_untracked();
        change(&mut query);
        let open = match app.router.page().get_untracked() {
            Page::Inbox { conversation, .. } => conversation,
            _ => None,
        };
        app.router.replace(Page::Inbox { conversation: open, query });
    };
    view! {
        <header class="list-head">
            <h2 class="list-title">{move || views::name(query.read().view).get()}</h2>
            <div class="search">
                {icon(Icon::Search)}
                <SearchField query />
                <Menu
                    label=inbox::FILTERS.get()
                    button=ViewFn::from(move || view! {
                        {icon(Icon::Filter)}
                        <Show when=move || is_narrowed(&query.read())><span class="dot"></span></Show>
                    })
                >
                    {group(inbox::ASSIGNEE.get())}
                    {choice(
                        inbox::ASSIGNEE_ME.get().to_owned(),
                        Signal::derive(move || query.read().assignee.as_deref() == Some("me")),
                        move || change(&|query| toggle(&mut query.assignee, "me")),
                    )}
                    {choice(
                        inbox::ASSIGNEE_NOBODY.get().to_owned(),
                        Signal::derive(move || query.read().assignee.as_deref() == Some("nobody")),
                        move || change(&|query| toggle(&mut query.assignee, "nobody")),
                    )}
                    {move || (app.directory.sites().read().len() > 1).then(|| group(inbox::SITE.get()))}
                    {move || {
                        let sites = app.directory.sites().get();
                        let is_choice = sites.len() > 1;
                        sites.into_iter().filter(|_| is_choice).map(|site| {
                            let id = site.id.clone();
                            choice(
                                site.name,
                                Signal::derive(move || query.read().site.as_deref() == Some(&site.id)),
                                move || change(&|query| toggle(&mut query.site, &id)),
                            )
                        }).collect_view()
                    }}
                    {move || (!app.directory.labels().read().is_empty()).then(|| group(inbox::LABEL.get()))}
                    {move || app.directory.labels().get().into_iter().map(|label| {
                        let id = label.id.clone();
                        choice(
                            label.name,
                            Signal::derive(move || query.read().label.as_deref() == Some(&label.id)),
                            move || change(&|query| toggle(&mut query.label, &id)),
                        )
                    }).collect_view()}
                </Menu>
            </div>
            <Show when=move || query.read().is_filtered()>
                <p class="filtered">
                    <span>{move || filter_names(&query.read())}</span>
                    <button type="button" class="link" on:click=move |_| change(&|query| {
                        *query = InboxQuery { view: query.view, ..InboxQuery::default() };
                    })>{inbox::CLEAR_FILTERS.get()}</button>
                </p>
            </Show>
        </header>
    }
}

#[component]
fn SearchField(query: Signal<InboxQuery>) -> impl IntoView {
    let app = app();
    let timer = StoredValue::new(None::<TimeoutHandle>);
    let search = move |words: String| {
        let words = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        let Page::Inbox { conversation, .. } = app.router.page().get_untracked() else { return };
        let before = query.get_untracked();
        // A search that begins in the list of open conversations finds closed ones as well.
        let view = match (before.view, &before.q, &words) {
            (ConversationView::Open, None, Some(_)) => ConversationView::All,
            (view, _, _) => view,
        };
        let query = InboxQuery { q: words, view, ..before };
        app.router.replace(Page::Inbox { conversation, query });
    };
    let later = move |words: String| {
        if let Some(timer) = timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        timer.set_value(set_timeout_with_handle(move || search(words), SEARCH_DELAY).ok());
    };
    view! {
        <input
            id="search"
            type="search"
            placeholder=inbox::SEARCH.get()
            aria-label=inbox::SEARCH.get()
            autocomplete="off"
            spellcheck="false"
            enterkeyhint="search"
            prop:value=move || query.read().q.clone().unwrap_or_default()
            on:input:target=move |event| later(event.target().value())
        />
    }
}

fn group(title: &'static str) -> impl IntoView {
    view! { <p class="menu-title">{title}</p> }
}

fn choice(name: String, checked: Signal<bool>, choose: impl Fn() + Send + Sync + 'static) -> impl IntoView {
    view! {
        <MenuItem checked on_choose=move |()| choose()>
            <bdi>{name}</bdi>
        </MenuItem>
    }
}

fn toggle(filter: &mut Option<String>, value: &str) {
    *filter = if filter.as_deref() == Some(value) { None } else { Some(value.to_owned()) };
}

fn is_narrowed(query: &InboxQuery) -> bool {
    query.site.is_some() || query.label.is_some() || query.assignee.is_some()
}

/// Names the filters that are on.
fn filter_names(query: &InboxQuery) -> String {
    let directory = app().directory;
    let mut names = Vec::new();
    match query.assignee.as_deref() {
        Some("me") => names.push(inbox::ASSIGNEE_ME.get().to_owned()),
        Some("nobody") => names.push(inbox::ASSIGNEE_NOBODY.get().to_owned()),
        Some(id) => names.extend(directory.read().operator(id).map(str::to_owned)),
        None => {}
    }
    names.extend(query.site.as_deref().and_then(|id| directory.read().site(id).map(str::to_owned)));
    let label = query.label.as_deref();
    names.extend(label.and_then(|id| directory.read().label(id).map(|label| label.name.clone())));
    names.extend(query.q.as_ref().map(|words| inbox::SEARCHED.with(&[("words", words)])));
    if names.is_empty() { shell::LOADING.get().to_owned() } else { names.join(", ") }
}
