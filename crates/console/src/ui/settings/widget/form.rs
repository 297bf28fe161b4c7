//! The form of the widget's options. Nothing is saved: each change shows in the preview and in the code.

use leptos::prelude::*;

use super::options::{CUSTOM_THEME, THEMES, WidgetOptions};
use crate::text::{Text, settings as t};
use crate::ui::forms::{Form, FormState, SelectField, Switch, TextArea, TextField};

/// Returns the signal of one option.
fn option<T, R, W>(options: RwSignal<WidgetOptions>, read: R, write: W) -> RwSignal<T>
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
macro_rules! option {
    ($options:expr, $field:ident) => {
        option($options, |options| options.$field.clone(), |options, value| options.$field = value)
    };
}

fn choices<const N: usize>(values: [(&str, Text); N]) -> Vec<(String, String)> {
    values.map(|(value, text)| (value.to_owned(), text.get().to_owned())).to_vec()
}

/// The form.
#[component]
pub fn OptionsForm(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let form = FormState::new(&[], false);
    let theme = option!(options, theme);
    let accent = option!(options, accent);
    let mut themes: Vec<(String, String)> =
        THEMES.map(|theme| (theme.to_owned(), theme.replace('_', " "))).to_vec();
    themes.push((CUSTOM_THEME.to_owned(), t::THEME_CUSTOM.get().to_owned()));
    let accent_id = form.id_of("accent");
    view! {
        <Form state=form on_submit=|| ()>
            <div class="field-row">
                <SelectField name="theme" label=t::OPTION_THEME.get() value=theme options=themes/>
                <SelectField
                    name="colorScheme"
                    label=t::OPTION_SCHEME.get()
                    value=option!(options, color_scheme)
                    options=choices([
                        ("theme", t::SCHEME_THEME),
                        ("auto", t::SCHEME_AUTO),
                        ("light", t::SCHEME_LIGHT),
                        ("dark", t::SCHEME_DARK),
                    ])
                />
            </div>
            <Show when=move || theme.with(|theme| theme == CUSTOM_THEME)>
                <div class="field">
                    <label for=accent_id.clone()>{t::OPTION_ACCENT.get()}</label>
                    <input
                        id=accent_id.clone()
                        class="input is-color"
                        type="color"
                        prop:value=move || accent.get()
                        on:input=move |event| accent.set(event_target_value(&event))
                    />
                </div>
            </Show>
            <div class="field-row">
                <SelectField
                    name="position"
                    label=t::OPTION_POSITION.get()
                    value=option!(options, position)
                    options=choices([("end", t::POSITION_END), ("start", t::POSITION_START)])
                />
                <SelectField
                    name="launcher"
                    label=t::OPTION_LAUNCHER.get()
                    value=option!(options, launcher)
                    options=choices([
                        ("default", t::LAUNCHER_DEFAULT),
                        ("none", t::LAUNCHER_NONE),
                        ("#ask", t::LAUNCHER_OWN),
                    ])
                />
            </div>
            <TextField
                name="greeting"
                label=t::OPTION_GREETING.get()
                help=t::OPTION_GREETING_HELP.get()
                value=option!(options, greeting)
            />
            <TextArea
                name="suggestedQuestions"
                label=t::OPTION_QUESTIONS.get()
                help=t::OPTION_QUESTIONS_HELP.get()
                value=option!(options, suggested_questions)
            />
            <div class="field-row">
                <TextField
                    name="operatorName"
                    label=t::OPTION_OPERATOR.get()
                    value=option!(options, operator_name)
                />
                <TextField
                    name="replyTime"
                    label=t::OPTION_REPLY_TIME.get()
                    placeholder=t::OPTION_REPLY_TIME_SAMPLE.get()
                    value=option!(options, reply_time)
                />
            </div>
            <MoreOptions options/>
            <div class="form-foot">
                <Changed options/>
            </div>
        </Form>
    }
}

/// The options that few sites change.
#[component]
fn MoreOptions(options: RwSignal<WidgetOptions>) -> impl IntoView {
    let uses_service = option!(options, uses_service);
    let proxy = option!(options, proxy);
    view! {
            <details class="more-options">
                <summary>{t::OPTIONS_MORE.get()}</summary>
                <div class="form">
                    <div class="field-row">
                        <TextField
                            name="locale"
                            label=t::OPTION_LOCALE.get()
                            help=t::OPTION_LOCALE_HELP.get()
                            placeholder="de-AT"
                            value=option!(options, locale)
                            is_code=true
                        />
                        <SelectField
                            name="load"
                            label=t::OPTION_LOAD.get()
                            value=option!(options, load)
                            options=choices([
                                ("idle", t::LOAD_IDLE),
                                ("intent", t::LOAD_INTENT),
                                ("eager", t::LOAD_EAGER),
                            ])
                        />
                    </div>
                    <SelectField
                        name="events"
                        label=t::OPTION_EVENTS.get()
                        value=option!(options, events)
                        options=choices([
                            ("auto", t::EVENTS_AUTO),
                            ("manual", t::EVENTS_MANUAL),
                            ("off", t::EVENTS_OFF),
                        ])
                    />
                    <Switch
                        label=t::OPTION_CONSENT.get()
                        help=t::OPTION_CONSENT_HELP.get()
                        value=option!(options, needs_consent)
                    />
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
                let count = options.with(|options| options.chosen(&options.proxy).len() - 1);
                (count > 0).then(|| t::OPTIONS_CHANGED.count(i64::try_from(count).unwrap_or_default()))
            }}
        </p>
    }
}
