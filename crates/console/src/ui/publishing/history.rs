//! The jobs of an entry, newest first.

use chat_protocol::admin::publishing::Job;
use chat_protocol::admin::publishing::text_of;
use leptos::prelude::*;

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
    let known = known.map(|(_, text)| *text).filter(|_| !job.is_undo());
    let known = known.or_else(|| job.is_undo().then_some(publishing::TYPE_UNDO));
    let name = known.map_or_else(|| job.kind.replace('_', " "), |text| text.get().to_owned());
    let name = job.title.clone().filter(|_| is_titled).unwrap_or(name);
    let time = job.completed_at.as_deref().unwrap_or(&job.created_at);
    let time = clock::parse_ms(time).map(date_time);
    let attempts = (job.attempts > 1).then(|| {
        let (count, max) = (job.attempts.to_string(), job.max_attempts.to_string());
        publishing::ATTEMPTS.with(&[("count", &count), ("max", &max)])
    });
    let decided = decided(&job);
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
            {decided.map(|decided| view! { <span class="entry-detail" dir="auto">{decided}</span> })}
            {message.map(|message| view! { <span class="entry-detail" dir="auto">{message}</span> })}
            {job.error.map(|error| view! { <span class="problem" dir="auto">{error}</span> })}
        </li>
    }
}

/// Returns who or what has queued a job, as far as it is known.
fn decided(job: &Job) -> Option<String> {
    let name = job.decided_by.as_deref();
    let text = match (job.automatic, job.kind.as_str()) {
        (true, _) => {
            let named = name.map(|name| publishing::BY_RULE.with(&[("name", name)]));
            return Some(named.unwrap_or_else(|| publishing::BY_OTHERWISE.get().to_owned()));
        }
        (false, "delete_article") => publishing::WITHDRAWN_BY,
        (false, "rollback_article") => publishing::ROLLED_BACK_BY,
        (false, _) if job.is_undo() => publishing::UNDONE_BY,
        (false, _) => publishing::PUBLISHED_BY,
    };
    name.map(|name| text.with(&[("name", name)]))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_its_rule_or_its_operator() {
        let job = |kind: &str, automatic: bool, name: Option<&str>| {
            let decided_by = name.map(str::to_owned);
            decided(&Job { kind: kind.to_owned(), automatic, decided_by, ..Job::default() })
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            job("apply_seo_overlay", true, Some("{name} <b>")),
            text("Published automatically by the rule “{name} <b>”")
        );
        assert_eq!(
            job("apply_seo_overlay", true, None),
            text("Published automatically by the rule for everything else")
        );
        assert_eq!(job("publish_article", false, Some("Ada")), text("Published by Ada"));
        assert_eq!(job("delete_article", false, Some("Ada")), text("Withdrawn by Ada"));
        assert_eq!(job("publish_article", false, None), None, "before the service stored it");
    }
}
