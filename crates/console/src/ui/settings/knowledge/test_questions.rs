//! The questions by which the owner of a site tests the assistant.

use std::time::Duration;

use chat_protocol::admin::AnswerOutcome;
use chat_protocol::admin::settings::{
    Expectation, Site, TestChange, TestQuestion, TestQuestions, TestResult, TestRun, TestSource,
};
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::ask::percent;
use super::test_form::{TestForm, expectation_text};
use crate::api::settings as requests;
use crate::markdown::{Kind, RichText};
use crate::text::{Text, number, settings as t};
use crate::ui::forms::{Confirm, Dialog, Loaded, Remote};
use crate::ui::settings::page::{Card, ago, notices};
use crate::ui::settings::rows::{Chosen, edit_and_delete, rows};

/// The interval at which the results are looked for while the questions are asked.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The list of test questions, with what came of them.
#[component]
pub fn Tests(site: Site, may_change: bool) -> impl IntoView {
    let id = StoredValue::new(site.id.clone());
    let has_endpoint = site.ai.is_some();
    let site = StoredValue::new(site);
    let tests = Remote::new(move || async move { requests::test_questions(&id.get_value()).await });
    follow(id, tests);
    let (edited, deleted) = (Chosen::<TestQuestion>::new(), Chosen::<TestQuestion>::new());
    let notices = notices();
    let run = move |_| {
        spawn_local(async move {
            match requests::run_test_questions(&id.get_value()).await {
                Ok(running) => tests.update(|tests| *tests = running),
                Err(error) => notices.problem(error.message),
            }
        });
    };
    let is_running = move || tests.get().is_some_and(|tests| tests.is_running);
    let has_none = move || tests.get().is_none_or(|tests| tests.questions.is_empty());
    view! {
        <Card title=t::TESTS_TITLE.get() lead=t::TESTS_LEAD.get()>
            {has_endpoint.then(|| view! { <p class="notice">{t::TESTS_PASSAGES_ONLY.get()}</p> })}
            {may_change
                .then(|| {
                    view! {
                        <div class="toolbar">
                            <button type="button" class="button is-primary" on:click=move |_| edited.choose(None)>
                                {t::TEST_ADD.get()}
                            </button>
                            <button
                                type="button"
                                class="button"
                                disabled=move || is_running() || has_none()
                                on:click=run
                            >
                                {t::TESTS_RUN.get()}
                            </button>
                        </div>
                    }
                })}
            <p class="field-help" role="status">
                {move || is_running().then(|| t::TESTS_RUNNING.get())}
            </p>
            <Loaded remote=tests let:all>
                {
                    let TestQuestions { questions, run, .. } = all;
                    let shown = questions.into_iter().map(|question| row(question, may_change, edited, deleted));
                    view! {
                        {run.map(summary)}
                        {rows(shown.collect(), t::TESTS_EMPTY)}
                    }
                }
            </Loaded>
        </Card>
        <Dialog open=edited.open title=edited.title(t::TEST_EDIT, t::TEST_ADD)>
            <TestForm
                site=site.get_value()
                question=edited.get().unwrap_or_default()
                open=edited.open
                on_saved=move |saved: TestQuestions| tests.update(|tests| *tests = saved)
            />
        </Dialog>
        <Confirm
            open=deleted.open
            title=t::TEST_DELETE.get()
            text=t::TEST_DELETE_HELP.get()
            action=t::DELETE.get()
            request=move || {
                let question = deleted.get().unwrap_or_default().id;
                async move { requests::delete_test_question(&id.get_value(), &question).await }
            }
            on_done=move |left: TestQuestions| {
                tests.update(|tests| *tests = left);
                notices.done(t::TEST_DELETED.get());
            }
        />
    }
}

/// Looks for the results from time to time, while the questions are asked.
fn follow(site: StoredValue<String>, tests: Remote<TestQuestions>) {
    let check = move || {
        if !tests.get_untracked().is_some_and(|tests| tests.is_running) {
            return;
        }
        spawn_local(async move {
            let Some(site) = site.try_get_value() else { return };
            let Ok(found) = requests::test_questions(&site).await else { return };
            // A list that has not changed is not shown anew, so that what is open stays so.
            if tests.get_untracked().is_some_and(|known| known != found) {
                tests.update(|known| *known = found);
            }
        });
    };
    let interval = StoredValue::new_local(set_interval_with_handle(check, POLL_INTERVAL).ok());
    on_cleanup(move || {
        if let Some(Some(interval)) = interval.try_update_value(Option::take) {
            interval.clear();
        }
    });
}

