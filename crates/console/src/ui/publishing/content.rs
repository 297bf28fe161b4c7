//! What the site has synced.

use chat_protocol::admin::settings::ContentItem;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{on_site_change, pending};
use crate::api::settings as requests;
use crate::browser::clock;
use crate::state::app;
use crate::text::{list_time, publishing};

/// The list of synced items.
#[component]
pub(super) fn Content(site: String) -> impl IntoView {
    let items = RwSignal::new(None::<Vec<ContentItem>>);
    let count = RwSignal::new(0_i64);
    let next = RwSignal::new(None::<String>);
    let problem = RwSignal::new(None::<String>);
    let key = StoredValue::new(site.clone());
    let load = move |after: Option<String>| {
        problem.set(None);
        spawn_local(async move {
            let answer = requests::content(&key.get_value(), after.as_deref()).await;
            if items.is_disposed() {
                return;
            }
            match answer {
                Ok(page) => {
                    count.set(page.count);
                    next.set(page.next);
                    items.update(|items| match items {
                        Some(items) if after.is_some() => items.extend(page.items),
                        _ => *items = Some(page.items),
                    });
                }
                Err(error) => problem.set(Some(error.message)),
            }
        });
    };
    load(None);
    on_site_change(site, move || load(None));
    move || {
        match items.get() {
        None => pending(problem.read().as_deref(), move || load(None)),
        Some(items) if items.is_empty() => {
            view! { <p class="list-empty">{publishing::NO_CONTENT.get()}</p> }.into_any()
        }
        Some(items) => view! {
            <p class="hint">{move || publishing::COUNT.count(count.get())}</p>
            <ul class="entries">{items.into_iter().map(|item| view! { <Item item /> }).collect_view()}</ul>
            <button type="button" class="quiet outlined" hidden=move || next.read().is_none() on:click=move |_| load(next.get_untracked())>
                {publishing::MORE.get()}
            </button>
        }
        .into_any(),
    }
    }
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
