//! Canned replies: texts that operators insert with `/`.

use chat_protocol::admin::{CannedReply, CannedReplyText};
use leptos::prelude::*;

use super::page::{Empty, Head, notices};
use crate::api::{requests as shared, settings as requests};
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, Editing, Form, FormProblem, FormState, Loaded, Remote, TextArea, TextField, draft,
    filled,
};

/// The variables of a reply.
const VARIABLES: [&str; 5] =
    ["{{visitor.name}}", "{{visitor.email}}", "{{operator.name}}", "{{site.name}}", "{{page}}"];

/// The page about canned replies.
#[component]
pub fn Replies() -> impl IntoView {
    let notices = notices();
    let replies = Remote::new(shared::replies);
    let edited = RwSignal::new(None::<CannedReply>);
    let (edits, deletes) = (RwSignal::new(false), RwSignal::new(false));
    let edit = move |reply: Option<CannedReply>| {
        edited.set(reply);
        edits.set(true);
    };
    let title = Signal::derive(move || {
        if edited.with(Option::is_some) { t::REPLY_EDIT.get() } else { t::REPLY_ADD.get() }.to_owned()
    });
    view! {
        <Head title=t::SECTION_REPLIES.get() lead=t::REPLIES_LEAD.get()>
            <button type="button" class="button is-primary" on:click=move |_| edit(None)>
                {t::REPLY_ADD.get()}
            </button>
        </Head>
        <Loaded remote=replies let:all>
            {if all.is_empty() {
                view! { <Empty text=t::REPLIES_EMPTY.get()/> }.into_any()
            } else {
                let rows = all.into_iter().map(|reply| {
                    let (for_edit, for_delete) = (reply.clone(), reply.clone());
                    row(reply, move || edit(Some(for_edit.clone())), move || {
                        edited.set(Some(for_delete.clone()));
                        deletes.set(true);
                    })
                });
                view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
            }}
        </Loaded>
        <Dialog open=edits title is_wide=true>
            <ReplyForm reply=edited.get_untracked() replies open=edits/>
        </Dialog>
        <Confirm
            open=deletes
            title=t::REPLY_DELETE.get()
            text=t::REPLY_DELETE_HELP.get()
            action=t::DELETE.get()
            request=move || {
                let id = edited.get_untracked().unwrap_or_default().id;
                async move { requests::delete_reply(&id).await }
            }
            on_done=move |_| {
                notices.done(t::REPLY_DELETED.get());
                replies.reload();
            }
        />
    }
}

fn row(reply: CannedReply, on_edit: impl Fn() + 'static, on_delete: impl Fn() + 'static) -> impl IntoView {
    let edit_label = t::EDIT_NAMED.with(&[("name", &reply.shortcut)]);
    let delete_label = t::DELETE_NAMED.with(&[("name", &reply.shortcut)]);
    view! {
        <li>
            <div class="row-main">
                <p class="row-title is-code" dir="ltr">"/" {reply.shortcut}</p>
                <p class="excerpt" dir="auto">{reply.text}</p>
            </div>
            {reply.locale.map(|tag| view! { <span class="state">{tag}</span> })}
            <div class="row-actions">
                <button type="button" class="button" aria-label=edit_label on:click=move |_| on_edit()>
                    {t::EDIT.get()}
                </button>
                <button type="button" class="button is-quiet" aria-label=delete_label on:click=move |_| on_delete()>
                    {t::DELETE.get()}
                </button>
            </div>
        </li>
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
fn ReplyForm(
    reply: Option<CannedReply>,
    replies: Remote<Vec<CannedReply>>,
    open: RwSignal<bool>,
) -> impl IntoView {
    let notices = notices();
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
        form.send(async move { requests::save_reply(id.as_deref(), &reply).await }, move |_| {
            notices.done(t::SAVED.get());
            replies.reload();
            open.set(false);
        });
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
        <Form state=form on_submit=save>
            <div class="modal-body">
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
                <FormProblem/>
            </div>
            <footer class="modal-foot">
                <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                    {t::SAVE.get()}
                </button>
            </footer>
        </Form>
    }
}
