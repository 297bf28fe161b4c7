//! Canned replies: texts that operators insert with `/`.

use std::future::Future;

use chat_protocol::admin::{CannedReply, CannedReplyText, Empty};
use leptos::prelude::*;

use super::entries::{Entry, Saved, Texts};
use crate::api::{ApiError, requests as shared, settings as requests};
use crate::text::settings as t;
use crate::ui::forms::{DialogForm, Editing, FormState, TextArea, TextField, draft, filled};

/// The variables of a reply.
const VARIABLES: [&str; 5] =
    ["{{visitor.name}}", "{{visitor.email}}", "{{operator.name}}", "{{site.name}}", "{{page}}"];

impl Entry for CannedReply {
    const TEXTS: Texts = Texts {
        title: t::SECTION_REPLIES,
        lead: t::REPLIES_LEAD,
        empty: t::REPLIES_EMPTY,
        add: t::REPLY_ADD,
        edit: t::REPLY_EDIT,
        delete: t::REPLY_DELETE,
        delete_help: t::REPLY_DELETE_HELP,
        deleted: t::REPLY_DELETED,
    };
    const IS_WIDE: bool = true;

    fn id(&self) -> String {
        self.id.clone()
    }

    fn name(&self) -> String {
        self.shortcut.clone()
    }

    fn row(self) -> AnyView {
        view! {
            <div class="row-main">
                <p class="row-title is-code" dir="ltr">"/" {self.shortcut}</p>
                <p class="excerpt" dir="auto">{self.text}</p>
            </div>
            {self.locale.map(|tag| view! { <span class="state">{tag}</span> })}
        }
        .into_any()
    }

    fn form(reply: Option<Self>, saved: Saved<Self>) -> AnyView {
        view! { <ReplyForm reply saved/> }.into_any()
    }

    fn load() -> impl Future<Output = Result<Vec<Self>, ApiError>> + 'static {
        shared::replies()
    }

    async fn delete(id: String) -> Result<Empty, ApiError> {
        requests::delete_reply(&id).await
    }
}

draft!(
    /// The values of the form.
    Words, WordsFields {
        shortcut: String,
        text: String,
        locale: String,
    }
);

#[component]
fn ReplyForm(reply: Option<CannedReply>, saved: Saved<CannedReply>) -> impl IntoView {
    let id = reply.as_ref().map(|reply| reply.id.clone());
    let CannedReply { shortcut, text, locale, .. } = reply.unwrap_or_default();
    let key = ["reply", id.as_deref().unwrap_or("new")].join(".");
    let words = Words { shortcut, text, locale: locale.unwrap_or_default() };
    let editing = Editing::<WordsFields>::new(words).kept(&key);
    let form = FormState::new(&["shortcut", "text", "locale"], editing.is_dirty());
    let save = move || {
        let (id, Words { shortcut, text, locale }) = (id.clone(), editing.now());
        // The slash is typed by habit.
        let shortcut = shortcut.trim().trim_start_matches('/').to_owned();
        let reply = CannedReplyText { shortcut, text, locale: filled(&locale) };
        form.send(async move { requests::save_reply(id.as_deref(), &reply).await }, move |_| saved.done());
    };
    let fields = editing.fields;
    let variables = VARIABLES.map(|variable| {
        view! {
            <button
                type="button"
                class="chip is-code"
                on:click=move |_| fields.text.update(|text| text.push_str(variable))
            >
                {variable}
            </button>
        }
    });
    view! {
        <DialogForm state=form action=t::SAVE.get() on_submit=save>
            <div class="field-row">
                <TextField
                    name="shortcut"
                    label=t::REPLY_SHORTCUT.get()
                    help=t::REPLY_SHORTCUT_HELP.get()
                    placeholder="thanks"
                    value=fields.shortcut
                    is_code=true
                />
                <TextField
                    name="locale"
                    label=t::REPLY_LOCALE.get()
                    help=t::REPLY_LOCALE_HELP.get()
                    placeholder="de"
                    value=fields.locale
                    is_code=true
                />
            </div>
            <TextArea name="text" label=t::REPLY_TEXT.get() value=fields.text rows=7/>
            <div class="chips" role="group" aria-label=t::REPLY_VARIABLES.get()>
                <span class="field-help">{t::REPLY_VARIABLES.get()}</span>
                {variables}
            </div>
        </DialogForm>
    }
}
