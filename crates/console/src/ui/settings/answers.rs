//! The questions and answers of a site: list, search, add, edit and delete.

use std::time::Duration;

use chat_protocol::admin::settings::{Answer, AnswerText, Site};
use leptos::prelude::*;

use super::page::{Empty, ago, notices};
use super::paged::{Paged, PagedList};
use super::rows::{Chosen, edit_and_delete};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, DialogForm, Editing, FormState, SelectField, TextArea, draft, unique_id,
};

/// The time without typing after which is searched.
const SEARCH_DELAY: Duration = Duration::from_millis(300);

/// The list of answers.
#[component]
pub fn Answers(site: Site, may_change: bool) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let site_id = StoredValue::new(site.id.clone());
    let pages = Paged::new(move |before: Option<i64>| {
        let (site, text) = (site_id.get_value(), text.get_untracked());
        async move {
            let page = requests::answers(&site, &text, before).await?;
            Ok((page.answers, page.next))
        }
    });
    let search = leptos::leptos_dom::helpers::debounce(SEARCH_DELAY, move |()| pages.reload());
    let mut search = search;
    let (edited, deleted) = (Chosen::<Answer>::new(), Chosen::<Answer>::new());
    let notices = notices();
    let search_id = unique_id("search");
    let site = StoredValue::new(site);
    view! {
        <div class="toolbar">
            <label class="for-readers" for=search_id.clone()>{t::ANSWER_SEARCH.get()}</label>
            <input
                id=search_id
                type="search"
                class="input"
                placeholder=t::ANSWER_SEARCH.get()
                on:input=move |event| {
                    text.set(event_target_value(&event));
                    search(());
                }
            />
            {may_change
                .then(|| {
                    view! {
                        <button type="button" class="button is-primary" on:click=move |_| edited.choose(None)>
                            {t::ANSWER_ADD.get()}
                        </button>
                    }
                })}
        </div>
        <PagedList
            pages
            empty=move || {
                let text = if text.with(|text| text.trim().is_empty()) { t::ANSWERS_EMPTY } else { t::NOTHING_FOUND };
                view! { <Empty text=text.get()/> }
            }
            let:answers
        >
            {
                let rows = answers.into_iter().map(|answer| row(answer, may_change, edited, deleted));
                view! { <ul class="rows">{rows.collect_view()}</ul> }
            }
        </PagedList>
        <Dialog open=edited.open title=edited.title(t::ANSWER_EDIT, t::ANSWER_ADD) is_wide=true>
            <AnswerForm
                site=site.get_value()
                answer=edited.get().unwrap_or_default()
                open=edited.open
                on_saved=move |saved: Answer| {
                    pages.update(|answers| match answers.iter_mut().find(|answer| answer.id == saved.id) {
                        Some(answer) => *answer = saved,
                        None => answers.insert(0, saved),
                    });
                }
            />
        </Dialog>
        <Confirm
            open=deleted.open
            title=t::ANSWER_DELETE.get()
            text=t::ANSWER_DELETE_HELP.get()
            action=t::DELETE.get()
            request=move || {
                let (site, id) = (site_id.get_value(), deleted.get().unwrap_or_default().id);
                async move { requests::delete_answer(&site, &id).await.map(|_| id) }
            }
            on_done=move |id: String| {
                pages.update(|answers| answers.retain(|answer| answer.id != id));
                notices.done(t::ANSWER_DELETED.get());
            }
        />
    }
}

fn row(answer: Answer, may_change: bool, edited: Chosen<Answer>, deleted: Chosen<Answer>) -> impl IntoView {
    let (for_edit, for_delete) = (answer.clone(), answer.clone());
    let Answer { question, answer, locale, updated_at, .. } = answer;
    let changed = t::CHANGED.with(&[("time", &ago(&updated_at))]);
    let buttons = may_change.then(|| {
        edit_and_delete(
            question.lines().next().unwrap_or_default(),
            move || edited.choose(Some(for_edit.clone())),
            move || deleted.choose(Some(for_delete.clone())),
        )
    });
    view! {
        <li>
            <div class="row-main">
                <p class="row-title" dir="auto">{question}</p>
                <p class="excerpt" dir="auto">{answer}</p>
                <p class="row-facts">
                    {(!locale.is_empty()).then(|| view! { <span class="state">{locale}</span> })}
                    <span>{changed}</span>
                </p>
            </div>
            {buttons}
        </li>
    }
}

draft!(
    /// The values of the form.
    Words, WordsFields {
        question: String,
        answer: String,
        locale: String,
    }
);

/// The form that changes an answer, or adds one.
#[component]
pub fn AnswerForm(
    site: Site,
    /// The answer. One without an id is new.
    answer: Answer,
    open: RwSignal<bool>,
    on_saved: impl Fn(Answer) + Copy + 'static,
) -> impl IntoView {
    let notices = notices();
    let Answer { id, question, answer, locale, .. } = answer;
    let id = Some(id).filter(|id| !id.is_empty());
    let mut locales = vec![(String::new(), t::ANSWER_ANY_LOCALE.get().to_owned())];
    for tag in site.supported_locales.iter().chain(Some(&locale)) {
        if !tag.is_empty() && locales.iter().all(|(known, _)| known != tag) {
            locales.push((tag.clone(), tag.clone()));
        }
    }
    let key = ["answer", &site.id, id.as_deref().unwrap_or("new")].join(".");
    let editing = Editing::<WordsFields>::new(Words { question, answer, locale }).kept(&key);
    let form = FormState::new(&["question", "answer", "locale"], editing.is_dirty());
    let site_id = site.id;
    let save = move || {
        let (site, id) = (site_id.clone(), id.clone());
        let Words { question, answer, locale } = editing.now();
        let text = AnswerText { question, answer, locale };
        form.send(
            async move { requests::save_answer(&site, id.as_deref(), &text).await },
            move |saved: Answer| {
                on_saved(saved);
                notices.done(t::SAVED.get());
                open.set(false);
            },
        );
    };
    let fields = editing.fields;
    view! {
        <DialogForm state=form action=t::SAVE.get() on_submit=save>
            <TextArea
                name="question"
                label=t::ANSWER_QUESTION.get()
                help=t::ANSWER_QUESTION_HELP.get()
                value=fields.question
                rows=2
            />
            <TextArea
                name="answer"
                label=t::ANSWER_TEXT.get()
                help=t::ANSWER_TEXT_HELP.get()
                value=fields.answer
                rows=8
            />
            <SelectField name="locale" label=t::ANSWER_LOCALE.get() value=fields.locale options=locales/>
        </DialogForm>
    }
}
