//! The lists of a site that are loaded page by page: its content and its jobs.

use std::future::Future;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{on_site_change, pending};
use crate::api::ApiError;
use crate::text::{Text, publishing};

/// A page of a list.
pub(super) struct ListPage<T, C> {
    pub(super) entries: Vec<T>,
    /// The number that is shown above the list.
    pub(super) count: i64,
    /// Where the next page begins.
    pub(super) next: Option<C>,
}

/// Shows a list of a site and the button that loads more of it. The list is loaded again whenever the service
/// tells that something of the site has changed.
pub(super) fn pages<T, C, F, V>(
    site: String,
    load_page: impl Fn(String, Option<C>) -> F + Copy + Send + 'static,
    empty: Text,
    show: impl Fn(Vec<T>, RwSignal<i64>) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    C: Clone + Send + Sync + 'static,
    F: Future<Output = Result<ListPage<T, C>, ApiError>> + 'static,
    V: IntoView + 'static,
{
    let all = RwSignal::new(None::<Vec<T>>);
    let count = RwSignal::new(0_i64);
    let next = RwSignal::new(None::<C>);
    let problem = RwSignal::new(None::<String>);
    let key = StoredValue::new(site.clone());
    let load = move |from: Option<C>| {
        problem.set(None);
        spawn_local(async move {
            let is_first = from.is_none();
            let answer = load_page(key.get_value(), from).await;
            if all.is_disposed() {
                return;
            }
            match answer {
                Ok(page) => {
                    count.set(page.count);
                    next.set(page.next);
                    all.update(|all| match all {
                        Some(all) if !is_first => all.extend(page.entries),
                        _ => *all = Some(page.entries),
                    });
                }
                Err(error) => problem.set(Some(error.message)),
            }
        });
    };
    load(None);
    on_site_change(site, move || load(None));
    move || match all.get() {
        None => pending(problem.read().as_deref(), move || load(None)),
        Some(all) if all.is_empty() => view! { <p class="list-empty">{empty.get()}</p> }.into_any(),
        Some(all) => view! {
            {show(all, count)}
            <button
                type="button"
                class="quiet outlined"
                hidden=move || next.read().is_none()
                on:click=move |_| load(next.get_untracked())
            >
                {publishing::MORE.get()}
            </button>
        }
        .into_any(),
    }
}
