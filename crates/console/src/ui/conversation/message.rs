//! A message, a note, or what happened: each kind has its own place, colour and label.

use chat_protocol::admin::{Activity, Message, Note, Source};
use leptos::prelude::*;

use crate::browser::clock as time;
use crate::markdown::{Kind, RichText};
use crate::state::Entry;
use crate::text::{activity, clock, conversation, date_time, day, translated};
use crate::ui::controls::{Icon, icon};

/// Messages of one author within this time form a group, in milliseconds.
const GROUP_MS: f64 = 300_000.0;

/// A row of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRow {
    entry: Entry,
    /// The day, if the row is the first one of it.
    day: Option<String>,
    /// Whether the row continues the group above it.
    is_joint: bool,
}

impl LogRow {
    /// Returns the row's identity. It changes with everything that the row shows.
    pub fn key(&self) -> String {
        format!("{}{}{}", self.entry.key(), self.day.is_some(), self.is_joint)
    }

    /// Returns the sequence of a message that the visitor is to see.
    pub fn own_sequence(&self) -> Option<i64> {
        match &self.entry {
            Entry::Message(message) if message.role != "visitor" && message.role != "system" => {
                Some(message.sequence)
            }
            _ => None,
        }
    }
}

/// Arranges entries in groups and days.
pub fn rows(entries: &[Entry]) -> Vec<LogRow> {
    let mut rows: Vec<LogRow> = Vec::with_capacity(entries.len());
    let mut before: Option<(f64, String, String)> = None;
    for entry in entries {
        let at = time::parse_ms(entry.created_at()).unwrap_or_default();
        let today = day(at);
        let author = author(entry);
        let is_new_day = before.as_ref().is_none_or(|(_, day, _)| *day != today);
        let is_joint = before.as_ref().is_some_and(|(last, _, last_author)| {
            !is_new_day && !author.is_empty() && *last_author == author && at - last < GROUP_MS
        });
        rows.push(LogRow { entry: entry.clone(), day: is_new_day.then(|| today.clone()), is_joint });
        before = Some((at, today, author));
    }
    rows
}

/// Returns what tells authors apart; empty for entries that never form groups.
fn author(entry: &Entry) -> String {
    match entry {
        Entry::Message(message) if message.role != "system" => {
            format!("{} {}", message.role, message.operator_id.as_deref().unwrap_or_default())
        }
        _ => String::new(),
    }
}

/// A row. `visitor` is the visitor's name, `status` the newest message of ours, and whether the visitor has
/// seen it.
#[component]
pub fn RowView(row: LogRow, status: Memo<Option<(i64, bool)>>, visitor: Memo<String>) -> impl IntoView {
    let LogRow { entry, day, is_joint } = row;
    view! {
        {day.map(|day| view! { <p class="day" role="separator"><span>{day}</span></p> })}
        {match entry {
            Entry::Note(note) if note.kind == "note" => note_view(note).into_any(),
            Entry::Note(note) => {
                activity_view(activity_text(&note), note.operator_name, &note.created_at).into_any()
            }
            Entry::Message(message) if message.role == "system" => {
                let at = message.created_at.unwrap_or_default();
                activity_view(message.content, None, &at).into_any()
            }
            Entry::Message(message) => message_view(message, is_joint, status, visitor).into_any(),
        }}
    }
}

fn message_view(
    message: Message,
    is_joint: bool,
    status: Memo<Option<(i64, bool)>>,
    visitor: Memo<String>,
) -> impl IntoView {
    let Message { sequence, role, content, created_at, operator_name, sources, .. } = message;
    let kind = if role == "visitor" { Kind::Plain } else { Kind::Rich };
    let name = match role.as_str() {
        "assistant" => conversation::AI.get().to_owned(),
        "operator" => operator_name.unwrap_or_else(|| conversation::TEAM.get().to_owned()),
        _ => String::new(),
    };
    let is_visitor = name.is_empty();
    let name = move || if is_visitor { visitor.get() } else { name.clone() };
    let is_ai = role == "assistant";
    let delivery = move || {
        let (last, is_seen) = status.get()?;
        (last == sequence).then(|| {
            let (symbol, text) = if is_seen {
                (Icon::CheckTwice, conversation::SEEN)
            } else {
                (Icon::Check, conversation::SENT)
            };
            view! { <span class="delivery" class:seen=is_seen>{icon(symbol)}{text.get()}</span> }
        })
    };
    view! {
        <article class="message" class:joint=is_joint data-role=role data-sequence=sequence.to_string()>
            <header class="message-head" class:for-readers=is_joint>
                {is_ai.then(|| icon(Icon::Sparkle))}
                <bdi>{name}</bdi>
                {moment(created_at.as_deref().unwrap_or_default())}
            </header>
            <div class="bubble">
                <RichText text=content kind />
                {source_list(sources)}
            </div>
            {delivery}
        </article>
    }
}

