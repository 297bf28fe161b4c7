//! Conversations by day: a bar a day, with the part that the AI answered.

use chat_protocol::admin::ReportDay;
use leptos::html;
use leptos::prelude::*;

use super::table::Numbers;
use super::{is_rtl, percent_of};
use crate::chart::{Axis, Bar, bar, labelled};
use crate::days::Day;
use crate::text::{number, reports, units};

/// The share of a day's room that its bar fills.
const FILL: f64 = 0.72;
/// Maximum labels below the bars.
const MAX_LABELS: usize = 6;

/// The chart of the days.
#[component]
pub(super) fn DaysChart(days: Vec<ReportDay>) -> impl IntoView {
    let max = days.iter().map(|day| day.conversations).max().unwrap_or_default();
    let axis = Axis::up_to(max);
    let rtl = is_rtl();
    let count = days.len();
    let names: Vec<(String, String)> = days.iter().map(|day| names(&day.day)).collect();

    let ticks = axis.ticks.iter().rev().map(|tick| view! { <span>{number(*tick)}</span> }).collect_view();
    let lines = axis.ticks.iter().map(|tick| {
        let y = percent_of(1.0 - axis.height(*tick));
        view! { <line x1="0" x2="100%" y1=y.clone() y2=y/> }
    });
    let lines = lines.collect_view();
    let bars = days.iter().zip(&names).enumerate().map(|(index, (day, (_, long)))| {
        let answered = day.answered_by_ai.min(day.conversations);
        let others = day.conversations - answered;
        let room = Bar { height: 1.0, y: 0.0, ..bar(&axis, index, count, 1.0, 0, 0) };
        view! {
            <g class="chart-day">
                <title>{describe(long, day)}</title>
                <BarOf class="day-room" bar=room rtl/>
                <BarOf class="bar bar-ai" bar=bar(&axis, index, count, FILL, 0, answered) rtl/>
                <BarOf class="bar bar-others" bar=bar(&axis, index, count, FILL, answered, others) rtl/>
            </g>
        }
    });
    let bars = bars.collect_view();
    let labels = labelled(count, MAX_LABELS).into_iter().map(|index| {
        let middle = bar(&axis, index, count, 0.0, 0, 0);
        view! { <text x=percent_of(middle.left(rtl)) y="14" text-anchor=anchor(index, count)>{names[index].0.clone()}</text> }
    });
    let labels = labels.collect_view();
    let total = days.iter().map(|day| day.conversations).sum();
    let rows = days.into_iter().zip(&names).map(|(day, (_, long))| {
        vec![long.clone(), number(day.conversations), number(day.answered_by_ai), number(day.leads)]
    });
    let rows = rows.collect();
    let heads = [reports::DAY, reports::CONVERSATIONS, reports::BY_AI, reports::LEADS];
    view! {
        <figure class="panel chart">
            <figcaption>
                <h2>{reports::DAYS_TITLE.get()}</h2>
                <ul class="legend">
                    <li>{html::span().class("legend-swatch bar-ai")}{reports::BY_AI.get()}</li>
                    <li>{html::span().class("legend-swatch bar-others")}{reports::OTHERS.get()}</li>
                </ul>
            </figcaption>
            <div class="plot">
                <div class="plot-ticks" aria-hidden="true">{ticks}</div>
                <svg class="plot-area" role="img" aria-label=reports::DAYS_SUMMARY.count(total)>
                    <g class="plot-lines">{lines}</g>
                    {bars}
                </svg>
                <svg class="plot-labels" aria-hidden="true">{labels}</svg>
            </div>
            <Numbers title=reports::DAYS_TITLE heads=heads.map(|head| head.get().to_owned()).to_vec() rows/>
        </figure>
    }
}

#[component]
fn BarOf(class: &'static str, bar: Bar, rtl: bool) -> impl IntoView {
    view! {
        <rect class=class x=percent_of(bar.left(rtl)) y=percent_of(bar.y) width=percent_of(bar.width)
            height=percent_of(bar.height)/>
    }
}

/// Beside many bars, the first label begins where its bar is, so that it is not cut off.
fn anchor(index: usize, count: usize) -> &'static str {
    if index == 0 && count > 2 * MAX_LABELS { "start" } else { "middle" }
}

fn describe(name: &str, day: &ReportDay) -> String {
    reports::DAY_DETAIL.with(
        day.conversations,
        &[("day", name), ("ai", &number(day.answered_by_ai)), ("leads", &number(day.leads))],
    )
}

/// Returns a day in short and in long form; what is not a day stays as it is.
fn names(day: &str) -> (String, String) {
    match Day::parse(day) {
        Some(day) => (units::short_day(day), units::long_day(day)),
        None => (day.to_owned(), day.to_owned()),
    }
}
