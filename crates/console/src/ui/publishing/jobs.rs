//! The jobs of a site.

use chat_protocol::admin::publishing::Job;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::history::JobRow;
use super::{on_site_change, pending};
use crate::api::publishing as requests;
use crate::text::publishing;

/// The list of jobs, newest first.
#[component]
pub(super) fn Jobs(site: String) -> impl IntoView {
    let jobs = RwSignal::new(None::<Vec<Job>>);
    let waiting = RwSignal::new(0_i64);
    let next = RwSignal::new(None::<i64>);
    let problem = RwSignal::new(None::<String>);
    let key = StoredValue::new(site.clone());
    let load = move |before: Option<i64>| {
        problem.set(None);
        spawn_local(async move {
            let answer = requests::jobs(&key.get_value(), before).await;
            if jobs.is_disposed() {
                return;
            }
            match answer {
                Ok(page) => {
                    waiting.set(page.pending);
                    next.set(page.next);
                    jobs.update(|jobs| match jobs {
                        Some(jobs) if before.is_some() => jobs.extend(page.jobs),
                        _ => *jobs = Some(page.jobs),
                    });
                }
                Err(error) => problem.set(Some(error.message)),
            }
        });
    };
    load(None);
    on_site_change(site, move || load(None));
    move || {
        match jobs.get() {
        None => pending(problem.read().as_deref(), move || load(None)),
        Some(jobs) if jobs.is_empty() => view! { <p class="list-empty">{publishing::NO_JOBS.get()}</p> }.into_any(),
        Some(jobs) => view! {
            <p class="hint" hidden=move || waiting.get() == 0>{move || publishing::PENDING.count(waiting.get())}</p>
            <ul class="job-list entries">
                {jobs.into_iter().map(|job| view! { <JobRow job is_titled=true /> }).collect_view()}
            </ul>
            <button type="button" class="quiet outlined" hidden=move || next.get().is_none() on:click=move |_| load(next.get_untracked())>
                {publishing::MORE.get()}
            </button>
        }
        .into_any(),
    }
    }
}
