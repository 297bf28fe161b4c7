//! The form of the widget's options. Nothing is saved: each change shows in the preview and in the code.

use leptos::prelude::*;

use super::option::{Control, WidgetOption};
use super::options::WidgetOptions;
use super::table::OPTIONS;
use crate::text::settings as t;
use crate::ui::forms::{Form, FormState, SelectField, Switch, TextArea, TextField};

/// Returns the signal of one value.
fn value<T, R, W>(options: RwSignal<WidgetOptions>, read: R, write: W) -> RwSignal<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
    R: Fn(&WidgetOptions) -> T + Send + Sync + 'static,
    W: Fn(&mut WidgetOptions, T) + 'static,
{
    let signal = RwSignal::new(options.with_untracked(&read));
    Effect::new(move |_| {
        let value = signal.get();
        if options.with_untracked(&read) != value {
            options.update(|options| write(options, value));
        }
    });
    signal
}

/// Makes the signal of a field of [`WidgetOptions`].
macro_rules! field {
    ($options:expr, $field:ident) => {
        value($options, |options| options.$field.clone(), |options, value| options.$field = value)
    };
}

/// The form.
#[component]
pub fn OptionsForm(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let form = FormState::new(&[], false);
    view! {
        <Form state=form on_submit=|| ()>
            {rows(false).into_iter().map(|row| view! { <OptionRow row options/> }).collect_view()}
            <MoreOptions options/>
            <div class="form-foot">
                <Changed options/>
            </div>
        </Form>
    }
}

/// Returns the rows of the form, or those of the options that few sites change: one option, or two halves.
fn rows(is_more: bool) -> Vec<Vec<&'static WidgetOption>> {
    let options: Vec<_> = OPTIONS.iter().filter(|option| option.is_more == is_more).collect();
    let alike = options.chunk_by(|a, b| a.is_half && b.is_half);
    alike.flat_map(|halves| halves.chunks(2)).map(<[_]>::to_vec).collect()
}

/// A row of the form. The accent follows the theme.
#[component]
fn OptionRow(row: Vec<&'static WidgetOption>, options: RwSignal<WidgetOptions>) -> impl IntoView {
    let has_theme = row.iter().any(|option| option.name == "theme");
    let is_pair = row.len() == 2;
    let controls = row.into_iter().map(|option| view! { <OptionControl option options/> }).collect_view();
    view! {
        {if is_pair {
            view! { <div class="field-row">{controls}</div> }.into_any()
        } else {
            controls.into_any()
        }}
        {has_theme.then(|| view! { <Accent options/> })}
    }
}

/// The control of an option.
#[component]
fn OptionControl(option: &'static WidgetOption, options: RwSignal<WidgetOptions>) -> impl IntoView {
    let WidgetOption { name, control, is_code, .. } = option;
    let text = move || {
        value(
            options,
            |options| options.text(option).to_owned(),
            |options, text| options.set_text(option, text),
        )
    };
    let label = option.label.get();
    let [help, placeholder] = [option.help, option.sample].map(|text| text.map_or("", |text| text.get()));
    match *control {
        Control::Text => {
            view! { <TextField name label help placeholder is_code=*is_code value=text()/> }.into_any()
        }
        Control::Lines => view! { <TextArea name label help placeholder value=text()/> }.into_any(),
        Control::Choice(values) => {
            let choices = values.iter().map(|(value, text)| ((*value).to_owned(), text.get().to_owned()));
            view! { <SelectField name label help options=choices.collect() value=text()/> }.into_any()
        }
        Control::Switch { off, on } => {
            let is_on = value(
                options,
                move |options| options.text(option) == on,
                move |options, is_on| options.set_text(option, if is_on { on } else { off }.to_owned()),
            );
            view! { <Switch label help value=is_on/> }.into_any()
        }
    }
}

/// The accent of the custom theme.
#[component]
fn Accent(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let accent = field!(options, accent);
    let id = expect_context::<FormState>().id_of("accent");
    view! {
        <Show when=move || options.with(WidgetOptions::has_accent)>
            <div class="field">
                <label for=id.clone()>{t::OPTION_ACCENT.get()}</label>
                <input
                    id=id.clone()
                    class="input is-color"
                    type="color"
                    prop:value=move || accent.get()
                    on:input=move |event| accent.set(event_target_value(&event))
                />
            </div>
        </Show>
    }
}

/// The options that few sites change, and the way to the service.
#[component]
fn MoreOptions(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let uses_service = field!(options, uses_service);
    let proxy = field!(options, proxy);
    view! {
        <details class="more-options">
            <summary>{t::OPTIONS_MORE.get()}</summary>
            <div class="form">
                {rows(true).into_iter().map(|row| view! { <OptionRow row options/> }).collect_view()}
                <Switch
                    label=t::OPTION_SERVICE.get()
                    help=t::OPTION_SERVICE_HELP.get()
                    value=uses_service
                />
                <Show when=move || !uses_service.get()>
                    <TextField
                        name="proxy"
                        label=t::OPTION_PROXY.get()
                        help=t::OPTION_PROXY_HELP.get()
                        value=proxy
                        is_code=true
                    />
                </Show>
            </div>
        </details>
    }
}

/// Tells how many options differ from their defaults.
#[component]
fn Changed(options: RwSignal<WidgetOptions>) -> impl IntoView {
    view! {
        <p class="field-help">
            {move || {
                let count = options.with(|options| options.chosen("").len() - 1);
                (count > 0).then(|| t::OPTIONS_CHANGED.count(i64::try_from(count).unwrap_or_default()))
            }}
        </p>
    }
}
