//! The busiest hours of the week, as a heat map.

use chat_protocol::admin::HourCount;
use leptos::prelude::*;

use super::table::Numbers;
use super::{is_rtl, percent_of};
use crate::chart::shade;
use crate::text::{number, reports, units};

/// The share of a cell that is painted.
const FILL: f64 = 0.9;
/// The hours with a label.
const LABELLED: [u8; 4] = [0, 6, 12, 18];

/// Messages by weekday and hour, from Monday.
type Week = [[i64; 24]; 7];

/// The heat map of a week.
#[component]
pub(super) fn HoursChart(hours: Vec<HourCount>) -> impl IntoView {
    let week = week(hours);
    let max = week.iter().flatten().copied().max().unwrap_or_default();
    let rtl = is_rtl();
    let days = (1..=7_u8).map(|day| view! { <span>{units::weekday(day, false)}</span> }).collect_view();
    let cells = (0..7_u8).flat_map(|day| (0..24_u8).map(move |hour| (day, hour))).map(|(day, hour)| {
        let messages = week[usize::from(day)][usize::from(hour)];
        let name = when(day, hour);
        view! {
            <rect class=format!("shade shade-{}", shade(messages, max)) x=percent_of(left(hour, FILL, rtl))
                y=percent_of((f64::from(day) + (1.0 - FILL) / 2.0) / 7.0) width=percent_of(FILL / 24.0)
                height=percent_of(FILL / 7.0)>
                <title>{reports::HOUR_DETAIL.with(messages, &[("when", &name)])}</title>
            </rect>
        }
    });
    let cells = cells.collect_view();
    let labels = LABELLED.into_iter().map(|hour| {
        let x = if rtl { left(hour, FILL, rtl) + FILL / 24.0 } else { left(hour, FILL, rtl) };
        view! { <text x=percent_of(x) y="14" text-anchor="start">{units::hour(hour)}</text> }
    });
    let labels = labels.collect_view();
    let busiest = busiest(&week).map_or_else(
        || reports::HOURS_NONE.get().to_owned(),
        |(day, hour)| reports::HOURS_SUMMARY.with(&[("when", &when(day, hour))]),
    );
    let mut heads = vec![reports::HOUR.get().to_owned()];
    heads.extend((1..=7_u8).map(|day| units::weekday(day, false)));
    let rows = (0..24_u8).map(|hour| {
        let mut row = vec![units::hour(hour)];
        row.extend(week.iter().map(|day| number(day[usize::from(hour)])));
        row
    });
    let rows = rows.collect();
    view! {
        <figure class="panel chart">
            <figcaption>
                <h2>{reports::HOURS_TITLE.get()}</h2>
                <p>{busiest.clone()}</p>
            </figcaption>
            <div class="plot heat">
                <div class="plot-ticks" aria-hidden="true">{days}</div>
                <svg class="plot-area" role="img" aria-label=busiest>{cells}</svg>
                <svg class="plot-labels" aria-hidden="true">{labels}</svg>
            </div>
            <Numbers title=reports::HOURS_TITLE heads rows/>
        </figure>
    }
}

fn left(hour: u8, fill: f64, rtl: bool) -> f64 {
    let x = (f64::from(hour) + (1.0 - fill) / 2.0) / 24.0;
    if rtl { 1.0 - x - fill / 24.0 } else { x }
}

fn when(day: u8, hour: u8) -> String {
    reports::WHEN.with(&[("day", &units::weekday(day + 1, true)), ("hour", &units::hour(hour))])
}

fn week(hours: impl IntoIterator<Item = HourCount>) -> Week {
    let mut week = Week::default();
    for count in hours {
        let day = week.get_mut(usize::from(count.weekday).wrapping_sub(1));
        if let Some(cell) = day.and_then(|day| day.get_mut(usize::from(count.hour))) {
            *cell = cell.saturating_add(count.messages);
        }
    }
    week
}

/// Returns the weekday, from 0, and the hour with the most messages; the earliest of several.
fn busiest(week: &Week) -> Option<(u8, u8)> {
    let cells = (0..7_u8).flat_map(|day| (0..24_u8).map(move |hour| (day, hour)));
    let messages = |(day, hour): (u8, u8)| week[usize::from(day)][usize::from(hour)];
    let best = cells.rev().max_by_key(|cell| messages(*cell))?;
    (messages(best) > 0).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(weekday: u8, hour: u8, messages: i64) -> HourCount {
        HourCount { weekday, hour, messages }
    }

    #[test]
    fn the_earliest_of_the_busiest_hours_is_named() {
        assert_eq!(busiest(&week([])), None);
        let hours = [count(1, 9, 3), count(3, 14, 7), count(5, 14, 7)];
        assert_eq!(busiest(&week(hours)), Some((2, 14)));
    }

    #[test]
    fn hours_that_no_week_has_are_left_out() {
        let hours = [count(0, 1, 9), count(8, 1, 9), count(1, 24, 9), count(7, 23, 1)];
        assert_eq!(busiest(&week(hours)), Some((6, 23)));
    }
}
