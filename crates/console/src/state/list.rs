//! The list of conversations: which ones belong to it, in which order, and what waits while the operator
//! points at it.

use std::cmp::Ordering;

use chat_protocol::admin::{ConversationPage, ConversationSummary, ConversationView, State};

use crate::location::InboxQuery;

/// The loaded part of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// Which conversations it shows.
    pub query: InboxQuery,
    /// Their ids, in their order.
    pub ids: Vec<String>,
    /// The parameter `before` of the next page; `None` when all are loaded.
    pub next_before: Option<String>,
    /// Whether a first page was loaded.
    pub is_loaded: bool,
    /// Conversations that belong to the list and wait until it may move.
    waiting: Vec<String>,
    /// Whether the order may have changed while the list was not to move.
    is_stale: bool,
}

impl List {
    /// Starts an empty list.
    pub fn new(query: InboxQuery) -> Self {
        Self { query, ..Self::default() }
    }

    /// Takes the first page.
    pub fn replace(&mut self, page: &ConversationPage) {
        self.ids = page.conversations.iter().map(|conversation| conversation.id.clone()).collect();
        self.next_before.clone_from(&page.next_before);
        self.is_loaded = true;
        self.waiting.clear();
        self.is_stale = false;
    }

    /// Takes a further page. Conversations that have moved between the pages stay where they are.
    pub fn append(&mut self, page: &ConversationPage) {
        for conversation in &page.conversations {
            if !self.ids.contains(&conversation.id) {
                self.ids.push(conversation.id.clone());
            }
        }
        self.next_before.clone_from(&page.next_before);
    }

    /// Takes a conversation that has changed. While the list is `held`, rows stay where they are.
    pub fn apply<'a>(
        &mut self,
        changed: &ConversationSummary,
        me: &str,
        is_held: bool,
        summary: impl Fn(&str) -> Option<ConversationSummary> + 'a,
    ) {
        let is_here = self.ids.contains(&changed.id);
        match belongs(&self.query, changed, me) {
            // Only the service can search: a hit stays one.
            None => {}
            Some(false) => {
                self.waiting.retain(|id| *id != changed.id);
                if is_here && is_held {
                    self.is_stale = true;
                } else {
                    self.ids.retain(|id| *id != changed.id);
                }
            }
            Some(true) if is_held => {
                self.is_stale = true;
                if !is_here && !self.waiting.contains(&changed.id) {
                    self.waiting.push(changed.id.clone());
                }
            }
            Some(true) => {
                self.ids.retain(|id| *id != changed.id);
                self.insert(changed, &summary);
            }
        }
    }

    /// Inserts a conversation at its place, unless that is behind the loaded part.
    fn insert(
        &mut self,
        added: &ConversationSummary,
        summary: &impl Fn(&str) -> Option<ConversationSummary>,
    ) {
        let place = self
            .ids
            .partition_point(|id| summary(id).is_some_and(|other| order(&other, added) == Ordering::Less));
        if place < self.ids.len() || self.next_before.is_none() {
            self.ids.insert(place, added.id.clone());
        }
    }

    /// Removes a conversation at once, after the operator has closed or erased it.
    pub fn remove(&mut self, id: &str) {
        self.ids.retain(|known| known != id);
        self.waiting.retain(|known| known != id);
    }

    /// Returns the number of conversations that wait until the list may move.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Puts everything at its place that has waited.
    pub fn release(&mut self, me: &str, summary: impl Fn(&str) -> Option<ConversationSummary>) {
        if !self.is_stale {
            return;
        }
        self.is_stale = false;
        let mut rows: Vec<ConversationSummary> = Vec::with_capacity(self.ids.len());
        for id in self.ids.iter().chain(&std::mem::take(&mut self.waiting)) {
            rows.extend(summary(id).filter(|row| belongs(&self.query, row, me) != Some(false)));
        }
        if self.query.q.is_none() {
            rows.sort_by(order);
        }
        self.ids = rows.into_iter().map(|row| row.id).collect();
    }

    /// Returns the conversation to open when this one is done: the next one, at the end the one before, and
    /// the first one if this one is not in the list.
    pub fn neighbour(&self, id: &str) -> Option<&String> {
        let Some(place) = self.ids.iter().position(|known| known == id) else { return self.ids.first() };
        self.ids.get(place + 1).or_else(|| self.ids.get(place.checked_sub(1)?))
    }

    /// Returns the conversation a number of rows below this one; without one, the first.
    pub fn step(&self, from: Option<&str>, rows: isize) -> Option<&String> {
        let place = from.and_then(|id| self.ids.iter().position(|known| known == id));
        match place {
            Some(place) => self.ids.get(place.checked_add_signed(rows)?),
            None => self.ids.first(),
        }
    }
}

