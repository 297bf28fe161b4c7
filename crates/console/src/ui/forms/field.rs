//! Fields of a form: each with its label, its help and its error.

use leptos::prelude::*;

use super::form::FormState;

/// The frame of a field: label, help and error.
#[component]
fn Frame(name: &'static str, label: String, help: String, children: Children) -> impl IntoView {
    let form = expect_context::<FormState>();
    let id = form.id_of(name);
    let help_id = format!("{id}-help");
    let error_id = format!("{id}-error");
    let has_help = !help.is_empty();
    view! {
        <div class="field" class:is-invalid=move || !form.problem_of(name).is_empty()>
            <label for=id>{label}</label>
            {children()}
            <p class="field-error" id=error_id role="alert">{move || form.problem_of(name)}</p>
            {has_help.then(|| view! { <p class="field-help" id=help_id>{help}</p> })}
        </div>
    }
}

/// Returns the ids of what describes a field.
fn described_by(form: FormState, name: &str) -> String {
    let id = form.id_of(name);
    format!("{id}-error {id}-help")
}

/// A field of one line.
#[component]
pub fn TextField(
    /// The field's name in the API.
    name: &'static str,
    #[prop(into)] label: String,
    value: RwSignal<String>,
    #[prop(optional, into)] help: String,
    #[prop(optional, into)] placeholder: String,
    /// The type of the input; `text` by default.
    #[prop(default = "text")]
    kind: &'static str,
    /// The kind of keyboard of a phone.
    #[prop(default = "")]
    inputmode: &'static str,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Whether the text is an address or code, which has no spelling.
    #[prop(optional)]
    is_code: bool,
) -> impl IntoView {
    let form = expect_context::<FormState>();
    let (id, described) = (form.id_of(name), described_by(form, name));
    let inputmode = (!inputmode.is_empty()).then_some(inputmode);
    view! {
        <Frame name label help>
            <input
                id=id
                class="input"
                class:is-code=is_code
                type=kind
                inputmode=inputmode
                autocomplete=autocomplete
                spellcheck=if is_code { "false" } else { "true" }
                autocapitalize=is_code.then_some("none")
                dir=if is_code { "ltr" } else { "auto" }
                placeholder=placeholder
                aria-describedby=described
                aria-invalid=move || (!form.problem_of(name).is_empty()).then_some("true")
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
        </Frame>
    }
}

/// A field of several lines.
#[component]
pub fn TextArea(
    /// The field's name in the API.
    name: &'static str,
    #[prop(into)] label: String,
    value: RwSignal<String>,
    #[prop(optional, into)] help: String,
    #[prop(optional, into)] placeholder: String,
    #[prop(default = 3)] rows: u32,
    /// Whether the text is a list of addresses or code, which has no spelling.
    #[prop(optional)]
    is_code: bool,
) -> impl IntoView {
    let form = expect_context::<FormState>();
    let (id, described) = (form.id_of(name), described_by(form, name));
    view! {
        <Frame name label help>
            <textarea
                id=id
                class="input"
                class:is-code=is_code
                rows=rows
                spellcheck=if is_code { "false" } else { "true" }
                dir=if is_code { "ltr" } else { "auto" }
                placeholder=placeholder
                aria-describedby=described
                aria-invalid=move || (!form.problem_of(name).is_empty()).then_some("true")
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            ></textarea>
        </Frame>
    }
}

/// A choice of one of several values.
#[component]
pub fn SelectField(
    /// The field's name in the API.
    name: &'static str,
    #[prop(into)] label: String,
    value: RwSignal<String>,
    #[prop(optional, into)] help: String,
    /// The values, and their texts.
    options: Vec<(String, String)>,
) -> impl IntoView {
    let form = expect_context::<FormState>();
    let (id, described) = (form.id_of(name), described_by(form, name));
    let options = options.into_iter().map(move |(option, text)| {
        let this = option.clone();
        view! { <option value=option selected=move || value.with(|value| *value == this)>{text}</option> }
    });
    view! {
        <Frame name label help>
            <select
                id=id
                class="input"
                aria-describedby=described
                aria-invalid=move || (!form.problem_of(name).is_empty()).then_some("true")
                on:change=move |event| value.set(event_target_value(&event))
            >
                {options.collect_view()}
            </select>
        </Frame>
    }
}

/// A switch with its explanation.
#[component]
pub fn Switch(
    #[prop(into)] label: String,
    value: RwSignal<bool>,
    #[prop(optional, into)] help: String,
) -> impl IntoView {
    let help_id = super::form::unique_id("switch");
    let described = help_id.clone();
    view! {
        <div class="switch">
            <label>
                <input
                    type="checkbox"
                    role="switch"
                    aria-describedby=described
                    prop:checked=move || value.get()
                    on:change=move |event| value.set(event_target_checked(&event))
                />
                {leptos::html::span().class("switch-track").aria_hidden("true")}
                <span>{label}</span>
            </label>
            <p class="field-help" id=help_id>{help}</p>
        </div>
    }
}
