//! The pages that the visitor has seen, newest first, as a timeline of visits.

use chat_protocol::admin::{ConversationSummary, TimelineEntry, TimelinePage};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api;
use crate::browser::clock;
use crate::location::encode;
use crate::state::app;
use crate::text::{clock as clock_text, date_time, list_time, visitor};

/// The pause after which events belong to another visit, as in the service's lead score.
const VISIT_PAUSE_MS: f64 = 30.0 * 60.0 * 1000.0;

/// An event with its time.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    entry: TimelineEntry,
    time_ms: f64,
}

/// The loaded part of a visitor's history. Copies are the same history.
#[derive(Clone, Copy)]
pub(super) struct Pages {
    seen: RwSignal<Vec<Seen>>,
    /// The parameter of the next page; `None` when all is loaded.
    next_before: RwSignal<Option<i64>>,
    is_loading: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    /// The parameter of the page that could not be loaded.
    failed_before: StoredValue<Option<i64>>,
    summary: Memo<ConversationSummary>,
    /// Counts the conversations, so that a late answer about another one is dropped.
    generation: StoredValue<u32>,
}

impl Pages {
    /// Loads the history of the open conversation, again whenever it changes.
    pub(super) fn follow(summary: Memo<ConversationSummary>) -> Self {
        let pages = Self {
            seen: RwSignal::new(Vec::new()),
            next_before: RwSignal::new(None),
            is_loading: RwSignal::new(false),
            problem: RwSignal::new(None),
            failed_before: StoredValue::new(None),
            summary,
            generation: StoredValue::new(0),
        };
        // A visitor who writes has often moved on to another page.
        let version = Memo::new(move |_| summary.with(|summary| (summary.id.clone(), summary.message_count)));
        Effect::new(move |before: Option<String>| {
            let (id, _) = version.get();
            if before.as_ref() != Some(&id) {
                pages.seen.set(Vec::new());
                pages.next_before.set(None);
            }
            pages.load(None);
            id
        });
        pages
    }

    /// Returns the time zone that the visitor's browser has last reported.
    pub(super) fn time_zone(self) -> Option<String> {
        self.seen.with(|seen| seen.iter().find_map(|seen| seen.entry.time_zone.clone()))
    }

    /// Loads the newest events, or those before an earlier page's end.
    fn load(self, before: Option<i64>) {
        let generation = self.generation.get_value().wrapping_add(1);
        self.generation.set_value(generation);
        self.is_loading.set(true);
        self.problem.set(None);
        let id = self.summary.with_untracked(|summary| summary.id.clone());
        let parameters = before.map(|before| format!("?before={before}")).unwrap_or_default();
        let path = format!("conversations/{}/timeline{parameters}", encode(&id));
        spawn_local(async move {
            let loaded = api::get::<TimelinePage>(&path).await;
            if self.generation.try_get_value() != Some(generation) {
                return;
            }
            self.is_loading.set(false);
            match loaded {
                Ok(page) => self.show(page, before.is_some()),
                Err(error) => {
                    self.failed_before.set_value(before);
                    self.problem.set(Some(visitor::HISTORY_FAILED.with(&[("reason", &error.message)])));
                }
            }
        });
    }

    fn show(self, page: TimelinePage, is_earlier: bool) {
        let loaded = page.entries.into_iter().filter_map(|entry| {
            let time_ms = clock::parse_ms(&entry.received_at)?;
            Some(Seen { entry, time_ms })
        });
        let loaded: Vec<Seen> = loaded.collect();
        self.next_before.set(page.next_before);
        self.seen.update(|seen| {
            if !is_earlier {
                seen.clear();
            }
            seen.extend(loaded);
        });
    }
}