/// Returns whether a conversation belongs to a list; `None` if only the service knows.
fn belongs(query: &InboxQuery, conversation: &ConversationSummary, me: &str) -> Option<bool> {
    let assignee = conversation.assignee_id.as_deref();
    let is_active = conversation.status != State::Closed && conversation.snoozed_until.is_none();
    let in_view = match query.view {
        ConversationView::Mine => is_active && assignee == Some(me),
        ConversationView::Unassigned => is_active && assignee.is_none(),
        ConversationView::Open => is_active,
        ConversationView::Waiting => is_active && waits(conversation),
        ConversationView::Snoozed => {
            conversation.status != State::Closed && conversation.snoozed_until.is_some()
        }
        ConversationView::Closed => conversation.status == State::Closed,
        ConversationView::All => true,
    };
    let wanted = match query.assignee.as_deref() {
        None => true,
        Some("me") => assignee == Some(me),
        Some("nobody") => assignee.is_none(),
        Some(id) => assignee == Some(id),
    };
    let is_of_site = query.site.as_ref().is_none_or(|site| *site == conversation.site_id);
    let has_label = query.label.as_ref().is_none_or(|label| conversation.labels.contains(label));
    if !(in_view && wanted && is_of_site && has_label) {
        return Some(false);
    }
    if query.q.is_some() { None } else { Some(true) }
}

/// Returns whether the visitor waits for an answer of ours.
fn waits(conversation: &ConversationSummary) -> bool {
    conversation.status == State::Waiting
        || conversation.last_message.as_ref().is_some_and(|last| last.role == "visitor")
}

/// The order of all views: those that wait for a person first, the longest waiting at the top, then by the
/// last message, newest first.
fn order(one: &ConversationSummary, other: &ConversationSummary) -> Ordering {
    let waiting = |conversation: &ConversationSummary| conversation.status == State::Waiting;
    match (waiting(one), waiting(other)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => one.waiting_since.cmp(&other.waiting_since),
        (false, false) => other.updated_at.cmp(&one.updated_at),
    }
}

