//! The log of a webhook's deliveries, with their attempts; a test event; sending one again.

use chat_protocol::admin::settings::{Delivery, DeliveryAttempt};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::page::{Card, Empty, ago, notices, time};
use super::paged::{Paged, PagedList};
use crate::api::settings as requests;
use crate::text::settings as t;

/// The log of deliveries.
#[component]
pub fn Deliveries(webhook: String, is_enabled: bool) -> impl IntoView {
    let notices = notices();
    let (status, busy) = (RwSignal::new(String::new()), RwSignal::new(false));
    let webhook = StoredValue::new(webhook);
    let pages = Paged::new(move |before: Option<String>| {
        let (webhook, status) = (webhook.get_value(), status.get_untracked());
        async move {
            let page = requests::deliveries(&webhook, &status, before.as_deref()).await?;
            Ok((page.deliveries, page.next_before))
        }
    });
    let test = move |_| {
        busy.set(true);
        spawn_local(async move {
            match requests::test_webhook(&webhook.get_value()).await {
                Ok(delivery) => {
                    notices.done(t::WEBHOOK_TESTED.get());
                    pages.update(|all| all.insert(0, delivery));
                }
                Err(error) => notices.problem(error.message),
            }
            busy.try_set(false);
        });
    };
    let replay = move |id: String| {
        spawn_local(async move {
            match requests::replay(&webhook.get_value(), &id).await {
                Ok(delivery) => {
                    notices.done(t::REPLAYED.get());
                    pages.update(|all| {
                        if let Some(old) = all.iter_mut().find(|old| old.id == delivery.id) {
                            *old = delivery;
                        }
                    });
                }
                Err(error) => notices.problem(error.message),
            }
        });
    };
    let choices = [
        ("", t::DELIVERIES_ALL),
        ("pending", t::DELIVERY_PENDING),
        ("delivered", t::DELIVERY_DELIVERED),
        ("failed", t::DELIVERY_FAILED),
    ];
    let choices = choices.map(|(name, text)| view! { <option value=name>{text.get()}</option> });
    view! {
        <Card title=t::DELIVERIES_TITLE.get() lead=t::DELIVERIES_LEAD.get()>
            <div class="toolbar">
                <label class="filter">
                    <span class="for-readers">{t::DELIVERY_STATE.get()}</span>
                    <select
                        class="input"
                        on:change=move |event| {
                            status.set(event_target_value(&event));
                            pages.reload();
                        }
                    >
                        {choices}
                    </select>
                </label>
                <button type="button" class="button" on:click=move |_| pages.reload()>
                    {t::REFRESH.get()}
                </button>
                <button
                    type="button"
                    class="button"
                    disabled=move || busy.get() || !is_enabled
                    on:click=test
                >
                    {t::WEBHOOK_TEST.get()}
                </button>
            </div>
            <PagedList pages empty=move || view! { <Empty text=t::DELIVERIES_EMPTY.get()/> } let:deliveries>
                <ul class="rows">
                    {deliveries.into_iter().map(|delivery| row(delivery, is_enabled, replay)).collect_view()}
                </ul>
            </PagedList>
        </Card>
    }
}

fn row(delivery: Delivery, is_enabled: bool, on_replay: impl Fn(String) + Copy + 'static) -> impl IntoView {
    let (look, text) = match delivery.status.as_str() {
        _ if delivery.in_progress => ("state is-warning", t::DELIVERY_SENDING),
        "delivered" => ("state is-good", t::DELIVERY_DELIVERED),
        "failed" => ("state is-bad", t::DELIVERY_FAILED),
        _ => ("state is-warning", t::DELIVERY_PENDING),
    };
    let next = delivery.next_attempt_at.as_deref().map(|at| t::NEXT_ATTEMPT.with(&[("time", &time(at))]));
    let attempts = delivery.attempts.into_iter().map(attempt).collect_view();
    let id = delivery.id;
    view! {
        <li class="delivery">
            <details class="row-main">
                <summary>
                    <code>{delivery.event}</code>
                    <span class="row-facts">
                        <span>{ago(&delivery.created_at)}</span>
                        <span>{t::ATTEMPTS.count(delivery.attempt_count)}</span>
                        {next.map(|next| view! { <span>{next}</span> })}
                    </span>
                </summary>
                <ol class="attempts">{attempts}</ol>
                <pre class="code" tabindex="0" dir="ltr">{pretty(&delivery.body)}</pre>
            </details>
            <span class=look>{text.get()}</span>
            <div class="row-actions">
                <button
                    type="button"
                    class="button is-quiet"
                    disabled=!is_enabled || delivery.in_progress
                    on:click=move |_| on_replay(id.clone())
                >
                    {t::REPLAY.get()}
                </button>
            </div>
        </li>
    }
}

fn attempt(attempt: DeliveryAttempt) -> impl IntoView {
    let is_good = attempt.status.is_some_and(|status| (200..300).contains(&status));
    let result = match attempt.status {
        Some(status) => t::ATTEMPT_STATUS.with(&[("status", &status.to_string())]),
        None => t::ATTEMPT_NO_ANSWER.get().to_owned(),
    };
    let took = t::TOOK_MS.with(&[("ms", &crate::text::number(attempt.duration_ms))]);
    view! {
        <li>
            <span class:is-good=is_good class:is-bad=!is_good>{result}</span>
            <span class="row-facts">
                <span>{time(&attempt.at)}</span>
                <span>{took}</span>
            </span>
            {attempt.error.map(|error| view! { <p class="field-help" dir="auto">{error}</p> })}
        </li>
    }
}

/// Returns JSON with line breaks; another text as it is.
fn pretty(body: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(body).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_no_json_is_shown_as_it_is() {
        assert_eq!(pretty(r#"{"a":1}"#), "{\n  \"a\": 1\n}");
        assert_eq!(pretty("<b>"), "<b>");
    }
}
