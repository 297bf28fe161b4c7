//! Long histories: the driver keeps a long response, and hands it over in parts, its newest messages first.

use std::rc::Rc;

use chat_protocol::{ConversationId, Endpoint, History, MessageId, Value, open_envelope, success};
use chat_session::{Answer, Input, Request, first_part_start, part_end};

use super::engine::{Event, Simulation};
use super::invariants::Violation;
use super::network::InFlight;
use super::stats::{Fact, Stats};
use super::tab::{PollTrigger, Queued, TabId};

/// The number of messages that are handed over ahead.
const NEWEST: u32 = 2;
/// Maximum time until the page is idle, and takes the next part. Milliseconds.
const MAX_IDLE_DELAY_MS: u64 = 100;

/// A response with more messages than a part.
pub struct LongHistory {
    history: History,
    /// The cursor of the poll that it answers.
    polled_after: Option<String>,
    /// The number of messages that the page has.
    taken: u32,
    /// The id of the last one of them.
    after: Option<MessageId>,
}

impl LongHistory {
    /// Takes the response to a poll for messages. Returns it if it is not longer than a part, without the
    /// messages that the page has.
    pub fn of(
        request: &Request,
        answer: Answer,
        part_size: usize,
        stats: &mut Stats,
    ) -> Result<Self, Answer> {
        if request.endpoint != Endpoint::Messages {
            return Err(answer);
        }
        let data = open_envelope(answer.status, answer.body.clone()).ok();
        let Some(history) = data.and_then(|data| History::try_from(data).ok()) else { return Err(answer) };
        let polled_after = parameter(request, "after").map(str::to_owned);
        let mut long = Self { history, polled_after, taken: 0, after: None };
        if long.count() <= number(part_size) {
            return Err(answer);
        }
        if let Some(after) = long.polled_after.as_deref() {
            let is_cursor = |index| long.id(index).is_some_and(|id| id.as_str() == after);
            long.taken = first_part_start(long.count(), is_cursor);
        }
        if !long.is_whole() {
            stats.count(Fact::ListedKnown);
        }
        if long.count() - long.taken <= number(part_size) {
            return Err(Answer { body: long.with(long.taken, long.count()), ..answer });
        }
        Ok(long)
    }

    fn count(&self) -> u32 {
        number(self.history.messages.len())
    }

    fn id(&self, index: u32) -> Option<&MessageId> {
        self.history.messages[index as usize].id.as_ref()
    }

    /// Returns whether a request is for the messages after those that the page has.
    fn continues(&self, request: &Request) -> bool {
        let conversation = self.history.conversation_id.as_ref().map(ConversationId::as_str);
        let after = self.after.as_ref().map(MessageId::as_str);
        after.is_some()
            && parameter(request, "after") == after
            && parameter(request, "conversationId") == conversation
    }

    /// Returns whether the page has none of it yet.
    fn is_whole(&self) -> bool {
        self.taken == 0
    }

    /// Returns the response with its newest messages alone.
    fn newest(&self) -> Value {
        self.with(self.count().saturating_sub(NEWEST), self.count())
    }

    /// Takes the next part.
    fn take_part(&mut self, part_size: usize) -> Answer {
        let (from, count) = (self.taken, self.count());
        self.taken = part_end(from, number(part_size), count, |index| self.id(index).is_some());
        self.after = self.id(self.taken - 1).cloned();
        let has_more = self.taken < count;
        Answer { status: 200, body: self.with(from, self.taken), has_more, ..Answer::default() }
    }

    /// Returns the response with these messages alone. Its `nextAfter` is that of the last one.
    fn with(&self, from: u32, to: u32) -> Value {
        let is_last = to == self.count();
        let history = History {
            conversation_id: self.history.conversation_id.clone(),
            messages: self.history.messages[from as usize..to as usize].to_vec(),
            next_after: self.history.next_after.clone().filter(|_| is_last),
            operator_typing: None,
        };
        success(Value::from(&history), "r")
    }
}

/// Returns a number of messages as the driver counts them.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns a parameter of a request.
pub fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.query.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
}

impl Simulation {
    /// Takes the history that the driver keeps for this request, if it continues the last one.
    pub fn take_kept(&mut self, tab: TabId, request: &Request) -> Option<LongHistory> {
        if request.endpoint != Endpoint::Messages {
            return None;
        }
        self.tabs[tab.0].long_history.take().filter(|history| history.continues(request))
    }

    /// Hands over the newest messages of a response, and the first part when the page is idle.
    pub fn begin_long_history(
        &mut self,
        flight: &Rc<InFlight>,
        history: LongHistory,
    ) -> Result<(), Violation> {
        let (id, request) = (flight.tab, &flight.request);
        if history.is_whole() {
            let known = self.tabs[id.0].session.entries().len();
            self.feed_with(id, Input::Newest(request.id, history.newest()), PollTrigger::No)?;
            if self.tabs[id.0].session.entries().len() > known {
                self.stats.count(Fact::NewestShownAhead);
            }
        }
        self.await_idle(flight, history);
        Ok(())
    }

    /// Schedules the next part.
    pub fn await_idle(&mut self, flight: &Rc<InFlight>, history: LongHistory) {
        let in_ms = self.rng.u64(0..=MAX_IDLE_DELAY_MS);
        self.schedule(in_ms, Event::IdleForPart { flight: Rc::clone(flight), history });
    }

    /// Hands over the next part, and keeps the rest. Keeps everything if the page has cancelled the request.
    pub fn on_idle(&mut self, flight: &Rc<InFlight>, mut history: LongHistory) -> Result<(), Violation> {
        let tab = &mut self.tabs[flight.tab.0];
        if !tab.is_live() {
            return Ok(());
        }
        if tab.hangs {
            tab.backlog.push_back(Queued::Part(Rc::clone(flight), history));
            return Ok(());
        }
        let Some(finished) = tab.take_outstanding(flight.request.id) else {
            tab.long_history = Some(history);
            return Ok(());
        };
        let part = history.take_part(self.scenario.part_size);
        let polled_after = history.polled_after.clone();
        if part.has_more {
            self.stats.count(Fact::HistoryPart);
            tab.long_history = Some(history);
        }
        self.deliver(flight, &finished, part, polled_after.as_deref())
    }
}
