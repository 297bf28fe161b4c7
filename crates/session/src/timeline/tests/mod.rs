//! Unit tests of the timeline.

mod archived;
mod echoes;
mod history;
mod other_tabs;
mod sending;

use super::*;

fn message(id: &str, role: &str, content: &str) -> ChatMessage {
    ChatMessage {
        id: (!id.is_empty()).then(|| id.into()),
        role: Role::from(role),
        content: content.into(),
        created_at: None,
        author_name: None,
    }
}

/// Returns messages, each given as its id, its role and its text.
fn messages(messages: &[&str]) -> Vec<ChatMessage> {
    let parts = messages.iter().map(|message| message.splitn(3, ' ').collect::<Vec<_>>());
    parts.map(|parts| message(parts[0], parts[1], parts[2])).collect()
}

fn dated(id: &str, content: &str, date: &str) -> ChatMessage {
    ChatMessage { created_at: Some(date.into()), ..message(id, "operator", content) }
}

fn read(timeline: &mut Timeline, messages: Vec<ChatMessage>) -> Vec<Entry> {
    timeline.merge(messages, None, &[], Sync::Live)
}

fn delivered(timeline: &mut Timeline, text: &str, id: &str) -> EntryKey {
    let key = timeline.write(&format!("m-{text}"), text, 1, Delivery::Sending);
    timeline.deliver(key, Some(id.into()));
    key
}

/// Returns the entries of another tab's timeline, as a snapshot contains them.
fn snapshot(timeline: &Timeline) -> Vec<Entry> {
    timeline.entries().iter().map(|entry| Entry { key: EntryKey::default(), ..entry.clone() }).collect()
}

fn texts(timeline: &Timeline) -> Vec<&str> {
    timeline.entries().iter().map(|entry| &*entry.text).collect()
}
