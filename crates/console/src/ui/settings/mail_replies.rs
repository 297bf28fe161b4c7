//! The choice whether visitors get replies that they have not seen by e-mail.

use chat_protocol::admin::settings::{Site, SiteChange};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, replace_site};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Editing, Form, FormState, Loaded, Remote, SaveBar, Switch, TextField, changed, draft,
};

const AFTER: &str = "mailRepliesAfterMs";
const MINUTE_MS: i64 = 60_000;

draft!(
    /// The values of the form.
    Mails, MailsFields {
        is_on: bool,
        minutes: String,
    }
);

impl From<&Site> for Mails {
    fn from(site: &Site) -> Self {
        let minutes = (site.mail_replies_after_ms / MINUTE_MS).max(1);
        Self { is_on: site.mail_replies, minutes: minutes.to_string() }
    }
}

impl Mails {
    /// Returns what differs from the saved values; `None` if the minutes are no number.
    fn change(&self, saved: &Self) -> Option<SiteChange> {
        let after_ms = match changed(&self.minutes, &saved.minutes) {
            Some(minutes) => Some(minutes.trim().parse::<i64>().ok()?.checked_mul(MINUTE_MS)?),
            None => None,
        };
        let mail_replies = changed(&self.is_on, &saved.is_on);
        Some(SiteChange { mail_replies, mail_replies_after_ms: after_ms, ..SiteChange::default() })
    }
}

/// Chooses whether and when replies are mailed.
#[component]
pub fn MailRepliesCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<MailsFields>::new(Mails::from(&site));
    let form = FormState::new(&[AFTER], editing.is_dirty());
    let emails = Remote::new(requests::email_preferences);
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let Some(change) = now.change(&editing.saved()) else {
            return form.refuse(AFTER, t::NEEDS_NUMBER.get());
        };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Mails::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    view! {
        <Card title=t::MAIL_REPLIES_TITLE.get() lead=t::MAIL_REPLIES_LEAD.get()>
            <Loaded remote=emails let:emails>
                {(!emails.available).then(|| view! { <p class="notice is-warning">{t::EMAIL_NOT_AVAILABLE.get()}</p> })}
            </Loaded>
            <Form state=form on_submit=save>
                <Switch
                    label=t::MAIL_REPLIES.get()
                    help=t::MAIL_REPLIES_HELP.get()
                    value=fields.is_on
                />
                <Show when=move || fields.is_on.get()>
                    <TextField
                        name=AFTER
                        label=t::MAIL_REPLIES_AFTER.get()
                        help=t::MAIL_REPLIES_AFTER_HELP.get()
                        inputmode="numeric"
                        value=fields.minutes
                    />
                </Show>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_sent_as_milliseconds_and_only_if_they_changed() {
        let site = Site { mail_replies_after_ms: 120_000, ..Site::default() };
        let saved = Mails::from(&site);
        assert_eq!(saved.minutes, "2");
        assert_eq!(saved.change(&saved), Some(SiteChange::default()));
        let now = Mails { is_on: true, minutes: " 15 ".to_owned() };
        let change = now.change(&saved).expect("a number");
        assert_eq!((change.mail_replies, change.mail_replies_after_ms), (Some(true), Some(900_000)));
        assert_eq!(Mails { is_on: true, minutes: "soon".to_owned() }.change(&saved), None);
    }
}
