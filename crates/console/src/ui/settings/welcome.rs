//! How the assistant introduces itself: its name, its picture, and the welcome messages.

use std::collections::BTreeMap;

use chat_protocol::admin::settings::{Patch, Site, SiteChange};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, replace_site};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Editing, Form, FormState, SaveBar, TextField, changed, draft, filled, unique_id};

const FIELDS: &[&str] = &["assistantName", "avatarUrl", "welcome"];

draft!(
    /// The values of the form.
    Welcome, WelcomeFields {
        assistant_name: String,
        avatar_url: String,
        messages: BTreeMap<String, String>,
    }
);

impl From<&Site> for Welcome {
    fn from(site: &Site) -> Self {
        Self {
            assistant_name: site.assistant_name.clone().unwrap_or_default(),
            avatar_url: site.avatar_url.clone().unwrap_or_default(),
            messages: site.welcome.iter().filter(|(_, text)| !text.is_empty()).map(owned).collect(),
        }
    }
}

fn owned((locale, text): (&String, &String)) -> (String, String) {
    (locale.clone(), text.clone())
}

impl Welcome {
    fn change(&self, saved: &Self) -> SiteChange {
        let patch = |now: &String, saved: &String| {
            changed(now, saved).map_or(Patch::Keep, |text| filled(&text).into())
        };
        SiteChange {
            assistant_name: patch(&self.assistant_name, &saved.assistant_name),
            avatar_url: patch(&self.avatar_url, &saved.avatar_url),
            welcome: changed(&self.messages, &saved.messages),
            ..SiteChange::default()
        }
    }
}

/// Returns the locales that have a message or may have one; "" is for all others.
fn locales(site: &Site) -> Vec<String> {
    let mut locales = vec![String::new()];
    for locale in site.supported_locales.iter().chain(site.welcome.keys()) {
        if !locales.contains(locale) {
            locales.push(locale.clone());
        }
    }
    locales
}

/// The assistant's name, picture and welcome messages.
#[component]
pub fn WelcomeCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<WelcomeFields>::new(Welcome::from(&site)).kept(&["welcome", &site.id].join("."));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let languages = locales(&site);
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let change = now.change(&editing.saved());
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Welcome::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    let messages = languages.into_iter().map(move |locale| {
        view! { <Message locale messages=fields.messages/> }
    });
    view! {
        <Card title=t::WELCOME_TITLE.get() lead=t::WELCOME_LEAD.get()>
            <Form state=form on_submit=save>
                <div class="field-row">
                    <TextField name="assistantName" label=t::ASSISTANT_NAME.get() value=fields.assistant_name/>
                    <TextField
                        name="avatarUrl"
                        label=t::AVATAR.get()
                        help=t::AVATAR_HELP.get()
                        placeholder="https://shop.example/avatar.png"
                        kind="url"
                        value=fields.avatar_url
                        is_code=true
                    />
                </div>
                <fieldset class="field-group" id=form.id_of("welcome") tabindex="-1">
                    <legend>{t::WELCOME_MESSAGES.get()}</legend>
                    <p class="field-help">{t::WELCOME_HELP.get()}</p>
                    {messages.collect_view()}
                    <p class="field-error" role="alert">{move || form.problem_of("welcome")}</p>
                </fieldset>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

/// The welcome message of a locale.
#[component]
fn Message(locale: String, messages: RwSignal<BTreeMap<String, String>>) -> impl IntoView {
    let id = unique_id("welcome");
    let label = if locale.is_empty() { t::WELCOME_OTHERS.get().to_owned() } else { locale.clone() };
    let (lang, key) = ((!locale.is_empty()).then(|| locale.clone()), locale.clone());
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <textarea
                id=id
                class="input"
                rows="2"
                dir="auto"
                lang=lang
                prop:value=move || messages.with(|messages| messages.get(&key).cloned().unwrap_or_default())
                on:input=move |event| {
                    let text = event_target_value(&event);
                    messages
                        .update(|messages| {
                            if text.is_empty() {
                                messages.remove(&locale);
                            } else {
                                messages.insert(locale.clone(), text);
                            }
                        });
                }
            ></textarea>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_offered_locale_and_each_stored_message_has_a_field() {
        let site = Site {
            supported_locales: vec!["en".to_owned(), "de".to_owned()],
            welcome: [("de", "Hallo"), ("fr", "Salut"), ("", "Hi")]
                .map(|(locale, text)| (locale.to_owned(), text.to_owned()))
                .into(),
            ..Site::default()
        };
        assert_eq!(locales(&site), ["", "en", "de", "fr"]);
    }
}
