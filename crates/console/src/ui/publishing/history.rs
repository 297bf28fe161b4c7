//! The jobs of an entry, newest first.

use leptos::prelude::*;

use crate::api::publishing::{Job, text_of};
use crate::browser::clock;
use crate::text::{Text, date_time, publishing};

/// The types of jobs that have a name. Others are shown as the service names them.
const TYPES: [(&str, Text); 4] = [
    ("publish_article", publishing::TYPE_PUBLISH_ARTICLE),
    ("apply_seo_overlay", publishing::TYPE_APPLY_SEO_OVERLAY),
    ("delete_article", publishing::TYPE_DELETE_ARTICLE),
    ("rollback_article", publishing::TYPE_ROLLBACK_ARTICLE),
];

/// The section of the history.
#[component]
pub(super) fn History(jobs: Vec<Job>) -> impl IntoView {
    let is_empty = jobs.is_empty();
    view! {
        <section class="card" aria-labelledby="review-history">
            <h3 id="review-history">{publishing::HISTORY.get()}</h3>
            <p class="hint" hidden=!is_empty>{publishing::NO_HISTORY.get()}</p>
            <ul class="job-list" hidden=is_empty>
                {jobs.into_iter().map(|job| view! { <JobRow job is_titled=false /> }).collect_view()}
            </ul>
        </section>
    }
}

/// A job: what it does, how far it is, and what the site reports.
#[component]
pub(super) fn JobRow(
    job: Job,
    /// Whether the job names what it is about.
    is_titled: bool,
) -> impl IntoView {
    let known = TYPES.iter().find(|(name, _)| *name == job.kind);
    let name = known.map_or_else(|| job.kind.replace('_', " "), |(_, text)| text.get().to_owned());
    let name = job.title.clone().filter(|_| is_titled).unwrap_or(name);
    let time = job.completed_at.as_deref().unwrap_or(&job.created_at);
    let time = clock::parse_ms(time).map(date_time);
    let attempts = (job.attempts > 1).then(|| {
        let (count, max) = (job.attempts.to_string(), job.max_attempts.to_string());
        publishing::ATTEMPTS.with(&[("count", &count), ("max", &max)])
    });
    let message = text_of(&job.result, "message").map(str::to_owned);
    let address = job.address().map(str::to_owned);
    view! {
        <li>
            <span class="job-name" dir="auto">{name}</span>
            <span class="entry-state" data-status=job.status.clone()>{status_name(&job.status)}</span>
            <span class="entry-detail">
                {time}
                {attempts.map(|attempts| view! { " · "{attempts} })}
                {address.map(|href| view! {
                    " · "<a href=href target="_blank" rel="noopener noreferrer">{publishing::OPEN_RESULT.get()}</a>
                })}
            </span>
            {message.map(|message| view! { <span class="entry-detail" dir="auto">{message}</span> })}
            {job.error.map(|error| view! { <span class="problem" dir="auto">{error}</span> })}
        </li>
    }
}

fn status_name(status: &str) -> String {
    let text = match status {
        "pending" => publishing::JOB_PENDING,
        "running" => publishing::JOB_RUNNING,
        "succeeded" => publishing::JOB_SUCCEEDED,
        "failed" => publishing::JOB_FAILED,
        other => return other.to_owned(),
    };
    text.get().to_owned()
}
