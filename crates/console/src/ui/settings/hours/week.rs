//! The hours of each day of the week.

use leptos::prelude::*;

use super::INTERVALS;
use crate::browser;
use crate::text::{settings as t, units};
use crate::times::{clock_text, minute_of};
use crate::ui::controls::{Icon, icon};
use crate::ui::forms::{FormState, unique_id};

/// The hours that are offered first.
pub(super) const OFFICE: (u16, u16) = (9 * 60, 17 * 60);

/// The beginning and the end of hours, as a field of the type `time` has them.
pub(super) type Span = (String, String);

/// The hours of a week, by days from Monday on.
type Days = RwSignal<Vec<Vec<Span>>>;

pub(super) fn span(from: u16, to: u16) -> Span {
    (clock_text(from), clock_text(to))
}

/// Returns the hours that are offered beside those of the same day.
fn next_span(spans: &[Span]) -> Span {
    let last = spans.iter().filter_map(|(_, to)| minute_of(to)).max();
    match last {
        // An hour after the last ones, if that is on the same day.
        Some(end) if end < 21 * 60 => span(end + 60, end + 180),
        Some(end) => span(end, 0),
        None => span(OFFICE.0, OFFICE.1),
    }
}

/// The fields of a week.
#[component]
pub fn Week(week: Days) -> impl IntoView {
    let form = expect_context::<FormState>();
    let days = (1..=7_u8).map(|number| {
        view! { <Day week day=usize::from(number) - 1 name=units::weekday(number, true)/> }
    });
    view! {
        <fieldset class="field-group" id=form.id_of(INTERVALS) tabindex="-1">
            <legend>{t::HOURS_WEEK.get()}</legend>
            <p class="field-help">{t::HOURS_WEEK_HELP.get()}</p>
            <div class="hours-week">{days.collect_view()}</div>
            <p class="field-error" role="alert">{move || form.problem_of(INTERVALS)}</p>
        </fieldset>
    }
}

/// The fields of a day.
#[component]
fn Day(
    week: Days,
    /// The index of the day.
    day: usize,
    name: String,
) -> impl IntoView {
    let count = Memo::new(move |_| week.with(|week| week.get(day).map_or(0, Vec::len)));
    let add_id = unique_id("hours");
    let add = move |_| {
        week.update(|week| {
            if let Some(spans) = week.get_mut(day) {
                spans.push(next_span(spans));
            }
        });
    };
    let add_label = t::HOURS_ADD_NAMED.with(&[("day", &name)]);
    let (button, heading, label) = (add_id.clone(), name.clone(), name.clone());
    view! {
        <div class="hours-day" role="group" aria-label=label>
            <span class="hours-name" aria-hidden="true">{heading}</span>
            <div class="hours-rows">
                {move || {
                    (count.get() == 0).then(|| view! { <span class="hours-closed">{t::HOURS_CLOSED.get()}</span> })
                }}
                <For each=move || 0..count.get() key=|index| *index let:index>
                    <Interval week at=(day, index) name=name.clone() add_id=add_id.clone()/>
                </For>
            </div>
            <button type="button" class="button is-quiet" id=button aria-label=add_label on:click=add>
                {t::HOURS_ADD.get()}
            </button>
        </div>
    }
}

/// The beginning and the end of hours, and the button that removes them.
#[component]
fn Interval(
    week: Days,
    /// The index of the day, and of the hours in it.
    at: (usize, usize),
    /// The name of the day.
    name: String,
    /// The id of the button that gets the focus when the hours are removed.
    add_id: String,
) -> impl IntoView {
    let (day, index) = at;
    let time = move |is_end: bool| {
        let span = week.with(|week| week.get(day).and_then(|spans| spans.get(index)).cloned());
        let (from, to) = span.unwrap_or_default();
        if is_end { to } else { from }
    };
    let set = move |is_end: bool, text: String| {
        week.update(|week| {
            if let Some((from, to)) = week.get_mut(day).and_then(|spans| spans.get_mut(index)) {
                *(if is_end { to } else { from }) = text;
            }
        });
    };
    let remove = move |_| {
        week.update(|week| {
            if let Some(spans) = week.get_mut(day).filter(|spans| index < spans.len()) {
                spans.remove(index);
            }
        });
        browser::focus(&add_id);
    };
    let named = [("day", name.as_str())];
    let [from_label, to_label, remove_label] =
        [t::HOURS_FROM, t::HOURS_TO, t::HOURS_REMOVE].map(|text| text.with(&named));
    view! {
        <div class="hours-row">
            <input
                type="time"
                class="input"
                aria-label=from_label
                prop:value=move || time(false)
                on:input=move |event| set(false, event_target_value(&event))
            />
            {leptos::html::span().aria_hidden("true").child("–")}
            <input
                type="time"
                class="input"
                aria-label=to_label
                prop:value=move || time(true)
                on:input=move |event| set(true, event_target_value(&event))
            />
            <button type="button" class="button is-icon" aria-label=remove_label on:click=remove>
                {icon(Icon::Close)}
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_hours_after_those_of_the_day() {
        assert_eq!(next_span(&[]), span(540, 1020));
        assert_eq!(next_span(&[span(540, 720)]), span(780, 900));
        assert_eq!(next_span(&[span(540, 1260)]), span(1260, 0));
        assert_eq!(next_span(&[(String::new(), "x".to_owned())]), span(540, 1020));
    }
}
