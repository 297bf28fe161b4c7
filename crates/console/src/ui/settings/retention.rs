//! How long the conversations of a site are kept.

use chat_protocol::admin::settings::{Patch, Site, SiteChange};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, Head, replace_site};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Editing, Form, FormState, SaveBar, TextField, draft};

const FIELDS: &[&str] = &["retentionDays"];

draft!(
    /// The value of the form.
    Days, DaysFields { days: String }
);

impl From<&Site> for Days {
    fn from(site: &Site) -> Self {
        Self { days: site.retention_days.map(|days| days.to_string()).unwrap_or_default() }
    }
}

/// The page about retention.
#[component]
pub fn Retention(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<DaysFields>::new(Days::from(&site));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let days = match now.days.trim() {
            "" => Patch::Remove,
            text => match text.parse() {
                Ok(days) => Patch::Set(days),
                Err(_) => return form.refuse("retentionDays", t::NEEDS_NUMBER.get()),
            },
        };
        let change = SiteChange { retention_days: days, ..SiteChange::default() };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Days::from(&site));
            replace_site(sites, &site);
        });
    };
    let days = editing.fields.days;
    view! {
        <Head title=t::SECTION_RETENTION.get() lead=t::RETENTION_LEAD.get()/>
        <Card title=t::RETENTION_TITLE.get()>
            <Form state=form on_submit=save>
                <TextField
                    name="retentionDays"
                    label=t::RETENTION_DAYS.get()
                    help=t::RETENTION_HELP.get()
                    inputmode="numeric"
                    value=days
                />
                <Show when=move || editing.is_dirty().get() && days.with(|days| !days.trim().is_empty())>
                    <p class="notice is-warning">{t::RETENTION_WARNING.get()}</p>
                </Show>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}
