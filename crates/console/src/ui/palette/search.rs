//! Finds conversations by the words in the palette, a moment after the last letter.

use std::time::Duration;

use chat_protocol::admin::{ConversationSummary, ConversationView};
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::commands::{Command, Section};
use crate::api::requests;
use crate::location::{InboxQuery, Page};
use crate::markdown;
use crate::state::visitor_name;
use crate::text::palette;
use crate::ui::controls::Icon;

/// The pause after the last letter before the service is asked.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// The letters from which conversations are searched.
const MIN_LETTERS: usize = 2;
/// Maximum conversations that are shown.
const MAX_FOUND: u32 = 8;

/// A command that was found, and the letters that the query has in its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) command: Command,
    pub(super) marks: Vec<usize>,
}

/// A search that follows a query. Copies are the same search.
#[derive(Clone, Copy)]
pub(super) struct Search {
    found: RwSignal<Vec<Found>>,
    is_searching: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    /// Counts the queries, so that a late answer to an earlier one is dropped.
    generation: StoredValue<u32>,
}

impl Search {
    pub(super) fn follow(query: RwSignal<String>) -> Self {
        let search = Self {
            found: RwSignal::new(Vec::new()),
            is_searching: RwSignal::new(false),
            problem: RwSignal::new(None),
            generation: StoredValue::new(0),
        };
        Effect::new(move |before: Option<Option<TimeoutHandle>>| {
            if let Some(timer) = before.flatten() {
                timer.clear();
            }
            search.begin(query.read().trim())
        });
        search
    }

    pub(super) fn conversations(self) -> Vec<Found> {
        self.found.get()
    }

    pub(super) fn is_searching(self) -> bool {
        self.is_searching.get()
    }

    pub(super) fn problem(self) -> Option<String> {
        self.problem.get()
    }

    fn begin(self, query: &str) -> Option<TimeoutHandle> {
        let generation = self.generation.get_value().wrapping_add(1);
        self.generation.set_value(generation);
        self.problem.set(None);
        if query.chars().count() < MIN_LETTERS {
            self.found.set(Vec::new());
            self.is_searching.set(false);
            return None;
        }
        self.is_searching.set(true);
        let wanted =
            InboxQuery { view: ConversationView::All, q: Some(query.to_owned()), ..InboxQuery::default() };
        let ask = move || {
            spawn_local(async move {
                let answer = requests::list_conversations(&wanted, None, MAX_FOUND).await;
                if self.generation.try_get_value() != Some(generation) {
                    return;
                }
                self.is_searching.set(false);
                match answer {
                    Ok(page) => self.found.set(page.conversations.into_iter().map(found).collect()),
                    Err(error) => {
                        self.found.set(Vec::new());
                        self.problem.set(Some(palette::SEARCH_FAILED.with(&[("reason", &error.message)])));
                    }
                }
            });
        };
        set_timeout_with_handle(ask, DEBOUNCE).ok()
    }
}

fn found(summary: ConversationSummary) -> Found {
    let name = visitor_name(&summary);
    let command = Command::open(Section::Conversations, name, Icon::Inbox, Page::conversation(&summary.id));
    let detail = summary.last_message.map(|last| markdown::plain(&last.text));
    Found { command: command.beside(detail), marks: Vec::new() }
}
