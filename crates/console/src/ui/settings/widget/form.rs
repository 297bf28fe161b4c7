//! The options of the widget: those that the site saves, and those that are in the code of its pages. Each
//! change shows in the preview at once.

use chat_protocol::admin::settings::{Site, SiteChange};
use leptos::prelude::*;

use super::option::{Control, WidgetOption};
use super::options::WidgetOptions;
use super::table::{OPTIONS, PATHS};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Form, FormState, SaveBar, SelectField, Switch, TextArea, TextField};
use crate::ui::settings::Sites;
use crate::ui::settings::page::replace_site;

/// Returns the signal of one value.
fn value<T, R, W>(options: RwSignal<WidgetOptions>, read: R, write: W) -> RwSignal<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
    R: Fn(&WidgetOptions) -> T + Send + Sync + 'static,
    W: Fn(&mut WidgetOptions, T) + 'static,
{
    let signal = RwSignal::new(options.with_untracked(&read));
    let read = StoredValue::new(read);
    let present = move |options: &WidgetOptions| read.with_value(|read| read(options));
    Effect::new(move |_| {
        let value = signal.get();
        if options.with_untracked(present) != value {
            options.update(|options| write(options, value));
        }
    });
    // Changes that are taken back.
    Effect::new(move |_| {
        let value = options.with(present);
        if signal.with_untracked(|shown| *shown != value) {
            signal.set(value);
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

/// The form of the options that the site saves.
#[component]
pub fn OptionsForm(site: Site, options: RwSignal<WidgetOptions>) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let saved = RwSignal::new(site.widget_options);
    let is_dirty = Memo::new(move |_| saved.with(|saved| options.with(WidgetOptions::of_site) != *saved));
    let form = FormState::new(&PATHS, is_dirty);
    let id = site.id;
    let save = move || {
        let change = SiteChange {
            widget_options: Some(options.with_untracked(WidgetOptions::of_site)),
            ..SiteChange::default()
        };
        let id = id.clone();
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            saved.set(site.widget_options.clone());
            replace_site(sites, &site);
        });
    };
    let reset = move || saved.with_untracked(|saved| options.update(|options| options.restore(saved)));
    view! {
        <Form state=form on_submit=save>
            {rows(true).into_iter().map(|row| view! { <OptionRow row options/> }).collect_view()}
            <SaveBar on_reset=reset/>
        </Form>
    }
}

/// Returns the rows of a form: one option, or two halves. The options are those of the site, or of the code.
fn rows(is_of_site: bool) -> Vec<Vec<&'static WidgetOption>> {
    let options: Vec<_> = OPTIONS.iter().filter(|option| option.is_of_site == is_of_site).collect();
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
    let WidgetOption { path: name, control, is_code, .. } = option;
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

/// The options that are in the code of the pages, and the way to the service.
#[component]
pub fn CodeOptions(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let form = FormState::new(&[], false);
    let uses_service = field!(options, uses_service);
    let proxy = field!(options, proxy);
    view! {
        <details class="more-options">
            <summary>{t::OPTIONS_MORE.get()}</summary>
            <Form state=form on_submit=|| ()>
                {rows(false).into_iter().map(|row| view! { <OptionRow row options/> }).collect_view()}
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
            </Form>
        </details>
    }
}
