//! How likely the visitor buys, and why the service thinks so.

use chat_protocol::admin::{ConversationSummary, LeadReason};
use leptos::prelude::*;

use crate::state::app;
use crate::text::{Text, visitor};

/// The names of reasons that have a text. Others are shown as the service names them.
const REASONS: [(&str, Text); 11] = [
    ("contact", visitor::REASON_CONTACT),
    ("asked_person", visitor::REASON_ASKED_PERSON),
    ("topics", visitor::REASON_TOPICS),
    ("messages", visitor::REASON_MESSAGES),
    ("viewed_pages", visitor::REASON_PAGES),
    ("viewed_products", visitor::REASON_PRODUCTS),
    ("viewed_prices", visitor::REASON_PRICES),
    ("clicked", visitor::REASON_CLICKED),
    ("began_form", visitor::REASON_BEGAN_FORM),
    ("sent_form", visitor::REASON_SENT_FORM),
    ("visited_again", visitor::REASON_VISITED_AGAIN),
];

/// The section of the lead.
#[component]
pub(super) fn Lead(summary: Memo<ConversationSummary>) -> impl IntoView {
    let app = app();
    let lead = Memo::new(move |_| summary.read().lead.clone());
    let reasons =
        Memo::new(move |_| app.conversations.thread(&summary.read().id).read().lead_reasons.clone());
    let score = Memo::new(move |_| lead.read().score.clamp(0, 100));
    view! {
        <section class="visitor-section" aria-labelledby="visitor-lead">
            <header>
                <h3 id="visitor-lead">{visitor::LEAD.get()}</h3>
                <span class="badge" hidden=move || !lead.read().needs_handoff>{visitor::WANTS_PERSON.get()}</span>
            </header>
            <p class="score">
                <meter min="0" max="100" low="34" high="67" optimum="100" value=move || score.get().to_string()
                    aria-label=visitor::LEAD.get()></meter>
                <strong>{move || visitor::SCORE.with(&[("score", &score.get().to_string())])}</strong>
            </p>
            {move || lead.read().summary.clone().map(|text| view! { <p class="hint" dir="auto">{text}</p> })}
            <ul class="reasons">
                {move || reasons.read().iter().map(|reason| {
                    view! {
                        <li>
                            <span>{name(reason)}</span>
                            <bdi class="points" dir="ltr">{visitor::POINTS.with(&[("points", &reason.points.to_string())])}</bdi>
                        </li>
                    }
                }).collect_view()}
            </ul>
        </section>
    }
}

fn name(reason: &LeadReason) -> String {
    let known = REASONS.iter().find(|(name, _)| *name == reason.reason);
    known.map_or_else(|| reason.reason.replace('_', " "), |(_, text)| text.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_this_console_does_not_know_is_shown_by_its_name() {
        let named = |reason: &str| name(&LeadReason { reason: reason.to_owned(), points: 5 });
        assert_eq!(named("contact"), "Left contact details");
        assert_eq!(named("subscribed_twice"), "subscribed twice");
    }
}
