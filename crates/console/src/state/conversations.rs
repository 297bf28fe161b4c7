//! Conversations and their lists: loading, applying events, and the commands of operators.

use std::collections::HashMap;
use std::time::Duration;

use chat_protocol::admin::{
    ConversationChange, ConversationCounts, ConversationEvent, ConversationSummary, State, Typing,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::list::List;
use super::thread::Thread;
use super::{Session, app};
use crate::api::{ApiError, ErrorCode, requests};
use crate::browser::clock;
use crate::location::{InboxQuery, Page};
use crate::text::{conversation, inbox};

/// Conversations on a page of the list.
const PAGE: u32 = 30;
/// The minimum interval between requests of the counts.
const COUNTS_INTERVAL: Duration = Duration::from_secs(3);

/// Conversations and their lists. Copies are the same ones.
#[derive(Clone, Copy)]
pub struct Conversations {
    session: Session,
    summaries: StoredValue<HashMap<String, ArcRwSignal<ConversationSummary>>>,
    threads: StoredValue<HashMap<String, ArcRwSignal<Thread>>>,
    list: RwSignal<List>,
    /// Whether a page of the list is being loaded.
    is_loading: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    counts: RwSignal<ConversationCounts>,
    counts_pending: StoredValue<bool>,
    /// Whether something changed since the last request of the counts was sent.
    counts_stale: StoredValue<bool>,
    /// Whether the operator points at the list, so that its rows stay where they are.
    is_held: StoredValue<bool>,
    /// Whether this console erases, so that a conversation that goes is no surprise.
    is_erasing: StoredValue<bool>,
}

impl Conversations {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            summaries: StoredValue::default(),
            threads: StoredValue::default(),
            list: RwSignal::default(),
            is_loading: RwSignal::new(false),
            problem: RwSignal::new(None),
            counts: RwSignal::default(),
            counts_pending: StoredValue::new(false),
            counts_stale: StoredValue::new(false),
            is_held: StoredValue::new(false),
            is_erasing: StoredValue::new(false),
        }
    }

    /// Forgets everything, before another operator signs in.
    pub(super) fn clear(self) {
        self.summaries.set_value(HashMap::new());
        self.threads.set_value(HashMap::new());
        self.list.set(List::default());
        self.is_loading.set(false);
        self.problem.set(None);
        self.counts.set(ConversationCounts::default());
    }

    /// Returns the number of conversations of each view.
    pub fn counts(self) -> Signal<ConversationCounts> {
        self.counts.into()
    }

    /// Returns the loaded part of the list.
    pub fn list(self) -> Signal<List> {
        self.list.into()
    }

    /// Returns whether a page of the list is being loaded.
    pub fn is_loading(self) -> Signal<bool> {
        self.is_loading.into()
    }

    /// Returns why the list could not be loaded.
    pub fn problem(self) -> Signal<Option<String>> {
        self.problem.into()
    }

    /// Returns a conversation as lists show it; an empty one until it is known.
    pub fn summary(self, id: &str) -> ArcRwSignal<ConversationSummary> {
        let known = self.summaries.with_value(|summaries| summaries.get(id).cloned());
        known.unwrap_or_else(|| {
            let empty = ConversationSummary { id: id.to_owned(), ..ConversationSummary::default() };
            let signal = ArcRwSignal::new(empty);
            self.summaries.update_value(|all| _ = all.insert(id.to_owned(), signal.clone()));
            signal
        })
    }

    /// Returns the messages of a conversation that are loaded.
    pub fn thread(self, id: &str) -> ArcRwSignal<Thread> {
        let known = self.threads.with_value(|threads| threads.get(id).cloned());
        known.unwrap_or_else(|| {
            let signal = ArcRwSignal::new(Thread::default());
            self.threads.update_value(|all| _ = all.insert(id.to_owned(), signal.clone()));
            signal
        })
    }

    fn known(self, id: &str) -> Option<ConversationSummary> {
        self.summaries.with_value(|all| all.get(id).map(|signal| signal.get_untracked()))
    }

    /// Stores a conversation as the service has just sent it.
    fn store(self, summary: &ConversationSummary) {
        let signal = self.summary(&summary.id);
        // An event that was overtaken by a response is older.
        let is_older = signal.with_untracked(|known| known.message_count > summary.message_count);
        if !is_older && signal.with_untracked(|known| known != summary) {
            signal.set(summary.clone());
        }
    }

    /// Shows the list of a query.
    pub fn show(self, query: InboxQuery) {
        let is_shown = self.list.with_untracked(|list| list.query == query && list.is_loaded);
        let is_coming =
            self.is_loading.get_untracked() && self.list.with_untracked(|list| list.query == query);
        if is_shown || is_coming {
            return;
        }
        self.list.set(List::new(query));
        self.reload_list();
    }

    /// Loads the first page of the list again. Further pages are loaded by scrolling.
    pub fn reload_list(self) {
        self.load_page(None);
    }

    /// Loads the next page of the list.
    pub fn load_more(self) {
        let next = self.list.with_untracked(|list| list.next_before.clone());
        if next.is_some() && !self.is_loading.get_untracked() {
            self.load_page(next);
        }
    }

    /// Loads the page of the list that ends before an entry; without one, the first page.
    fn load_page(self, before: Option<String>) {
        let query = self.list.with_untracked(|list| list.query.clone());
        self.is_loading.set(true);
        spawn_local(async move {
            let page = requests::list_conversations(&query, before.as_deref(), PAGE).await;
            // Another list may be shown by now.
            if self.list.with_untracked(|list| list.query != query) {
                return;
            }
            self.is_loading.set(false);
            match page {
                Ok(page) => {
                    page.conversations.iter().for_each(|conversation| self.store(conversation));
                    self.list.update(|list| match before {
                        Some(_) => list.append(&page),
                        None => list.replace(&page),
                    });
                    self.problem.set(None);
                }
                // Nobody is signed in yet.
                Err(error) if error.status == 401 => {}
                Err(error) => self.problem.set(Some(error.message)),
            }
        });
    }

    /// Holds the rows of the list where they are, or lets them move again.
    pub fn hold(self, is_held: bool) {
        self.is_held.set_value(is_held);
        if !is_held {
            self.release();
        }
    }

    /// Puts all rows at their places.
    pub fn release(self) {
        let me = self.session.my_id();
        self.list.update(|list| list.release(&me, |id| self.known(id)));
    }

    /// Loads a conversation, or what is new in it.
    pub fn load(self, id: String) {
        let thread = self.thread(&id);
        spawn_local(async move {
            match requests::conversation(&id).await {
                Ok(conversation) => {
                    self.store(&conversation.summary);
                    thread.update(|thread| thread.load(conversation, clock::now_ms()));
                }
                Err(error) if error.code == ErrorCode::NotFound => self.remove(&id),
                Err(error) => app().notices.not_loaded(&error),
            }
        });
    }

    /// Loads the page of earlier messages. `done` is called afterwards, also when it failed.
    pub fn load_earlier(self, id: String, done: impl FnOnce() + 'static) {
        let thread = self.thread(&id);
        let Some(before) = thread.with_untracked(Thread::earlier) else { return done() };
        spawn_local(async move {
            match requests::messages_before(&id, before).await {
                Ok(page) => thread.update(|thread| thread.prepend(before, page)),
                Err(error) => app().notices.not_loaded(&error),
            }
            done();
        });
    }

    /// Takes an event of the stream.
    pub(super) fn apply(self, event: &ConversationEvent) {
        let id = event.conversation.id.clone();
        app().alerts.on_change(self.known(&id).as_ref(), &event.conversation, &event.messages);
        self.store(&event.conversation);
        let (me, is_held) = (self.session.my_id(), self.is_held.get_value());
        self.list.update(|list| list.apply(&event.conversation, &me, is_held, |id| self.known(id)));
        if let Some(thread) = self.threads.with_value(|threads| threads.get(&id).cloned()) {
            let mut missing = None;
            thread.update(|thread| missing = thread.apply(event));
            if let Some(after) = missing {
                self.fill(id, after);
            }
        }
        self.refresh_counts();
    }

    /// Loads the messages that follow a sequence.
    fn fill(self, id: String, after: i64) {
        let thread = self.thread(&id);
        spawn_local(async move {
            match requests::messages_after(&id, after).await {
                Ok(page) => thread.update(|thread| thread.fill(page)),
                Err(error) => app().notices.not_loaded(&error),
            }
        });
    }

    pub(super) fn apply_typing(self, typing: Typing) {
        let thread = self.threads.with_value(|threads| threads.get(&typing.conversation_id).cloned());
        if let Some(thread) = thread {
            thread.update(|thread| thread.set_typing(typing, clock::now_ms()));
        }
    }

    /// Says whether this console is erasing conversations.
    pub fn set_erasing(self, is_erasing: bool) {
        self.is_erasing.set_value(is_erasing);
    }

    /// Removes a conversation that was erased.
    pub(super) fn remove(self, id: &str) {
        self.list.update(|list| list.remove(id));
        self.threads.update_value(|threads| _ = threads.remove(id));
        let router = app().router;
        if let Page::Inbox { conversation: Some(open), query } = router.page().get_untracked()
            && open == id
        {
            if !self.is_erasing.get_value() {
                app().notices.problem(inbox::GONE.get());
            }
            router.replace(Page::Inbox { conversation: None, query });
        }
    }

    /// Loads again what is on the screen, after events were missed.
    pub(super) fn resync(self) {
        self.reload_list();
        self.refresh_counts();
        let open = match app().router.page().get_untracked() {
            Page::Inbox { conversation, .. } => conversation,
            _ => None,
        };
        // Conversations off the screen are loaded when they are opened.
        self.threads.update_value(|threads| threads.retain(|id, _| Some(id) == open.as_ref()));
        if let Some(id) = open {
            self.load(id);
        }
    }

    /// Loads the counts soon; several changes are one request, and the last one is never left out.
    pub fn refresh_counts(self) {
        if self.counts_pending.get_value() {
            self.counts_stale.set_value(true);
            return;
        }
        self.counts_pending.set_value(true);
        self.counts_stale.set_value(false);
        spawn_local(async move {
            if let Ok(counts) = requests::conversation_counts().await {
                self.counts.set(counts);
            }
            set_timeout(
                move || {
                    self.counts_pending.set_value(false);
                    if self.counts_stale.get_value() {
                        self.refresh_counts();
                    }
                },
                COUNTS_INTERVAL,
            );
        });
    }

    /// Changes a conversation. The screen shows the change when the service has accepted it.
    pub fn change(self, id: &str, change: ConversationChange) {
        let id = id.to_owned();
        spawn_local(async move {
            match requests::change_conversation(&id, &change).await {
                Ok(summary) => self.changed(&summary),
                Err(error) => tell(&error),
            }
        });
    }

    /// Puts a label on a conversation, or removes it. It is shown at once, so that the next choice builds on
    /// this one, and taken back if the service refuses it.
    pub fn toggle_label(self, id: &str, label: &str) {
        let Some(mut summary) = self.known(id) else { return };
        if summary.labels.iter().any(|known| known == label) {
            summary.labels.retain(|known| known != label);
        } else {
            summary.labels.push(label.to_owned());
        }
        let labels = Some(summary.labels.clone());
        self.store(&summary);
        let id = id.to_owned();
        spawn_local(async move {
            let change = ConversationChange { labels, ..ConversationChange::default() };
            match requests::change_conversation(&id, &change).await {
                Ok(summary) => self.changed(&summary),
                Err(error) => {
                    tell(&error);
                    self.load(id);
                }
            }
        });
    }

    /// Takes a conversation that this console has changed.
    pub fn changed(self, summary: &ConversationSummary) {
        self.store(summary);
        let me = self.session.my_id();
        self.list.update(|list| list.apply(summary, &me, false, |id| self.known(id)));
        self.refresh_counts();
    }

    /// Closes a conversation, and opens the next one of the list.
    pub fn close(self, id: &str) {
        let change = |status| ConversationChange { status: Some(status), ..ConversationChange::default() };
        self.open_next(id);
        self.change(id, change(State::Closed));
        let id = id.to_owned();
        app().notices.offer(conversation::CLOSED_NOTICE.get(), conversation::REOPEN.get(), move || {
            self.change(&id, change(State::Open));
            app().router.open(Page::conversation(&id));
        });
    }

    /// Opens the conversation after this one, if this one is open.
    pub fn open_next(self, id: &str) {
        let router = app().router;
        let Page::Inbox { conversation: Some(open), query } = router.page().get_untracked() else { return };
        if open == id {
            let next = self.list.with_untracked(|list| list.neighbour(id).cloned());
            router.open(Page::Inbox { conversation: next, query });
        }
    }

    /// Takes a conversation over. Exactly one of several operators who try gets it; the others are told who.
    pub fn take_over(self, id: &str) {
        let from = self.known(id).and_then(|known| known.assignee_id);
        let id = id.to_owned();
        spawn_local(async move {
            match requests::take_over(&id, from).await {
                Ok(summary) => {
                    self.changed(&summary);
                    app().notices.done(inbox::TAKEN_OVER.get());
                }
                Err(error) => {
                    tell(&error);
                    self.load(id);
                }
            }
        });
    }

    /// Marks a conversation as read. Nobody has asked for it: a failure is not told.
    pub fn mark_read(self, id: &str) {
        if self.known(id).is_none_or(|known| known.unread == 0) {
            return;
        }
        let id = id.to_owned();
        spawn_local(async move {
            let change = ConversationChange { read: Some(true), ..ConversationChange::default() };
            if let Ok(summary) = requests::change_conversation(&id, &change).await {
                self.changed(&summary);
            }
        });
    }
}

/// Tells the operator that a request has failed; after the end of the session, the form for signing in does.
fn tell(error: &ApiError) {
    if error.status != 401 {
        app().notices.problem(error.message.clone());
    }
}
