//! The figures of a period beside those of the period before.

use chat_protocol::admin::{Report, ReportTotals};
use leptos::prelude::*;

use crate::chart::{Change, change, share};
use crate::text::{Text, number, reports, units};

/// A figure of the period.
struct Figure {
    label: Text,
    value: String,
    /// What the figure is made of, in a few words.
    detail: Option<String>,
    change: Change,
    trend: Trend,
}

/// Which direction is good news.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trend {
    /// More is better.
    More,
    /// Less is better.
    Less,
    /// Neither.
    Neutral,
}

/// The figures of a report.
#[component]
pub(super) fn Totals(report: Report) -> impl IntoView {
    let Report { totals, before, .. } = report;
    let figures = figures(&totals, &before);
    view! {
        <dl class="figures" aria-label=reports::TOTALS.get()>
            {figures.into_iter().map(|figure| view! { <Card figure/> }).collect_view()}
        </dl>
    }
}

#[component]
fn Card(figure: Figure) -> impl IntoView {
    let (mark, class, spoken) = tell(figure.change, figure.trend);
    view! {
        <div class="figure">
            <dt>{figure.label.get()}</dt>
            <dd>
                <strong>{figure.value}</strong>
                <span class=format!("figure-change {class}")>
                    <span aria-hidden="true">{mark}</span>
                    <span class="for-readers">{spoken}</span>
                </span>
                {figure.detail.map(|detail| view! { <span class="figure-detail">{detail}</span> })}
            </dd>
        </div>
    }
}

/// Returns a change as it is shown, its class, and as it is read out.
fn tell(change: Change, trend: Trend) -> (String, &'static str, String) {
    match change {
        Change::Unknown => (String::new(), "", String::new()),
        Change::Same => ("=".to_owned(), "", reports::SAME.get().to_owned()),
        Change::Up(share) => {
            let class = if trend == Trend::More { "is-good" } else { worse_if(trend == Trend::Less) };
            let percent = units::percent(share);
            (format!("▲ {percent}"), class, reports::MORE.with(&[("share", &percent)]))
        }
        Change::Down(share) => {
            let class = if trend == Trend::Less { "is-good" } else { worse_if(trend == Trend::More) };
            let percent = units::percent(share);
            (format!("▼ {percent}"), class, reports::LESS.with(&[("share", &percent)]))
        }
    }
}

fn worse_if(is_worse: bool) -> &'static str {
    if is_worse { "is-bad" } else { "" }
}

fn figures(now: &ReportTotals, before: &ReportTotals) -> Vec<Figure> {
    let count = |label, now: i64, before: i64, trend| Figure {
        label,
        value: number(now),
        detail: None,
        change: change(Some(before), Some(now)),
        trend,
    };
    let part = |label, now_part: i64, before_part: i64, trend| Figure {
        detail: (now.conversations > 0).then(|| {
            let percent = units::percent(share(now_part, now.conversations));
            reports::OF_ALL.with(&[("share", &percent)])
        }),
        ..count(label, now_part, before_part, trend)
    };
    let time = |label, now: Option<i64>, before: Option<i64>| Figure {
        label,
        value: now.map_or_else(|| "–".to_owned(), units::duration),
        detail: now.map(|_| reports::MEDIAN.get().to_owned()),
        change: change(before, now),
        trend: Trend::Less,
    };
    vec![
        count(reports::CONVERSATIONS, now.conversations, before.conversations, Trend::Neutral),
        part(reports::BY_AI, now.answered_by_ai, before.answered_by_ai, Trend::More),
        part(reports::UNANSWERED, now.unanswered, before.unanswered, Trend::Less),
        part(reports::BY_PERSON, now.answered_by_person, before.answered_by_person, Trend::Neutral),
        part(reports::HANDED_OFF, now.handed_off, before.handed_off, Trend::Neutral),
        part(reports::LEADS, now.leads, before.leads, Trend::More),
        part(reports::CLOSED, now.closed, before.closed, Trend::Neutral),
        time(reports::PERSON_RESPONSE, now.first_person_response_ms, before.first_person_response_ms),
        time(reports::RESOLUTION, now.resolution_ms, before.resolution_ms),
    ]
}
