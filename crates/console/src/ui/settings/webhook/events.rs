//! The events that a webhook receives.

use leptos::prelude::*;

use crate::text::settings as t;

/// The choice of events: all of them, or some.
#[component]
pub fn Events(
    /// The names of all events.
    all: Vec<String>,
    /// The chosen ones; none for all.
    chosen: RwSignal<Vec<String>>,
) -> impl IntoView {
    let boxes = all.into_iter().map(move |event| {
        let (name, shown) = (event.clone(), event.clone());
        view! {
            <label class="option-check">
                <input
                    type="checkbox"
                    prop:checked=move || chosen.with(|chosen| chosen.contains(&event))
                    on:change=move |change| {
                        let is_on = event_target_checked(&change);
                        chosen
                            .update(|chosen| {
                                chosen.retain(|other| *other != name);
                                if is_on {
                                    chosen.push(name.clone());
                                    chosen.sort();
                                }
                            });
                    }
                />
                <code>{shown}</code>
            </label>
        }
    });
    view! {
        <fieldset class="field-group">
            <legend>{t::EVENTS.get()}</legend>
            <p class="field-help">{t::EVENTS_HELP.get()}</p>
            <div class="option-checks">{boxes.collect_view()}</div>
        </fieldset>
    }
}
