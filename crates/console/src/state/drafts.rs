//! Texts that were begun: one for each conversation and kind, kept by the browser until they are sent.

use std::collections::HashMap;

use leptos::ev;
use leptos::prelude::*;
use web_sys::StorageEvent;

use crate::browser::storage;

/// The kind of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DraftKind {
    /// The visitor sees it.
    #[default]
    Reply,
    /// Only colleagues see it.
    Note,
}

impl DraftKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Note => "note",
        }
    }
}

/// Returns the beginning of the keys of an operator's drafts.
fn prefix(operator: &str) -> String {
    format!("draft.{operator}.")
}

/// The drafts of the signed-in operator. Copies are the same ones.
#[derive(Clone, Copy)]
pub struct Drafts {
    texts: RwSignal<HashMap<(String, DraftKind), String>>,
    /// The kind that is written in each conversation; a reply where nothing was chosen.
    kinds: RwSignal<HashMap<String, DraftKind>>,
    /// The prefix of the keys in storage, with the operator's id.
    prefix: StoredValue<String>,
}

impl Drafts {
    pub(super) fn new() -> Self {
        let drafts =
            Self { texts: RwSignal::default(), kinds: RwSignal::default(), prefix: StoredValue::default() };
        _ = window_event_listener(ev::storage, move |event| drafts.on_stored(&event));
        drafts
    }

    /// Takes what another tab did to a draft, if this tab has the same one: who writes here goes on.
    fn on_stored(self, event: &StorageEvent) {
        let Some(key) = event.key().and_then(|key| storage::own_key(&key).map(str::to_owned)) else { return };
        let Some(name) = self.prefix.with_value(|prefix| name_of(&key, prefix)) else { return };
        let text = |json: Option<String>| json.and_then(|json| serde_json::from_str::<String>(&json).ok());
        let (before, now) = (text(event.old_value()), text(event.new_value()));
        if self.texts.with_untracked(|texts| texts.get(&name) != before.as_ref()) {
            return;
        }
        self.texts.update(|texts| match now {
            Some(now) => _ = texts.insert(name, now),
            None => _ = texts.remove(&name),
        });
    }

    /// Reads the drafts of an operator.
    pub(super) fn open(self, operator: &str) {
        let prefix = prefix(operator);
        let mut texts = HashMap::new();
        for key in storage::keys(&prefix) {
            let Some((name, text)) = name_of(&key, &prefix).zip(storage::read::<String>(&key)) else {
                continue;
            };
            texts.insert(name, text);
        }
        self.prefix.set_value(prefix);
        self.texts.set(texts);
        self.kinds.set(HashMap::new());
    }

    /// Removes all drafts of the operator, also from storage, and those of the account's other operators.
    pub fn clear(self, operators: &[String]) {
        let others = operators.iter().map(|operator| prefix(operator));
        for prefix in others.chain([self.prefix.get_value()]) {
            for key in storage::keys(&prefix) {
                storage::remove(&key);
            }
        }
        self.texts.set(HashMap::new());
    }

    /// Returns a draft; an empty one if there is none.
    pub fn get(self, conversation: &str, kind: DraftKind) -> String {
        self.texts.with(|texts| texts.get(&(conversation.to_owned(), kind)).cloned().unwrap_or_default())
    }

    /// Returns the kind that is written in a conversation.
    pub fn kind(self, conversation: &str) -> Memo<DraftKind> {
        let conversation = conversation.to_owned();
        Memo::new(move |_| self.kinds.with(|kinds| kinds.get(&conversation).copied().unwrap_or_default()))
    }

    /// Chooses the kind that is written in a conversation.
    pub fn choose(self, conversation: &str, kind: DraftKind) {
        self.kinds.update(|kinds| _ = kinds.insert(conversation.to_owned(), kind));
    }

    /// Chooses a reply, unless a note was begun and chosen: a conversation that is opened again starts with a
    /// reply.
    pub fn end_empty_note(self, conversation: &str) {
        if self.texts.with_untracked(|texts| !texts.contains_key(&(conversation.to_owned(), DraftKind::Note)))
        {
            self.kinds.update(|kinds| _ = kinds.remove(conversation));
        }
    }

    /// Returns whether a reply was begun.
    pub fn has_reply(self, conversation: &str) -> bool {
        self.texts.with(|texts| texts.contains_key(&(conversation.to_owned(), DraftKind::Reply)))
    }

    /// Stores a draft; an empty one is removed.
    pub fn set(self, conversation: &str, kind: DraftKind, text: &str) {
        let key = self.prefix.with_value(|prefix| format!("{prefix}{conversation}.{}", kind.as_str()));
        let name = (conversation.to_owned(), kind);
        if text.trim().is_empty() {
            storage::remove(&key);
            self.texts.update(|texts| _ = texts.remove(&name));
        } else {
            storage::write(&key, &text);
            self.texts.update(|texts| _ = texts.insert(name, text.to_owned()));
        }
    }
}

/// Returns the conversation and the kind of a stored draft.
fn name_of(key: &str, prefix: &str) -> Option<(String, DraftKind)> {
    let (id, kind) = key.strip_prefix(prefix).filter(|_| !prefix.is_empty())?.rsplit_once('.')?;
    let kind = if kind == DraftKind::Note.as_str() { DraftKind::Note } else { DraftKind::Reply };
    Some((id.to_owned(), kind))
}
