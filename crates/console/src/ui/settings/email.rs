//! The e-mails that the operator receives.

use chat_protocol::admin::settings::{EmailChoice, EmailPreferences};
use leptos::prelude::*;

use super::page::{Card, Head};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Editing, Form, FormState, Loaded, Remote, SaveBar, Switch, TextField, draft, filled};

draft!(
    /// The values of the form.
    Mail, MailFields {
        unanswered: bool,
        lead: bool,
        hand_off: bool,
        locale: String,
    }
);

impl From<&EmailPreferences> for Mail {
    fn from(preferences: &EmailPreferences) -> Self {
        Self {
            unanswered: preferences.unanswered,
            lead: preferences.lead,
            hand_off: preferences.hand_off,
            locale: preferences.locale.clone().unwrap_or_default(),
        }
    }
}

impl From<Mail> for EmailChoice {
    fn from(mail: Mail) -> Self {
        let Mail { unanswered, lead, hand_off, locale } = mail;
        Self { unanswered, lead, hand_off, locale: filled(&locale) }
    }
}

/// The page about e-mails.
#[component]
pub fn EmailSettings() -> impl IntoView {
    let preferences = Remote::new(requests::email_preferences);
    view! {
        <Head title=t::SECTION_EMAIL.get() lead=t::EMAIL_LEAD.get()/>
        <Loaded remote=preferences let:preferences>
            <MailCard preferences/>
        </Loaded>
    }
}

#[component]
fn MailCard(preferences: EmailPreferences) -> impl IntoView {
    let editing = Editing::<MailFields>::new(Mail::from(&preferences));
    let form = FormState::new(&["locale"], editing.is_dirty());
    let save = move || {
        let now = editing.now();
        let sent = EmailChoice::from(now.clone());
        form.send(async move { requests::choose_emails(&sent).await }, move |saved: EmailPreferences| {
            editing.accept(&now, Mail::from(&saved));
        });
    };
    let fields = editing.fields;
    view! {
        {(!preferences.available).then(|| view! { <p class="notice is-warning">{t::EMAIL_NOT_AVAILABLE.get()}</p> })}
        <Card title=t::EMAIL_TITLE.get()>
            <Form state=form on_submit=save>
                <Switch
                    label=t::EMAIL_HAND_OFF.get()
                    help=t::EMAIL_HAND_OFF_HELP.get()
                    value=fields.hand_off
                />
                <Switch
                    label=t::EMAIL_UNANSWERED.get()
                    help=t::EMAIL_UNANSWERED_HELP.get()
                    value=fields.unanswered
                />
                <Switch label=t::EMAIL_LEADS.get() help=t::EMAIL_LEADS_HELP.get() value=fields.lead/>
                <TextField
                    name="locale"
                    label=t::EMAIL_LOCALE.get()
                    help=t::EMAIL_LOCALE_HELP.get()
                    placeholder="de"
                    value=fields.locale
                    is_code=true
                />
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}
