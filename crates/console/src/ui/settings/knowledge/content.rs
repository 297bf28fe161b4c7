//! The pages and products that the site has sent, or that were read from one of its sources.

use chat_protocol::admin::settings::ContentItem;
use leptos::prelude::*;

use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::Remote;
use crate::ui::settings::page::{Empty, ago};
use crate::ui::settings::paged::{Paged, PagedList};

/// The list of a site's synced content, or of the pages of a source.
#[component]
pub fn SyncedContent(site: String, #[prop(optional)] source: String) -> impl IntoView {
    let (id, is_synced) = (StoredValue::new(site.clone()), source.is_empty());
    let pages = Paged::new(move |after: Option<String>| {
        let (site, source) = (site.clone(), source.clone());
        async move {
            let page = requests::content(&site, &source, after.as_deref()).await?;
            Ok((page.items, page.next))
        }
    });
    let count = is_synced.then(|| {
        Remote::new(move || {
            let site = id.get_value();
            async move { Ok(requests::content(&site, "", None).await?.count) }
        })
    });
    view! {
        {count
            .map(|count| {
                view! {
                    <p class="lead">{move || count.get().map(|count| t::CONTENT_COUNT.count(count))}</p>
                }
            })}
        <PagedList
            pages
            empty=move || view! { <Empty text=t::CONTENT_EMPTY.get()/> }
            let:items
        >
            <ul class="rows">{items.into_iter().map(|item| row(item, is_synced)).collect_view()}</ul>
        </PagedList>
    }
}

fn row(item: ContentItem, is_synced: bool) -> impl IntoView {
    let synced = if is_synced { t::CONTENT_SYNCED } else { t::SOURCE_READ };
    let synced = synced.with(&[("time", &ago(&item.synced_at))]);
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
