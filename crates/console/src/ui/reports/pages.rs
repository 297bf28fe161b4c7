//! The pages on which most conversations began.

use chat_protocol::admin::PageCount;
use leptos::html;
use leptos::prelude::*;

use super::{is_rtl, percent_of};
use crate::chart::share;
use crate::text::{number, reports};

/// The pages with their bars. It is a table already, so that it needs none beside it.
#[component]
pub(super) fn PagesChart(pages: Vec<PageCount>) -> impl IntoView {
    let max = pages.iter().map(|page| page.conversations).max().unwrap_or_default();
    let is_empty = pages.is_empty();
    let rows = pages.into_iter().map(|page| {
        let width = share(page.conversations, max);
        let x = if is_rtl() { 1.0 - width } else { 0.0 };
        view! {
            <tr>
                <th scope="row"><bdi dir="ltr" title=page.path.clone()>{page.path.clone()}</bdi></th>
                <td class="page-bar" aria-hidden="true">
                    <svg><rect class="bar bar-ai" x=percent_of(x) y="0" width=percent_of(width) height="100%"/></svg>
                </td>
                <td>{number(page.conversations)}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <figure class="panel chart">
            <figcaption><h2>{reports::PAGES_TITLE.get()}</h2></figcaption>
            <Show when=move || is_empty fallback=|| ()>
                <p class="hint">{reports::PAGES_NONE.get()}</p>
            </Show>
            <table class="pages" hidden=is_empty>
                <thead class="for-readers">
                    <tr>
                        <th scope="col">{reports::PAGE.get()}</th>
                        {html::td()}
                        <th scope="col">{reports::CONVERSATIONS.get()}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </figure>
    }
}
