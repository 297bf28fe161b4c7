//! The audit log: paged, filtered, and as CSV.

use std::time::Duration;

use chat_protocol::Value;
use chat_protocol::admin::settings::AuditEntry;
use leptos::prelude::*;

use super::page::{Empty, Head, time};
use super::paged::{Paged, PagedList};
use crate::api::settings as requests;
use crate::browser::clock;
use crate::location::Query;
use crate::text::{Text, settings as t};

/// The time without typing after which is searched.
const SEARCH_DELAY: Duration = Duration::from_millis(300);
const DAY_MS: f64 = 86_400_000.0;

/// Kinds of changes, by the beginnings of their names.
const KINDS: [(&str, Text); 14] = [
    ("", t::AUDIT_ALL),
    ("operator.", t::AUDIT_OPERATORS),
    ("session.", t::AUDIT_SESSIONS),
    ("password.", t::AUDIT_PASSWORDS),
    ("totp.", t::AUDIT_TOTP),
    ("site.", t::AUDIT_SITES),
    ("token.", t::AUDIT_TOKENS),
    ("license.", t::AUDIT_LICENSES),
    ("answer.", t::AUDIT_ANSWERS),
    ("label.", t::SECTION_LABELS),
    ("reply.", t::SECTION_REPLIES),
    ("webhook.", t::AUDIT_WEBHOOKS),
    ("visitor.", t::AUDIT_VISITORS),
    ("review.", t::AUDIT_PUBLISHING),
];

/// Returns the query of a filter. The dates are days in the operator's time zone, and belong to it.
fn query(kind: &str, text: &str, from_ms: Option<f64>, to_ms: Option<f64>) -> Query {
    let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let end_ms = to_ms.map(|start_ms| start_ms + DAY_MS);
    Query::default()
        .with("action", filled(kind).as_deref())
        .with("q", filled(text).as_deref())
        .with("from", from_ms.map(clock::to_rfc3339).as_deref())
        .with("to", end_ms.map(clock::to_rfc3339).as_deref())
}

/// Returns the beginning of a day such as `2026-11-23` in the operator's time zone.
fn start_of_day(day: &str) -> Option<f64> {
    clock::parse_ms(&format!("{day}T00:00:00"))
}

/// The page with the audit log.
#[component]
pub fn AuditLog() -> impl IntoView {
    let [kind, text, from, to] = [(); 4].map(|()| RwSignal::new(String::new()));
    let filter = move || {
        let day = |day: RwSignal<String>| day.with(|day| start_of_day(day));
        kind.with(|kind| text.with(|text| query(kind, text, day(from), day(to))))
    };
    let pages = Paged::new(move |before: Option<i64>| {
        let filter = untrack(filter);
        async move {
            let page = requests::audit(filter, before).await?;
            Ok((page.entries, page.next))
        }
    });
    let mut search = leptos::leptos_dom::helpers::debounce(SEARCH_DELAY, move |()| pages.reload());
    let kinds = KINDS.map(|(name, title)| view! { <option value=name>{title.get()}</option> });
    let date = move |label: Text, day: RwSignal<String>| {
        view! {
            <label class="filter">
                <span>{label.get()}</span>
                <input
                    type="date"
                    class="input"
                    on:change=move |event| {
                        day.set(event_target_value(&event));
                        pages.reload();
                    }
                />
            </label>
        }
    };
    view! {
        <Head title=t::SECTION_AUDIT.get() lead=t::AUDIT_LEAD.get()>
            <a class="button" href=move || requests::audit_csv(&filter()) download="audit.csv">
                {t::AUDIT_EXPORT.get()}
            </a>
        </Head>
        <form class="filters" role="search" on:submit=move |event| event.prevent_default()>
            <label class="filter">
                <span>{t::AUDIT_KIND.get()}</span>
                <select
                    class="input"
                    on:change=move |event| {
                        kind.set(event_target_value(&event));
                        pages.reload();
                    }
                >
                    {kinds}
                </select>
            </label>
            <label class="filter is-wide">
                <span>{t::AUDIT_SEARCH.get()}</span>
                <input
                    type="search"
                    class="input"
                    on:input=move |event| {
                        text.set(event_target_value(&event));
                        search(());
                    }
                />
            </label>
            {date(t::AUDIT_FROM, from)}
            {date(t::AUDIT_TO, to)}
        </form>
        <PagedList pages empty=move || view! { <Empty text=t::NOTHING_FOUND.get()/> } let:entries>
            <div class="table-frame" tabindex="0" role="region" aria-label=t::SECTION_AUDIT.get()>
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">{t::AUDIT_TIME.get()}</th>
                            <th scope="col">{t::AUDIT_ACTOR.get()}</th>
                            <th scope="col">{t::AUDIT_ACTION.get()}</th>
                            <th scope="col">{t::AUDIT_TARGET.get()}</th>
                            <th scope="col">{t::AUDIT_ADDRESS.get()}</th>
                        </tr>
                    </thead>
                    <tbody>{entries.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </PagedList>
    }
}

/// Maximum characters of the shown details. The export has all of them.
const MAX_DETAILS: usize = 1000;

/// Returns the details of an entry in one line.
fn details(detail: &Value) -> String {
    let Value::Object(members) = detail else { return String::new() };
    let shown = members.iter().filter(|(_, value)| *value != Value::Null).map(|(name, value)| {
        let value = value.as_text().map_or_else(|| value.to_string(), str::to_owned);
        [name, ": ", &value].concat()
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match shown.char_indices().nth(MAX_DETAILS) {
        Some((end, _)) => [&shown[..end], "…"].concat(),
        None => shown,
    }
}

fn row(entry: AuditEntry) -> impl IntoView {
    let details = details(&entry.detail);
    view! {
        <tr>
            <td data-label=t::AUDIT_TIME.get()>
                <time datetime=entry.at.clone()>{time(&entry.at)}</time>
            </td>
            <td data-label=t::AUDIT_ACTOR.get() dir="auto">{entry.actor}</td>
            <td data-label=t::AUDIT_ACTION.get() class="is-whole"><code>{entry.action}</code></td>
            <td data-label=t::AUDIT_TARGET.get()>
                <code dir="ltr">{entry.target}</code>
                {(!details.is_empty()).then(|| view! { <p class="field-help" dir="auto">{details}</p> })}
            </td>
            <td data-label=t::AUDIT_ADDRESS.get() class="is-whole" dir="ltr">{entry.address}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_one_line_without_empty_members() {
        let detail = Value::object([("host", "a.example".into()), ("enabled", true.into())]);
        assert_eq!(details(&detail), "host: a.example, enabled: true");
        let with_null = Value::Object(vec![("host".to_owned(), Value::Null)]);
        assert_eq!((details(&with_null), details(&Value::Null)), (String::new(), String::new()));
        let long = Value::object([("rules", "ü".repeat(2 * MAX_DETAILS).into())]);
        assert_eq!(details(&long).chars().count(), MAX_DETAILS + 1);
    }

    #[test]
    fn an_empty_filter_has_no_parameters() {
        assert_eq!(query("", "  ", None, None).to_string(), "");
        assert_eq!(query("site.", "ann", None, None).to_string(), "?action=site.&q=ann");
    }
}