/// Returns the rows to draw: the first, and the one after the last. `height` and `row` are in pixels.
pub fn visible_rows(scrolled: f64, height: f64, row: f64, total: usize) -> (usize, usize) {
    const MARGIN: usize = 6;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows are few and positive")]
    let rows = |pixels: f64| (pixels.max(0.0) / row) as usize;
    let first = rows(scrolled).saturating_sub(MARGIN).min(total);
    let end = (rows(scrolled + height) + 1 + MARGIN).min(total);
    (first, end)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn row(id: &str, updated: &str) -> ConversationSummary {
        ConversationSummary {
            id: id.to_owned(),
            updated_at: updated.to_owned(),
            ..ConversationSummary::default()
        }
    }

    struct World {
        list: List,
        rows: HashMap<String, ConversationSummary>,
    }

    impl World {
        fn new(query: InboxQuery, rows: &[ConversationSummary]) -> Self {
            let mut list = List::new(query);
            list.replace(&ConversationPage { conversations: rows.to_vec(), next_before: None });
            Self { list, rows: rows.iter().map(|row| (row.id.clone(), row.clone())).collect() }
        }

        fn apply(&mut self, row: impl Into<ConversationSummary>, is_held: bool) -> Vec<&str> {
            let row = row.into();
            self.rows.insert(row.id.clone(), row.clone());
            let rows = &self.rows;
            self.list.apply(&row, "me", is_held, |id| rows.get(id).cloned());
            self.ids()
        }

        fn ids(&self) -> Vec<&str> {
            self.list.ids.iter().map(String::as_str).collect()
        }
    }

    #[test]
    fn a_new_message_moves_its_conversation_up_and_who_waits_stands_first() {
        let mut world = World::new(InboxQuery::default(), &[row("a", "3"), row("b", "2"), row("c", "1")]);
        assert_eq!(world.apply(row("c", "4"), false), ["c", "a", "b"]);
        let mut waiting = row("b", "5");
        waiting.status = State::Waiting;
        waiting.waiting_since = Some("5".to_owned());
        assert_eq!(world.apply(waiting, false), ["b", "c", "a"]);
        assert_eq!(world.apply(row("d", "9"), false), ["b", "d", "c", "a"]);
    }

    #[test]
    fn rows_stay_while_the_list_is_held_and_move_when_it_is_released() {
        let mut world = World::new(InboxQuery::default(), &[row("a", "3"), row("b", "2")]);
        assert_eq!(world.apply(row("b", "4"), true), ["a", "b"]);
        assert_eq!(world.apply(row("c", "5"), true), ["a", "b"]);
        let mut closed = row("a", "6");
        closed.status = State::Closed;
        assert_eq!(world.apply(closed, true), ["a", "b"]);
        assert_eq!(world.list.waiting(), 1);
        let rows = world.rows.clone();
        world.list.release("me", |id| rows.get(id).cloned());
        assert_eq!(world.ids(), ["c", "b"]);
        assert_eq!(world.list.waiting(), 0);
    }

    #[test]
    fn each_view_has_its_own_conversations() {
        let mine = ConversationSummary { assignee_id: Some("me".to_owned()), ..row("a", "1") };
        let snoozed = ConversationSummary { snoozed_until: Some("2".to_owned()), ..row("b", "1") };
        let closed = ConversationSummary { status: State::Closed, ..row("c", "1") };
        let views = |row: &ConversationSummary| {
            let all = ConversationView::ALL.into_iter();
            let of = all.filter(|view| {
                belongs(&InboxQuery { view: *view, ..InboxQuery::default() }, row, "me") == Some(true)
            });
            of.map(ConversationView::as_str).collect::<Vec<_>>()
        };
        assert_eq!(views(&mine), ["mine", "open", "all"]);
        assert_eq!(views(&snoozed), ["snoozed", "all"]);
        assert_eq!(views(&closed), ["closed", "all"]);
        assert_eq!(views(&row("d", "1")), ["unassigned", "open", "all"]);
    }

    #[test]
    fn closing_goes_to_the_next_one_and_at_the_end_to_the_one_before() {
        let world = World::new(InboxQuery::default(), &[row("a", "3"), row("b", "2"), row("c", "1")]);
        assert_eq!(world.list.neighbour("a").unwrap(), "b");
        assert_eq!(world.list.neighbour("c").unwrap(), "b");
        assert_eq!(world.list.neighbour("x").unwrap(), "a");
        assert_eq!(world.list.step(None, 1).unwrap(), "a");
        assert_eq!(world.list.step(Some("a"), -1), None);
        assert_eq!(world.list.step(Some("b"), 1).unwrap(), "c");
    }

    #[test]
    fn only_the_rows_in_view_are_drawn() {
        assert_eq!(visible_rows(0.0, 800.0, 80.0, 10_000), (0, 17));
        assert_eq!(visible_rows(400_000.0, 800.0, 80.0, 10_000), (4_994, 5_017));
        assert_eq!(visible_rows(0.0, 800.0, 80.0, 3), (0, 3));
        assert_eq!(visible_rows(9_999.0, 800.0, 80.0, 3), (3, 3));
    }
}
