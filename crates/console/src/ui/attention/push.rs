//! Pushes to closed consoles: the switch of this device, and the list of all.

use chat_protocol::admin::PushDevice;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use crate::browser::clock;
use crate::state::{PushStatus, app};
use crate::text::{attention, relative};
use crate::ui::settings::user_agent;

/// The switch, which acts at once, and the operator's devices.
#[component]
pub fn PushSettings() -> impl IntoView {
    let app = app();
    app.push.load();
    let status = app.push.status();
    let is_on = move || *status.read() == PushStatus::On;
    let is_fixed = move || {
        let fixed = [PushStatus::Busy, PushStatus::Unsupported, PushStatus::Unavailable, PushStatus::Denied];
        fixed.contains(&status.read())
    };
    let note = move || match &*status.read() {
        PushStatus::Unsupported => attention::PUSH_UNSUPPORTED.get().to_owned(),
        PushStatus::Unavailable => attention::PUSH_UNAVAILABLE.get().to_owned(),
        PushStatus::Denied => attention::DENIED.get().to_owned(),
        PushStatus::Failed(reason) => attention::PUSH_FAILED.with(&[("reason", reason)]),
        PushStatus::Busy | PushStatus::Off | PushStatus::On => String::new(),
    };
    let switch = move |event: web_sys::Event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input {
            app.push.set(input.checked());
        }
    };
    view! {
        <div class="preference">
            <label class="choice">
                <input
                    type="checkbox" role="switch"
                    prop:checked=is_on
                    disabled=is_fixed
                    on:change=switch
                />
                <span>{attention::PUSH.get()}<small class="hint">{attention::PUSH_HINT.get()}</small></span>
            </label>
        </div>
        <p
            class="hint" role="status"
            class:problem=move || matches!(&*status.read(), PushStatus::Failed(_))
            hidden=move || note().is_empty()
        >
            {note}
        </p>
        <Show when=move || !app.push.devices().read().is_empty()>
            <section class="push-devices" aria-labelledby="push-devices-title">
                <h3 id="push-devices-title">{attention::PUSH_DEVICES.get()}</h3>
                <ul class="session-list">
                    <For each=move || app.push.devices().get() key=|device| (device.id.clone(), device.used_at.clone(), device.current) let:device>
                        <Device device/>
                    </For>
                </ul>
            </section>
        </Show>
    }
}

#[component]
fn Device(device: PushDevice) -> impl IntoView {
    let app = app();
    let name = user_agent::summary(&device.user_agent);
    let label = attention::PUSH_REMOVE_NAMED.with(&[("name", &name)]);
    let used = last_used(&device, app.now_ms.get_untracked());
    let is_here = device.current;
    let remove = move |_| {
        let device = device.clone();
        spawn_local(async move {
            match app.push.remove(&device).await {
                Ok(()) => app.notices.done(attention::PUSH_REMOVED.get()),
                Err(error) => app.notices.problem(error.message),
            }
        });
    };
    view! {
        <li>
            <div>
                <bdi>{name}</bdi>
                {is_here.then(|| view! { " " <span class="tag">{attention::PUSH_HERE.get()}</span> })}
                <p class="hint">{used}</p>
            </div>
            <button type="button" class="quiet" aria-label=label on:click=remove>{attention::PUSH_REMOVE.get()}</button>
        </li>
    }
}

/// Tells when a device was last notified, or when it was added.
fn last_used(device: &PushDevice, now_ms: f64) -> String {
    let age = |time: &str| clock::parse_ms(time).map(|time| relative(time, now_ms)).unwrap_or_default();
    match &device.used_at {
        Some(time) => attention::PUSH_USED.with(&[("time", &age(time))]),
        None => attention::PUSH_ADDED.with(&[("time", &age(&device.created_at))]),
    }
}
