//! Asks the assistant as a visitor would, and shows what the answer is based on.

use chat_protocol::admin::AnswerOutcome;
use chat_protocol::admin::settings::{
    AskedAnswer, Expectation, KnowledgeQuestion, Passage, Site, SiteChange, TestQuestion,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::test_form::TestForm;
use crate::api::settings as requests;
use crate::markdown::{Kind, RichText};
use crate::state::note_asked_assistant;
use crate::text::{number, settings as t};
use crate::ui::forms::{Dialog, Form, FormProblem, FormState, SelectField, TextArea, filled};
use crate::ui::settings::Sites;
use crate::ui::settings::page::{Card, notices, replace_site};
use crate::ui::settings::rows::Chosen;

/// The thresholds that can be tried, in thousandths.
const THRESHOLDS: [i64; 9] = [100, 200, 300, 400, 500, 600, 700, 800, 900];

/// Returns a certainty in whole percent, never more than it is: a source at the threshold has all of it.
pub fn percent(thousandths: i64) -> String {
    number(thousandths / 10)
}

/// The question, and the last answer.
#[component]
pub fn Ask(site: Site) -> impl IntoView {
    let [question, locale, threshold] = [(); 3].map(|()| RwSignal::new(String::new()));
    let answer = RwSignal::new(None::<AskedAnswer>);
    // The question that was asked, with its language, until another one is.
    let asked_before = RwSignal::new((String::new(), String::new()));
    let added = Chosen::<TestQuestion>::new();
    let form = FormState::new(&["question", "locale", "threshold"], false);
    // An AI endpoint gets every source, and decides by itself.
    let has_threshold = site.ai.is_none();
    let id = site.id.clone();
    let ask = move || {
        let id = id.clone();
        let asked = KnowledgeQuestion {
            question: question.get_untracked().trim().to_owned(),
            locale: filled(&locale.get_untracked()),
            threshold: threshold.get_untracked().parse().ok(),
        };
        let of_answer = (asked.question.clone(), locale.get_untracked());
        form.send(async move { requests::ask(&id, &asked).await }, move |found| {
            note_asked_assistant();
            asked_before.set(of_answer);
            answer.set(Some(found));
        });
    };
    let add = Callback::new(move |found: AskedAnswer| {
        let (question, locale) = asked_before.get_untracked();
        added.choose(Some(expected_of(question, locale, &found)));
    });
    let (sites, notices) = (expect_context::<Sites>(), notices());
    let of_site = RwSignal::new(site.answer_threshold);
    let keep = Callback::new({
        let id = site.id.clone();
        move |threshold: i64| {
            let id = id.clone();
            spawn_local(async move {
                let change = SiteChange { answer_threshold: Some(threshold), ..SiteChange::default() };
                match requests::change_site(&id, &change).await {
                    Ok(changed) => {
                        replace_site(sites, &changed);
                        of_site.try_set(changed.answer_threshold);
                        notices.done(t::SAVED.get());
                    }
                    Err(error) => notices.problem(error.message),
                }
            });
        }
    });
    let site = StoredValue::new(site);
    let mut locales = vec![(String::new(), t::ASK_ANY_LOCALE.get().to_owned())];
    locales.extend(site.get_value().supported_locales.into_iter().map(|tag| (tag.clone(), tag)));
    let mut thresholds = vec![(String::new(), t::ASK_THRESHOLD_USUAL.get().to_owned())];
    thresholds.extend(THRESHOLDS.map(|thousandths| {
        (thousandths.to_string(), t::ASK_THRESHOLD_OTHER.with(&[("percent", &percent(thousandths))]))
    }));
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
                {has_threshold
                    .then(|| {
                        view! {
                            <SelectField
                                name="threshold"
                                label=t::ASK_THRESHOLD.get()
                                help=t::ASK_THRESHOLD_HELP.get()
                                value=threshold
                                options=thresholds
                            />
                        }
                    })}
                <FormProblem/>
                <div class="form-foot">
                    <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                        {move || if form.is_busy() { t::ASKING.get() } else { t::ASK.get() }}
                    </button>
                </div>
            </Form>
            <div role="status">
                {move || answer.get().map(|answer| shown(answer, has_threshold.then_some((of_site, keep)), add))}
            </div>
        </Card>
        <Dialog open=added.open title=Signal::stored(t::TEST_ADD.get().to_owned())>
            <TestForm
                site=site.get_value()
                question=added.get().unwrap_or_default()
                open=added.open
                on_saved=move |_| ()
            />
        </Dialog>
    }
}

/// Returns a test question that expects what was answered.
fn expected_of(question: String, locale: String, found: &AskedAnswer) -> TestQuestion {
    let best = found.sources.first().filter(|_| found.outcome == Some(AnswerOutcome::Answered));
    let expects = if best.is_some() { Expectation::Page } else { Expectation::NoAnswer };
    let expected = best.map(|best| best.location.clone().unwrap_or_else(|| best.id.clone()));
    TestQuestion {
        question,
        locale,
        expects,
        expected: expected.unwrap_or_default(),
        ..TestQuestion::default()
    }
}

/// The threshold of an answer; if it is not that of the site, with the button that makes it so.
fn threshold_of(tried: i64, of_site: RwSignal<i64>, keep: Callback<i64>) -> impl IntoView {
    let percent = percent(tried);
    let was = t::ASK_THRESHOLD_WAS.with(&[("percent", &percent)]);
    let use_it = t::ASK_THRESHOLD_KEEP.with(&[("percent", &percent)]);
    view! {
        <p class="field-help">{was}</p>
        <Show when=move || of_site.get() != tried>
            <div>
                <button type="button" class="button" on:click=move |_| keep.run(tried)>
                    {use_it.clone()}
                </button>
            </div>
        </Show>
    }
}

fn shown(
    answer: AskedAnswer,
    threshold: Option<(RwSignal<i64>, Callback<i64>)>,
    add: Callback<AskedAnswer>,
) -> impl IntoView {
    let for_test = answer.clone();
    let tried = answer.threshold;
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
            {threshold.map(|(of_site, keep)| threshold_of(tried, of_site, keep))}
            <div class="form-foot">
                <button type="button" class="button" on:click=move |_| add.run(for_test.clone())>
                    {t::TEST_ADD_ASKED.get()}
                </button>
            </div>
        </div>
    }
}

fn source(passage: Passage) -> impl IntoView {
    let certainty = t::ASK_CERTAINTY.with(&[("percent", &percent(passage.certainty))]);
    view! {
        <li>
            <details>
                <summary dir="auto">
                    {passage.title}
                    {passage.location.map(|place| view! { <span class="row-facts" dir="ltr">{place}</span> })}
                    <span class="row-facts" dir="auto">{certainty}</span>
                </summary>
                <p class="excerpt" dir="auto">{passage.text}</p>
            </details>
        </li>
    }
}
