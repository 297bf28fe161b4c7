//! What the site has synced.

use chat_protocol::admin::settings::ContentItem;
use leptos::prelude::*;

use super::pages::{ListPage, pages};
use crate::api::settings as requests;
use crate::browser::clock;
use crate::state::app;
use crate::text::{list_time, publishing};

/// The list of synced items.
#[component]
pub(super) fn Content(site: String) -> impl IntoView {
    let load = async |site: String, after: Option<String>| {
        let page = requests::content(&site, "", after.as_deref()).await?;
        Ok(ListPage { entries: page.items, count: page.count, next: page.next })
    };
    pages(site, load, publishing::NO_CONTENT, |items: Vec<ContentItem>, count| {
        view! {
            <p class="hint">{move || publishing::COUNT.count(count.get())}</p>
            <ul class="entries">{items.into_iter().map(|item| view! { <Item item /> }).collect_view()}</ul>
        }
    })
}

#[component]
fn Item(item: ContentItem) -> impl IntoView {
    let app = app();
    let time_ms = clock::parse_ms(&item.synced_at);
    let location = item.location.unwrap_or(item.external_id);
    view! {
        <li class="entry">
            <span class="entry-title" dir="auto">{item.title}</span>
            <span class="entry-state">{item.kind}</span>
            <span class="entry-detail">
                <bdi dir="ltr">{location}</bdi>
                {Some(item.locale).filter(|locale| !locale.is_empty()).map(|locale| view! { " · "{locale} })}
                {time_ms.map(|time_ms| view! { " · "{move || list_time(time_ms, app.now_ms.get())} })}
            </span>
            <span class="entry-excerpt" dir="auto">{item.excerpt}</span>
        </li>
    }
}
