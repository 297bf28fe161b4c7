//! Asks the assistant as a visitor would, and shows what the answer is based on.

use chat_protocol::admin::settings::{AskedAnswer, KnowledgeQuestion, Passage, Site};
use leptos::prelude::*;

use crate::api::settings as requests;
use crate::markdown::{Kind, RichText};
use crate::text::settings as t;
use crate::ui::forms::{Form, FormProblem, FormState, SelectField, TextArea, filled};
use crate::ui::settings::page::Card;

/// The question, and the last answer.
#[component]
pub fn Ask(site: Site) -> impl IntoView {
    let (question, locale) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let answer = RwSignal::new(None::<AskedAnswer>);
    let form = FormState::new(&["question", "locale"], false);
    let id = site.id;
    let ask = move || {
        let id = id.clone();
        let asked = KnowledgeQuestion {
            question: question.get_untracked().trim().to_owned(),
            locale: filled(&locale.get_untracked()),
        };
        form.send(async move { requests::ask(&id, &asked).await }, move |found| answer.set(Some(found)));
    };
    let mut locales = vec![(String::new(), t::ASK_ANY_LOCALE.get().to_owned())];
    locales.extend(site.supported_locales.into_iter().map(|tag| (tag.clone(), tag)));
    view! {
        <Card title=t::KNOWLEDGE_ASK.get() lead=t::ASK_LEAD.get()>
            <Form state=form on_submit=ask>
                <TextArea
                    name="question"
                    label=t::ASK_QUESTION.get()
                    placeholder=t::ASK_PLACEHOLDER.get()
                    value=question
                    rows=2
                />
                <SelectField name="locale" label=t::ASK_LOCALE.get() value=locale options=locales/>
                <FormProblem/>
                <div class="form-foot">
                    <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                        {move || if form.is_busy() { t::ASKING.get() } else { t::ASK.get() }}
                    </button>
                </div>
            </Form>
            <div role="status">{move || answer.get().map(shown)}</div>
        </Card>
    }
}

fn shown(answer: AskedAnswer) -> impl IntoView {
    let note = match answer.status.as_str() {
        "ok" if answer.wants_person => Some(t::ASK_WANTS_PERSON),
        "ok" => None,
        "quota_insufficient" => Some(t::ASK_NO_QUOTA),
        "blocked" => Some(t::ASK_BLOCKED),
        _ => Some(t::ASK_FAILED),
    };
    let took = t::ASK_TOOK.with(&[("ms", &crate::text::number(answer.duration_ms))]);
    let sources = answer.sources;
    view! {
        <div class="asked">
            {note.map(|note| view! { <p class="notice is-warning">{note.get()}</p> })}
            {answer.problem.map(|problem| {
                view! {
                    <p class="field-help">
                        {t::ASK_PROBLEM.get()} " " <code dir="auto">{problem}</code>
                    </p>
                }
            })}
            {answer.text.map(|text| view! { <div class="asked-text"><RichText text kind=Kind::Rich/></div> })}
            <p class="field-help">{took}</p>
            <h3>{t::ASK_SOURCES.get()}</h3>
            {if sources.is_empty() {
                view! { <p class="field-help">{t::ASK_NO_SOURCES.get()}</p> }.into_any()
            } else {
                view! { <ol class="asked-sources">{sources.into_iter().map(source).collect_view()}</ol> }.into_any()
            }}
        </div>
    }
}

fn source(passage: Passage) -> impl IntoView {
    view! {
        <li>
            <details>
                <summary dir="auto">
                    {passage.title}
                    {passage.location.map(|place| view! { <span class="row-facts" dir="ltr">{place}</span> })}
                </summary>
                <p class="excerpt" dir="auto">{passage.text}</p>
            </details>
        </li>
    }
}
