//! The dates on which nobody answers.

use leptos::prelude::*;

use super::HOLIDAYS;
use crate::browser;
use crate::text::settings as t;
use crate::ui::controls::{Icon, icon};
use crate::ui::forms::{FormState, unique_id};

/// The fields of the dates.
#[component]
pub fn Holidays(holidays: RwSignal<Vec<String>>) -> impl IntoView {
    let form = expect_context::<FormState>();
    let count = Memo::new(move |_| holidays.with(Vec::len));
    let add_id = unique_id("holiday");
    let button = add_id.clone();
    view! {
        <fieldset class="field-group" id=form.id_of(HOLIDAYS) tabindex="-1">
            <legend>{t::HOURS_HOLIDAYS.get()}</legend>
            <p class="field-help">{t::HOURS_HOLIDAYS_HELP.get()}</p>
            <div class="hours-dates">
                <For each=move || 0..count.get() key=|index| *index let:index>
                    <Holiday holidays index add_id=add_id.clone()/>
                </For>
            </div>
            <p class="field-error" role="alert">{move || form.problem_of(HOLIDAYS)}</p>
            <div>
                <button
                    type="button"
                    class="button"
                    id=button
                    on:click=move |_| holidays.update(|dates| dates.push(String::new()))
                >
                    {t::HOURS_HOLIDAY_ADD.get()}
                </button>
            </div>
        </fieldset>
    }
}

/// A date, and the button that removes it.
#[component]
fn Holiday(
    holidays: RwSignal<Vec<String>>,
    index: usize,
    /// The id of the button that gets the focus when the date is removed.
    add_id: String,
) -> impl IntoView {
    let date = move || holidays.with(|dates| dates.get(index).cloned().unwrap_or_default());
    let set = move |text: String| {
        holidays.update(|dates| {
            if let Some(date) = dates.get_mut(index) {
                *date = text;
            }
        });
    };
    let remove = move |_| {
        holidays.update(|dates| {
            if index < dates.len() {
                dates.remove(index);
            }
        });
        browser::focus(&add_id);
    };
    view! {
        <div class="hours-row">
            <input
                type="date"
                class="input"
                aria-label=t::HOURS_HOLIDAY.get()
                prop:value=date
                on:input=move |event| set(event_target_value(&event))
            />
            <button
                type="button"
                class="button is-icon"
                aria-label=move || t::HOURS_HOLIDAY_REMOVE.with(&[("date", &date())])
                on:click=remove
            >
                {icon(Icon::Close)}
            </button>
        </div>
    }
}
