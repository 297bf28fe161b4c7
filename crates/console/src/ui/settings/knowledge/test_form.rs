//! The form of a test question.

use chat_protocol::admin::settings::{Expectation, Site, TestQuestion, TestQuestionText, TestQuestions};
use leptos::prelude::*;

use crate::api::settings as requests;
use crate::text::{Text, settings as t};
use crate::ui::forms::{DialogForm, Editing, FormState, SelectField, TextArea, TextField, draft};
use crate::ui::settings::page::notices;

draft!(
    /// The values of the form.
    Words, WordsFields {
        question: String,
        locale: String,
        expects: String,
        expected: String,
    }
);

/// Returns the name of an expectation.
pub fn expectation_text(expects: Expectation) -> Text {
    match expects {
        Expectation::Page => t::TEST_EXPECTS_PAGE,
        Expectation::Words => t::TEST_EXPECTS_WORDS,
        Expectation::NoAnswer => t::TEST_EXPECTS_NO_ANSWER,
    }
}

/// The form that changes a test question, or adds one.
#[component]
pub fn TestForm(
    site: Site,
    /// The question. One without an id is new.
    question: TestQuestion,
    open: RwSignal<bool>,
    on_saved: impl Fn(TestQuestions) + Copy + 'static,
) -> impl IntoView {
    let notices = notices();
    let TestQuestion { id, question, locale, expects, expected, .. } = question;
    let mut locales = vec![(String::new(), t::ASK_ANY_LOCALE.get().to_owned())];
    for tag in site.supported_locales.iter().chain(Some(&locale)) {
        if !tag.is_empty() && locales.iter().all(|(known, _)| known != tag) {
            locales.push((tag.clone(), tag.clone()));
        }
    }
    let expects = expects.as_str().to_owned();
    let key = ["test", &site.id, if id.is_empty() { "new" } else { &id }].join(".");
    let editing = Editing::<WordsFields>::new(Words { question, locale, expects, expected }).kept(&key);
    let form = FormState::new(&["question", "expects", "expected", "locale"], editing.is_dirty());
    let save = move || {
        let (site, id) = (site.id.clone(), id.clone());
        let Words { question, locale, expects, expected } = editing.now();
        let expects = Expectation::parse(&expects).unwrap_or_default();
        let expected = if expects == Expectation::NoAnswer { String::new() } else { expected };
        let text = TestQuestionText { question, locale, expects, expected };
        form.send(async move { requests::save_test_question(&site, &id, &text).await }, move |saved| {
            on_saved(saved);
            notices.done(t::SAVED.get());
            open.set(false);
        });
    };
    let fields = editing.fields;
    let expectations = Expectation::ALL
        .map(|expects| (expects.as_str().to_owned(), expectation_text(expects).get().to_owned()));
    let expects = Memo::new(move |_| Expectation::parse(&fields.expects.get()).unwrap_or_default());
    let expected = move || match expects.get() {
        Expectation::Page => view! {
            <TextField
                name="expected"
                label=t::TEST_PAGE.get()
                help=t::TEST_PAGE_HELP.get()
                is_code=true
                value=fields.expected
            />
        }
        .into_any(),
        Expectation::Words => view! {
            <TextArea
                name="expected"
                label=t::TEST_WORDS.get()
                help=t::TEST_WORDS_HELP.get()
                value=fields.expected
                rows=2
            />
        }
        .into_any(),
        Expectation::NoAnswer => ().into_any(),
    };
    view! {
        <DialogForm state=form action=t::SAVE.get() on_submit=save>
            <TextArea name="question" label=t::ASK_QUESTION.get() value=fields.question rows=2/>
            <SelectField
                name="expects"
                label=t::TEST_EXPECTS.get()
                value=fields.expects
                options=expectations.to_vec()
            />
            {expected}
            <SelectField name="locale" label=t::ASK_LOCALE.get() value=fields.locale options=locales/>
        </DialogForm>
    }
}
