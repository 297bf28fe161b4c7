//! How the console looks in this browser.

use leptos::prelude::*;

use crate::text::language::LANGUAGES;
use crate::text::{account, choose_language, chosen_language};

/// The choice of the language and of the colours.
#[component]
pub fn Preferences() -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="preferences-title">
            <h2 id="preferences-title">{account::PREFERENCES.get()}</h2>
            <LanguageChoice />
            <fieldset class="schemes">
                <legend>{account::SCHEME.get()}</legend>
                {["system", "light", "dark"].map(scheme_choice).collect_view()}
            </fieldset>
        </section>
    }
}

/// A language of the console, or the browser's. The page is loaded again; what was typed is a draft.
#[component]
fn LanguageChoice() -> impl IntoView {
    let chosen = chosen_language().unwrap_or_default();
    let option = move |(tag, name): (&'static str, &'static str)| {
        view! { <option value=tag lang=tag selected=tag == chosen>{name}</option> }
    };
    view! {
        <div class="field">
            <label for="language">{account::LANGUAGE.get()}</label>
            <select id="language" class="input" on:change:target=move |event| choose_language(&event.target().value())>
                <option value="" selected=chosen.is_empty()>{account::LANGUAGE_OF_BROWSER.get()}</option>
                {LANGUAGES.map(option).collect_view()}
            </select>
        </div>
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
