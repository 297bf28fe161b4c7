//! The jobs of a site.

use chat_protocol::admin::publishing::Job;
use leptos::prelude::*;

use super::history::JobRow;
use super::pages::{ListPage, pages};
use crate::api::publishing as requests;
use crate::text::publishing;

/// The list of jobs, newest first.
#[component]
pub(super) fn Jobs(site: String) -> impl IntoView {
    let load = async |site: String, before: Option<i64>| {
        let page = requests::jobs(&site, before).await?;
        Ok(ListPage { entries: page.jobs, count: page.pending, next: page.next })
    };
    pages(site, load, publishing::NO_JOBS, |jobs: Vec<Job>, waiting| {
        view! {
            <p class="hint" hidden=move || waiting.get() == 0>
                {move || publishing::PENDING.count(waiting.get())}
            </p>
            <ul class="job-list entries">
                {jobs.into_iter().map(|job| view! { <JobRow job is_titled=true /> }).collect_view()}
            </ul>
        }
    })
}
