//! The pages and products that the site has sent.

use chat_protocol::admin::settings::ContentItem;
use leptos::prelude::*;

use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::Remote;
use crate::ui::settings::page::{Empty, ago};
use crate::ui::settings::paged::{Paged, PagedList};

/// The list of a site's synced content.
#[component]
pub fn SyncedContent(site: String) -> impl IntoView {
    let id = StoredValue::new(site.clone());
    let pages = Paged::new(move |after: Option<String>| {
        let site = site.clone();
        async move {
            let page = requests::content(&site, after.as_deref()).await?;
            Ok((page.items, page.next))
        }
    });
    let count = Remote::new(move || {
        let site = id.get_value();
        async move { Ok(requests::content(&site, None).await?.count) }
    });
    view! {
        <p class="lead">
            {move || count.get().map(|count| t::CONTENT_COUNT.count(count))}
        </p>
        <PagedList
            pages
            empty=move || view! { <Empty text=t::CONTENT_EMPTY.get()/> }
            let:items
        >
            <ul class="rows">{items.into_iter().map(row).collect_view()}</ul>
        </PagedList>
    }
}

fn row(item: ContentItem) -> impl IntoView {
    let synced = t::CONTENT_SYNCED.with(&[("time", &ago(&item.synced_at))]);
    view! {
        <li>
            <details class="row-main">
                <summary dir="auto">
                    {item.title}
                    <span class="row-facts">
                        <span class="state">{item.kind}</span>
                        <span>{item.locale}</span>
                        <span dir="ltr">{item.location.unwrap_or_default()}</span>
                        <span>{synced}</span>
                    </span>
                </summary>
                <p class="excerpt" dir="auto">{item.excerpt}</p>
            </details>
        </li>
    }
}