/// The figures of the last run, and what has changed since the one before.
fn summary(run: TestRun) -> impl IntoView {
    let since = |text: Text, before: &str, count: i64| {
        (count > 0).then(|| text.with(&[("time", &ago(before)), ("count", &number(count))]))
    };
    let before = run.before.unwrap_or_default();
    let worse = since(t::TESTS_WORSE, &before, run.worse);
    let better = since(t::TESTS_BETTER, &before, run.better);
    view! {
        {worse.map(|worse| view! { <p class="notice is-warning">{worse}</p> })}
        {better.map(|better| view! { <p class="notice">{better}</p> })}
        <p class="row-facts tests-run">
            <span>{t::TESTS_PASSED.with(&[("count", &number(run.passed))])}</span>
            <span>{t::TESTS_FAILED.with(&[("count", &number(run.failed))])}</span>
            <span>{t::TESTS_RAN.with(&[("time", &ago(&run.ended_at))])}</span>
            <span>{t::ASK_THRESHOLD_WAS.with(&[("percent", &percent(run.threshold))])}</span>
        </p>
    }
}

fn row(
    question: TestQuestion,
    may_change: bool,
    edited: Chosen<TestQuestion>,
    deleted: Chosen<TestQuestion>,
) -> AnyView {
    let (for_edit, for_delete) = (question.clone(), question.clone());
    let TestQuestion { question, locale, expects, expected, result, change, .. } = question;
    let (look, state) = match result.as_ref().map(|result| result.passed) {
        None => ("state", t::TEST_NEW),
        Some(true) => ("state is-good", t::TEST_PASSED),
        Some(false) => ("state is-bad", t::TEST_FAILED),
    };
    let change = change.map(|change| match change {
        TestChange::Better => ("state is-good", t::TEST_BETTER),
        TestChange::Worse => ("state is-warning", t::TEST_WORSE),
    });
    let expected = match expects {
        Expectation::NoAnswer => {
            view! { <span>{t::TEST_EXPECTED.get()} " " {expectation_text(expects).get()}</span> }.into_any()
        }
        Expectation::Page | Expectation::Words => {
            let expected = expected.lines().collect::<Vec<_>>().join(" · ");
            view! { <span>{t::TEST_EXPECTED.get()} " " <bdi>{expected}</bdi></span> }.into_any()
        }
    };
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
                <p class="row-facts">
                    <span class=look>{state.get()}</span>
                    {change.map(|(look, text)| view! { <span class=look>{text.get()}</span> })}
                    {(!locale.is_empty()).then(|| view! { <span class="state">{locale}</span> })}
                    {expected}
                </p>
                {result.map(outcome)}
            </div>
            {buttons}
        </li>
    }
    .into_any()
}

/// The result of a question, and its sources.
fn outcome(result: TestResult) -> impl IntoView {
    let TestResult { outcome, answer, sources, .. } = result;
    let got = match (outcome, sources.is_empty()) {
        (None, _) => t::TEST_GOT_PASSAGES,
        (Some(AnswerOutcome::Answered), _) => t::TEST_GOT_ANSWER,
        (Some(AnswerOutcome::SmallTalk), _) => t::TEST_GOT_SMALL_TALK,
        (Some(_), true) => t::TEST_EXPECTS_NO_ANSWER,
        (Some(_), false) => t::TEST_GOT_MAYBE,
    };
    let best = sources.first().map(|best| t::ASK_CERTAINTY.with(&[("percent", &percent(best.certainty))]));
    let has_answer = !answer.is_empty();
    view! {
        <details>
            <summary>
                {got.get()}
                {best.map(|best| view! { <span class="row-facts">{best}</span> })}
            </summary>
            {has_answer
                .then(|| view! { <div class="asked-text"><RichText text=answer kind=Kind::Rich/></div> })}
            {if sources.is_empty() {
                view! { <p class="field-help">{t::ASK_NO_SOURCES.get()}</p> }.into_any()
            } else {
                view! { <ol class="asked-sources">{sources.into_iter().map(source).collect_view()}</ol> }.into_any()
            }}
        </details>
    }
}

fn source(source: TestSource) -> impl IntoView {
    let TestSource { title, location, certainty, .. } = source;
    view! {
        <li>
            <bdi>{title}</bdi>
            <span class="row-facts">
                {location.map(|place| view! { <span dir="ltr">{place}</span> })}
                <span>{t::ASK_CERTAINTY.with(&[("percent", &percent(certainty))])}</span>
            </span>
        </li>
    }
}
