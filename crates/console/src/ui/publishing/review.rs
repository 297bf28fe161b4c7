//! An entry of the list: checks, before and after, publishing, and its history.

use chat_protocol::admin::publishing::{
    Because, Before, Fault, Level, Review, ReviewDetails, TextSource, check,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::checks::sentence;
use super::differences::{Differences, field_name};
use super::history::History;
use super::list::status_name;
use super::rules::waits_because;
use super::{Part, on_site_change, pending};
use crate::api::publishing as requests;
use crate::state::app;
use crate::text::{Text, publishing};
use crate::ui::controls::{Confirm, Icon, icon};

/// The page of an entry.
#[component]
pub(super) fn ReviewPage(site: String, id: String) -> impl IntoView {
    let details = RwSignal::new(None::<ReviewDetails>);
    let problem = RwSignal::new(None::<String>);
    let key = StoredValue::new((site.clone(), id));
    let load = move || {
        problem.set(None);
        spawn_local(async move {
            let (site, id) = key.get_value();
            match requests::review(&site, &id).await {
                Ok(loaded) => _ = details.try_set(Some(loaded)),
                Err(error) => _ = problem.try_set(Some(error.message)),
            }
        });
    };
    load();
    let back = Part::Reviews.page(&site).href();
    on_site_change(site, load);
    let actions = Actions::new(key, load);
    view! {
        <p class="back-line"><a href=back>{icon(Icon::Back)}{publishing::BACK.get()}</a></p>
        {move || match details.get() {
            None => pending(problem.read().as_deref(), load),
            Some(ReviewDetails { review, before, jobs, can_roll_back }) => view! {
                <article class="review">
                    <Head review=review.clone() />
                    <ActionBar review=review.clone() can_roll_back actions />
                    <Why review=review.clone() />
                    <Checks review=review.clone() before=before.clone() />
                    <Differences review before />
                    <History jobs />
                </article>
            }.into_any(),
        }}
        <Question actions />
    }
}

/// The running action and the open question. They belong to the page, so that a change of the entry, which
/// shows it anew, takes no dialog away.
#[derive(Clone, Copy)]
struct Actions {
    is_busy: RwSignal<bool>,
    asks: RwSignal<Option<&'static str>>,
    act: Callback<&'static str>,
}

impl Actions {
    fn new(key: StoredValue<(String, String)>, load: impl Fn() + Copy + Send + Sync + 'static) -> Self {
        let app = app();
        let is_busy = RwSignal::new(false);
        let act = Callback::new(move |action: &'static str| {
            is_busy.set(true);
            let (site, id) = key.get_value();
            spawn_local(async move {
                if let Err(error) = requests::act(&site, &id, action).await {
                    app.notices.problem(publishing::ACTION_FAILED.with(&[("reason", &error.message)]));
                }
                // Another page may be shown by now.
                if is_busy.try_set(false).is_none() {
                    load();
                }
            });
        });
        Self { is_busy, asks: RwSignal::new(None), act }
    }
}

#[component]
fn Head(review: Review) -> impl IntoView {
    let kind = if review.is_article() { publishing::KIND_ARTICLE } else { publishing::KIND_OVERLAY };
    let locale = Some(review.locale.clone()).filter(|locale| !locale.is_empty());
    let locale = locale.unwrap_or_else(|| publishing::ALL_LANGUAGES.get().to_owned());
    let waits = review.decision.as_ref().filter(|_| review.status == "draft").map(waits_because);
    view! {
        <header class="review-head">
            <h2 dir="auto">{review.title.clone()}</h2>
            <span class="entry-state" data-status=review.status.clone()>{status_name(&review.status)}</span>
            <p class="hint">{kind.get()}" · "<bdi dir="ltr">{review.path.clone()}</bdi>" · "{locale}</p>
            {waits.map(|waits| view! { <p class="hint" dir="auto">{waits}</p> })}
        </header>
    }
}

