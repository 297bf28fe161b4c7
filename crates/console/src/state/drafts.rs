//! Texts that were begun: one for each conversation and kind, kept by the browser until they are sent.

use std::collections::HashMap;

use leptos::prelude::*;

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

/// The drafts of the signed-in operator. Copies are the same ones.
#[derive(Clone, Copy)]
pub struct Drafts {
    texts: RwSignal<HashMap<(String, DraftKind), String>>,
    /// The prefix of the keys in storage, with the operator's id.
    prefix: StoredValue<String>,
}

impl Drafts {
    pub(super) fn new() -> Self {
        Self { texts: RwSignal::default(), prefix: StoredValue::default() }
    }

    /// Reads the drafts of an operator.
    pub(super) fn open(self, operator: &str) {
        let prefix = format!("draft.{operator}.");
        let mut texts = HashMap::new();
        for key in storage::keys(&prefix) {
            let name = key.strip_prefix(&prefix).and_then(|name| name.rsplit_once('.'));
            let Some(((id, kind), text)) = name.zip(storage::read::<String>(&key)) else { continue };
            let kind = if kind == DraftKind::Note.as_str() { DraftKind::Note } else { DraftKind::Reply };
            texts.insert((id.to_owned(), kind), text);
        }
        self.prefix.set_value(prefix);
        self.texts.set(texts);
    }

    /// Removes all drafts of the operator, also from storage.
    pub fn clear(self) {
        for key in self.prefix.with_value(|prefix| storage::keys(prefix)) {
            storage::remove(&key);
        }
        self.texts.set(HashMap::new());
    }

    /// Returns a draft; an empty one if there is none.
    pub fn get(self, conversation: &str, kind: DraftKind) -> String {
        self.texts.with(|texts| texts.get(&(conversation.to_owned(), kind)).cloned().unwrap_or_default())
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