/// What an answer of the AI is based on.
fn source_list(sources: Vec<Source>) -> impl IntoView {
    (!sources.is_empty()).then(|| view! {
        <details class="sources">
            <summary>{conversation::SOURCES.count(i64::try_from(sources.len()).unwrap_or(i64::MAX))}</summary>
            <ul>
                {sources.into_iter().map(|source| {
                    let Source { title, location } = source;
                    let link = location.clone().filter(|place| is_web_address(place));
                    view! {
                        <li>
                            {match link {
                                Some(href) => view! {
                                    <a href=href target="_blank" rel="noopener noreferrer">{title}</a>
                                }.into_any(),
                                None => view! { <bdi>{title}</bdi> }.into_any(),
                            }}
                            {location.map(|place| view! { <bdi class="source-place">{place}</bdi> })}
                        </li>
                    }
                }).collect_view()}
            </ul>
        </details>
    })
}

/// Returns whether the address of a source may become a link. It comes from content that is synced.
fn is_web_address(address: &str) -> bool {
    let lower = address.get(..8).map(str::to_ascii_lowercase).unwrap_or_default();
    lower.starts_with("https://") || lower.starts_with("http://")
}

fn note_view(note: Note) -> impl IntoView {
    let name = note.operator_name.unwrap_or_else(|| conversation::TEAM.get().to_owned());
    view! {
        <article class="message note" data-role="note">
            <header class="message-head">
                {icon(Icon::Note)}
                <bdi>{name}</bdi>
                <span>{conversation::NOTE.get()}</span>
                {moment(&note.created_at)}
            </header>
            <div class="bubble"><RichText text=note.text kind=Kind::Rich /></div>
        </article>
    }
}

fn activity_view(text: String, name: Option<String>, at: &str) -> impl IntoView + use<> {
    view! {
        <p class="activity">
            {name.map(|name| view! { <bdi>{name}</bdi>": " })}
            <span dir="auto">{text}</span>
            " · "
            {moment(at)}
        </p>
    }
}

/// Returns what happened, in the operator's language; as the service says it if the event is unknown here.
fn activity_text(note: &Note) -> String {
    let Some(Activity { event, detail }) = &note.activity else { return note.text.clone() };
    let detail = detail.as_deref().unwrap_or_default();
    let text = match event.as_str() {
        "opened" => activity::OPENED,
        "waiting" => activity::WAITING,
        "closed" => activity::CLOSED,
        "assigned" => return activity::ASSIGNED.with(&[("name", detail)]),
        "unassigned" => activity::UNASSIGNED,
        "ai_paused" => activity::AI_PAUSED,
        "ai_resumed" => activity::AI_RESUMED,
        "snoozed" => {
            let until = time::parse_ms(detail).map_or_else(|| detail.to_owned(), date_time);
            return conversation::SNOOZED_UNTIL.with(&[("time", &until)]);
        }
        "snooze_ended" => activity::SNOOZE_ENDED,
        "labeled" => return activity::LABELED.with(&[("names", detail)]),
        "labels_removed" => activity::LABELS_REMOVED,
        "blocked" => activity::BLOCKED,
        "unblocked" => activity::UNBLOCKED,
        "took_over" => activity::TOOK_OVER,
        _ => {
            let path = ["service.", event].concat();
            return translated(&path, detail).unwrap_or_else(|| note.text.clone());
        }
    };
    text.get().to_owned()
}

fn moment(at: &str) -> impl IntoView + use<> {
    let time_ms = time::parse_ms(at)?;
    Some(view! { <time datetime=at.to_owned() title=date_time(time_ms)>{clock(time_ms)}</time> })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_activity_is_shown_as_the_service_says_it() {
        let activity = |event: &str, detail: Option<&str>| {
            let detail = detail.map(str::to_owned);
            activity_text(&Note {
                text: "as the service says it".to_owned(),
                activity: Some(Activity { event: event.to_owned(), detail }),
                ..Note::default()
            })
        };
        assert_eq!(activity("assigned", Some("Zoë {names}")), "assigned to Zoë {names}");
        assert_eq!(activity("labeled", Some("Damage, VIP")), "labels: Damage, VIP");
        assert_eq!(activity("merged", None), "as the service says it");
    }

    #[test]
    fn only_web_addresses_of_sources_become_links() {
        for address in ["https://shop.example/a", "HTTP://shop.example"] {
            assert!(is_web_address(address), "{address}");
        }
        for address in
            ["javascript:alert(1)", "/prices", "data:text/html,x", " https://a", "ftp://a.example", "é"]
        {
            assert!(!is_web_address(address), "{address}");
        }
    }
}