/// The section of the history.
#[component]
pub(super) fn History(pages: Pages) -> impl IntoView {
    let app = app();
    let latest = Memo::new(move |_| {
        pages.seen.with(|seen| seen.iter().find(|seen| is_page_view(&seen.entry)).cloned())
    });
    let is_empty = Memo::new(move |_| pages.seen.read().is_empty() && !pages.is_loading.get());
    let list = move || {
        let seen = pages.seen.read();
        visits(&seen).into_iter().map(|visit| view! { <Visit visit=visit.to_vec()/> }).collect_view()
    };
    view! {
        <section class="visitor-section" aria-labelledby="visitor-history">
            <header><h3 id="visitor-history">{visitor::HISTORY.get()}</h3></header>
            {move || latest.get().map(|Seen { entry, time_ms }| view! {
                <p class="now-on">
                    <span class="hint">{visitor::NOW_ON.get()}</span>
                    <strong dir="auto">{title(&entry)}</strong>
                    <span class="hint">
                        <bdi dir="ltr">{entry.path.clone()}</bdi>" · "{move || list_time(time_ms, app.now_ms.get())}
                    </span>
                </p>
            })}
            <p class="hint" hidden=move || !is_empty.get()>{visitor::NO_HISTORY.get()}</p>
            <div class="visits">{list}</div>
            {move || pages.problem.get().map(|text| view! {
                <p class="problem" role="alert">{text}</p>
                <button type="button" class="quiet outlined small" on:click=move |_| pages.load(pages.failed_before.get_value())>
                    {visitor::AGAIN.get()}
                </button>
            })}
            <button
                type="button"
                class="quiet outlined small"
                hidden=move || pages.next_before.get().is_none() || pages.problem.read().is_some()
                disabled=pages.is_loading
                on:click=move |_| pages.load(pages.next_before.get_untracked())
            >
                {visitor::EARLIER_PAGES.get()}
            </button>
        </section>
    }
}

/// A visit: its time, and its pages.
#[component]
fn Visit(visit: Vec<Seen>) -> impl IntoView {
    let began = visit.last().map(|seen| date_time(seen.time_ms)).unwrap_or_default();
    let entries = visit.into_iter().map(|Seen { entry, time_ms }| {
        let kind = if is_page_view(&entry) { "page" } else { "event" };
        let path = entry.path.clone().filter(|path| *path != title(&entry));
        view! {
            <li data-kind=kind>
                <span class="visit-title" dir="auto">{title(&entry)}</span>
                {path.map(|path| view! { <bdi class="visit-path" dir="ltr">{path}</bdi> })}
                <time class="visit-time" datetime=entry.received_at.clone()>{clock_text(time_ms)}</time>
            </li>
        }
    });
    view! {
        <h4>{visitor::VISIT.with(&[("when", &began)])}</h4>
        <ol class="timeline">{entries.collect_view()}</ol>
    }
}

fn is_page_view(entry: &TimelineEntry) -> bool {
    entry.event_type == "page_view"
}

/// Returns the words for an event: the page's title, or what happened.
fn title(entry: &TimelineEntry) -> String {
    if !is_page_view(entry) {
        return entry.event_type.replace('_', " ");
    }
    let known = [&entry.title, &entry.path].into_iter().flatten().find(|text| !text.trim().is_empty());
    known.cloned().unwrap_or_else(|| entry.event_type.clone())
}

/// Splits events, newest first, into visits.
fn visits(seen: &[Seen]) -> Vec<&[Seen]> {
    seen.chunk_by(|later, earlier| later.time_ms - earlier.time_ms <= VISIT_PAUSE_MS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(minute: f64) -> Seen {
        Seen { entry: TimelineEntry::default(), time_ms: minute * 60_000.0 }
    }

    #[test]
    fn half_an_hour_without_an_event_begins_another_visit() {
        let events = [seen(100.0), seen(70.0), seen(39.0), seen(38.0)];
        let lengths: Vec<usize> = visits(&events).iter().map(|visit| visit.len()).collect();
        assert_eq!(lengths, [2, 2]);
        assert!(visits(&[]).is_empty());
    }

    #[test]
    fn an_event_is_named_by_the_page_or_by_what_happened() {
        let entry = |event_type: &str, title: Option<&str>, path: Option<&str>| TimelineEntry {
            event_type: event_type.to_owned(),
            title: title.map(str::to_owned),
            path: path.map(str::to_owned),
            ..TimelineEntry::default()
        };
        assert_eq!(title(&entry("page_view", Some("Mugs"), Some("/mugs"))), "Mugs");
        assert_eq!(title(&entry("page_view", Some(" "), Some("/mugs"))), "/mugs");
        assert_eq!(title(&entry("page_view", None, None)), "page_view");
        assert_eq!(title(&entry("form_submit", Some("Mugs"), None)), "form submit");
    }
}