/// What can be done with an entry, by its state.
#[component]
fn ActionBar(review: Review, can_roll_back: bool, actions: Actions) -> impl IntoView {
    let Actions { is_busy, asks, act } = actions;
    let state = review.status.as_str();
    let is_queued = state == "queued";
    let was_published = matches!(state, "published" | "failed") || review.live;
    let is_article = review.is_article();
    let publish = if state == "draft" { publishing::PUBLISH } else { publishing::PUBLISH_AGAIN };
    let dismissed = state == "dismissed";
    let takes_back = was_published && !is_article && !is_queued;
    let undo = move |_| if dismissed { act.run("undo") } else { asks.set(Some("undo")) };
    view! {
        <div class="review-actions">
            <button
                type="button" class="loud"
                hidden=is_queued || dismissed disabled=is_busy on:click=move |_| act.run("approve")
            >
                {icon(Icon::Publish)}{publish.get()}
            </button>
            <button
                type="button" class="quiet outlined"
                hidden=state != "draft" disabled=is_busy on:click=move |_| act.run("dismiss")
            >
                {publishing::DISMISS.get()}
            </button>
            <button
                type="button" class="quiet outlined"
                hidden=!(dismissed || takes_back) disabled=is_busy on:click=undo
            >
                {icon(Icon::Undo)}{publishing::UNDO.get()}
            </button>
            <button
                type="button" class="quiet outlined"
                hidden=!(can_roll_back && matches!(state, "published" | "failed"))
                disabled=is_busy on:click=move |_| asks.set(Some("rollback"))
            >
                {icon(Icon::Undo)}{publishing::ROLL_BACK.get()}
            </button>
            <button
                type="button"
                class="quiet outlined danger"
                hidden=is_queued || !(is_article && was_published)
                disabled=is_busy
                on:click=move |_| asks.set(Some("withdraw"))
            >
                {publishing::WITHDRAW.get()}
            </button>
            <p class="hint" hidden=!is_queued role="status">{publishing::QUEUED.get()}</p>
        </div>
    }
}

/// Asks before a published entry is changed back or withdrawn.
#[component]
fn Question(actions: Actions) -> impl IntoView {
    let Actions { asks, act, .. } = actions;
    move || {
        let action = asks.get()?;
        let (title, text, name) = match action {
            "withdraw" => (publishing::WITHDRAW_TITLE, publishing::WITHDRAW_TEXT, publishing::WITHDRAW),
            "undo" => (publishing::UNDO_TITLE, publishing::UNDO_TEXT, publishing::UNDO),
            _ => (publishing::ROLL_BACK_TITLE, publishing::ROLL_BACK_TEXT, publishing::ROLL_BACK),
        };
        Some(view! {
            <Confirm
                title=title.get()
                text=text.get()
                action=name.get()
                on_confirm=move |()| act.run(action)
                on_close=move |()| asks.set(None)
            />
        })
    }
}

/// What each part of a page head mends, and where its text is from.
#[component]
fn Why(review: Review) -> impl IntoView {
    let because = Because::of(&review.body);
    let is_empty = because.is_empty();
    let rows = because.into_iter().map(|because| view! { <li>{reason(because)}</li> });
    view! {
        <section class="card" aria-labelledby="review-why" hidden=is_empty>
            <h3 id="review-why">{publishing::WHY.get()}</h3>
            <ul class="review-findings">{rows.collect_view()}</ul>
        </section>
    }
}

fn reason(because: Because) -> String {
    let text = match because.fault {
        Fault::Missing => publishing::WHY_MISSING,
        Fault::RepeatsTitle => publishing::WHY_REPEATS_TITLE,
        Fault::Unreachable => publishing::WHY_UNREACHABLE,
    };
    let source = match because.source {
        TextSource::Page => publishing::SOURCE_PAGE,
        TextSource::Composed => publishing::SOURCE_COMPOSED,
    };
    text.with(&[("field", &field_name(because.field, "")), ("source", source.get())])
}

/// What could be better.
#[component]
fn Checks(review: Review, before: Before) -> impl IntoView {
    let findings = check(&review.entry(&before));
    let is_good = findings.is_empty();
    let rows = findings.into_iter().map(|finding| {
        let (level, name): (_, Text) = match finding.level() {
            Level::Problem => ("problem", publishing::LEVEL_PROBLEM),
            Level::Advice => ("advice", publishing::LEVEL_ADVICE),
        };
        view! {
            <li data-level=level>
                {icon(if finding.level() == Level::Problem { Icon::Alert } else { Icon::Sparkle })}
                <span><span class="for-readers">{name.get()}": "</span>{sentence(finding)}</span>
            </li>
        }
    });
    view! {
        <section class="card" aria-labelledby="review-checks">
            <h3 id="review-checks">{publishing::CHECKS.get()}</h3>
            <p class="passed" hidden=!is_good>{icon(Icon::Check)}{publishing::CHECK_PASSED.get()}</p>
            <ul class="review-findings" hidden=is_good>{rows.collect_view()}</ul>
        </section>
    }
}
