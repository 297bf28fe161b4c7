//! What the operator wants to be told of, and when: a part of the account's page.

use chat_protocol::admin::{Availability, Preferences, QuietHours};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::push::PushSettings;
use crate::api::requests;
use crate::browser::notification::Permission;
use crate::state::{Alerts, app};
use crate::text::{attention, time_zone, units};
use crate::times::{clock_text, minute_of};

/// The hours that are offered at first: the night, on all days.
const NIGHT: (u16, u16) = (20 * 60, 8 * 60);

/// The form of sounds, notifications and quiet hours.
#[component]
pub fn AttentionPreferences() -> impl IntoView {
    let app = app();
    let form = Form::follow();
    let is_saving = RwSignal::new(false);
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let wanted = form.preferences(app.preferences.with_untracked(|stored| stored.availability));
        is_saving.set(true);
        spawn_local(async move {
            match requests::save_preferences(&wanted).await {
                Ok(stored) => {
                    app.preferences.set(stored);
                    app.notices.done(attention::SAVED.get());
                }
                Err(error) => {
                    app.notices.problem(attention::SAVE_FAILED.with(&[("reason", &error.message)]));
                }
            }
            is_saving.set(false);
        });
    };
    let permission = app.alerts.permission();
    let permission_note = move || match permission.get() {
        Permission::Denied => attention::DENIED.get(),
        Permission::Unsupported => attention::UNSUPPORTED.get(),
        Permission::Undecided | Permission::Granted => "",
    };
    view! {
        <form class="card preferences" on:submit=save aria-labelledby="attention-title">
            <h2 id="attention-title">{attention::TITLE.get()}</h2>
            <div class="preference">
                <label class="choice">
                    <input type="checkbox" bind:checked=form.sound/>
                    <span>{attention::SOUND.get()}<small class="hint">{attention::SOUND_HINT.get()}</small></span>
                </label>
                <button type="button" class="quiet" on:click=move |_| Alerts::try_sound()>
                    {attention::TRY_SOUND.get()}
                </button>
            </div>
            <div class="preference">
                <label class="choice">
                    <input type="checkbox" bind:checked=form.notifications/>
                    <span>
                        {attention::NOTIFICATIONS.get()}
                        <small class="hint">{attention::NOTIFICATIONS_HINT.get()}</small>
                    </span>
                </label>
                <button
                    type="button" class="quiet outlined"
                    hidden=move || permission.get() != Permission::Undecided
                    on:click=move |_| spawn_local(async move {
                        if app.alerts.ask().await == Permission::Granted {
                            form.notifications.set(true);
                        }
                    })
                >
                    {attention::ALLOW.get()}
                </button>
            </div>
            <p class="hint" hidden=move || permission_note().is_empty()>{permission_note}</p>
            <PushSettings/>
            <QuietFields form/>
            <footer><button type="submit" class="loud" disabled=is_saving>{attention::SAVE.get()}</button></footer>
        </form>
    }
}

/// The fields of the form.
#[derive(Clone, Copy)]
struct Form {
    sound: RwSignal<bool>,
    notifications: RwSignal<bool>,
    is_quiet: RwSignal<bool>,
    from: RwSignal<String>,
    to: RwSignal<String>,
    days: RwSignal<Vec<u8>>,
    zone: RwSignal<String>,
}

impl Form {
    /// Creates the fields, which show what is stored whenever that changes.
    fn follow() -> Self {
        let app = app();
        let form = Self {
            sound: RwSignal::new(false),
            notifications: RwSignal::new(false),
            is_quiet: RwSignal::new(false),
            from: RwSignal::new(clock_text(NIGHT.0)),
            to: RwSignal::new(clock_text(NIGHT.1)),
            days: RwSignal::new((1..=7).collect()),
            zone: RwSignal::new(time_zone()),
        };
        Effect::new(move |_| {
            let stored = app.preferences.read();
            form.sound.set(stored.sound);
            form.notifications.set(stored.notifications);
            form.is_quiet.set(stored.quiet_hours.is_some());
            if let Some(hours) = &stored.quiet_hours {
                form.from.set(clock_text(hours.from_minute));
                form.to.set(clock_text(hours.to_minute));
                form.days.set(hours.days.clone());
                form.zone.set(hours.time_zone.clone());
            }
        });
        form
    }

    /// Returns what was chosen.
    fn preferences(self, availability: Availability) -> Preferences {
        let hours = quiet_hours(&self.from.get_untracked(), &self.to.get_untracked());
        let quiet_hours = hours.filter(|_| self.is_quiet.get_untracked()).map(|(from_minute, to_minute)| {
            let mut days = self.days.get_untracked();
            days.sort_unstable();
            QuietHours { from_minute, to_minute, days, time_zone: self.zone.get_untracked() }
        });
        Preferences {
            sound: self.sound.get_untracked(),
            notifications: self.notifications.get_untracked(),
            quiet_hours,
            availability,
        }
    }
}

#[component]
fn QuietFields(form: Form) -> impl IntoView {
    let days = (1..=7_u8).map(|day| {
        let toggle = move |_| {
            form.days.update(|days| {
                if days.contains(&day) {
                    days.retain(|known| *known != day);
                } else {
                    days.push(day);
                }
            });
        };
        view! {
            <label class="day-choice">
                <input type="checkbox" prop:checked=move || form.days.read().contains(&day) on:change=toggle/>
                <span>{units::weekday(day, false)}</span>
            </label>
        }
    });
    view! {
        <fieldset>
            <legend>{attention::QUIET.get()}</legend>
            <label class="choice">
                <input type="checkbox" bind:checked=form.is_quiet/>
                <span>{attention::QUIET_ON.get()}<small class="hint">{attention::QUIET_HINT.get()}</small></span>
            </label>
            <div class="quiet-hours" hidden=move || !form.is_quiet.get()>
                <label class="stacked-field"><span>{attention::QUIET_FROM.get()}</span><input type="time" bind:value=form.from/></label>
                <label class="stacked-field"><span>{attention::QUIET_TO.get()}</span><input type="time" bind:value=form.to/></label>
                <div class="quiet-days" role="group" aria-label=attention::QUIET_DAYS.get()>{days.collect_view()}</div>
                <p class="hint">
                    {move || attention::QUIET_ZONE.with(&[("zone", &form.zone.read().replace('_', " "))])}
                </p>
            </div>
        </fieldset>
    }
}

fn quiet_hours(from: &str, to: &str) -> Option<(u16, u16)> {
    Some((minute_of(from)?, minute_of(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_time_that_the_field_gives() {
        assert_eq!(quiet_hours("20:00", "08:30"), Some((1200, 510)));
        assert_eq!(quiet_hours("20:00:15", "00:00"), Some((1200, 0)));
        assert_eq!(quiet_hours("", "08:00"), None);
        assert_eq!(quiet_hours("24:00", "08:00"), None);
        assert_eq!(quiet_hours(&clock_text(1439), &clock_text(0)), Some((1439, 0)));
    }
}
