//! The choice between the AI and people as the first to answer the visitors of a site.

use chat_protocol::admin::settings::{Patch, Site, SiteChange};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, replace_site};
use crate::api::settings as requests;
use crate::text::{Text, settings as t};
use crate::ui::forms::{Editing, Form, FormState, SaveBar, SelectField, TextField, draft};

const ANSWERING_FIELDS: &[&str] = &["answering", "aiAfterMinutes"];
const MODES: [(&str, Text); 4] = [
    ("ai_first", t::MODE_AI_FIRST),
    ("people_first", t::MODE_PEOPLE_FIRST),
    ("people_only", t::MODE_PEOPLE_ONLY),
    ("ai_only", t::MODE_AI_ONLY),
];

draft!(
    /// The first to answer visitors, and the minutes after which the AI answers in place of people.
    Answering, AnsweringFields { mode: String, ai_after: String }
);

impl From<&Site> for Answering {
    fn from(site: &Site) -> Self {
        let ai_after = site.ai_after_minutes.map(|minutes| minutes.to_string()).unwrap_or_default();
        Self { mode: site.answering.clone(), ai_after }
    }
}

/// Chooses who answers.
#[component]
pub fn AnsweringCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<AnsweringFields>::new(Answering::from(&site));
    let form = FormState::new(ANSWERING_FIELDS, editing.is_dirty());
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let ai_after_minutes = match now.ai_after.trim() {
            "" => Patch::Remove,
            text => match text.parse() {
                Ok(minutes) => Patch::Set(minutes),
                Err(_) => return form.refuse("aiAfterMinutes", t::NEEDS_NUMBER.get()),
            },
        };
        let answering = Some(now.mode.clone());
        let change = SiteChange { answering, ai_after_minutes, ..SiteChange::default() };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Answering::from(&site));
            replace_site(sites, &site);
        });
    };
    let modes = MODES.map(|(mode, text)| (mode.to_owned(), text.get().to_owned())).to_vec();
    view! {
        <Card title=t::WHO_ANSWERS.get() lead=t::WHO_ANSWERS_LEAD.get()>
            <Form state=form on_submit=save>
                <SelectField
                    name="answering"
                    label=t::WHO_ANSWERS.get()
                    help=t::MODE_HELP.get()
                    value=editing.fields.mode
                    options=modes
                />
                <Show when=move || editing.fields.mode.with(|mode| mode == "people_first")>
                    <TextField
                        name="aiAfterMinutes"
                        label=t::AI_AFTER.get()
                        help=t::AI_AFTER_HELP.get()
                        inputmode="numeric"
                        value=editing.fields.ai_after
                    />
                </Show>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}
