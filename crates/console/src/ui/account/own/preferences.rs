//! How the console looks in this browser.

use leptos::prelude::*;

use crate::text::account;

/// The choice of the colours.
#[component]
pub fn Preferences() -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="preferences-title">
            <h2 id="preferences-title">{account::PREFERENCES.get()}</h2>
            <fieldset class="schemes">
                <legend>{account::SCHEME.get()}</legend>
                {["system", "light", "dark"].map(scheme_choice).collect_view()}
            </fieldset>
        </section>
    }
}

/// Light, dark, or as the system has it. It is a choice of the browser, not of the account.
fn scheme_choice(scheme: &'static str) -> impl IntoView {
    let name = match scheme {
        "light" => account::LIGHT,
        "dark" => account::DARK,
        _ => account::SYSTEM,
    };
    view! {
        <label class="check">
            <input
                type="radio"
                name="scheme"
                prop:checked=crate::browser::scheme::chosen() == scheme
                on:change=move |_| crate::browser::scheme::choose(scheme)
            />
            {name.get()}
        </label>
    }
}
