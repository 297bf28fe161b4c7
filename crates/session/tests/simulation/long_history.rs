//! Long histories: the driver keeps a long response, and hands it over in parts, its newest messages first.

use std::rc::Rc;

use chat_protocol::{ConversationId, Endpoint, History, MessageId, Value, open_envelope, success};
use chat_session::{Answer, Input, Request};

use super::engine::{Event, Simulation};
use super::invariants::Violation;
use super::network::InFlight;
use super::stats::Fact;
use super::tab::{PollTrigger, Queued, TabId};

/// The number of messages that are handed over ahead.
const NEWEST: usize = 2;
/// Maximum time until the page is idle, and takes the next part. Milliseconds.
const MAX_IDLE_DELAY_MS: u64 = 100;

/// A response with more messages than a part.
pub struct LongHistory {
    history: History,
    /// The number of messages that the page has.
    taken: usize,
    /// The id of the last one of them.
    after: Option<MessageId>,
}

impl LongHistory {
    /// Returns the history of a response to a poll for messages, if it is longer than a part.
    pub fn of(request: &Request, answer: &Answer, part_size: usize) -> Option<Self> {
        if request.endpoint != Endpoint::Messages {
            return None;
        }
        let data = open_envelope(answer.status, answer.body.clone()).ok()?;
        let history = History::try_from(data).ok()?;
        (history.messages.len() > part_size).then_some(Self { history, taken: 0, after: None })
    }

    /// Returns whether a request is for the messages after those that the page has.
    fn continues(&self, request: &Request) -> bool {
        let conversation = self.history.conversation_id.as_ref().map(ConversationId::as_str);
        let after = self.after.as_ref().map(MessageId::as_str);
        after.is_some()
            && parameter(request, "after") == after
            && parameter(request, "conversationId") == conversation
    }

    /// Returns the response with its newest messages alone.
    fn newest(&self) -> Value {
        let count = self.history.messages.len();
        self.with(count.saturating_sub(NEWEST), count)
    }

    /// Takes the next part, which ends with a message that has an id: the session polls after it.
    fn take_part(&mut self, part_size: usize) -> Answer {
        let (from, messages) = (self.taken, &self.history.messages);
        let last = (from + part_size).min(messages.len()) - 1;
        let end = (last..messages.len()).find(|index| messages[*index].id.is_some());
        self.taken = end.map_or(messages.len(), |end| end + 1);
        self.after = messages[self.taken - 1].id.clone();
        let has_more = self.taken < messages.len();
        Answer { status: 200, body: self.with(from, self.taken), has_more, ..Answer::default() }
    }

    /// Returns the response with these messages alone. Its `nextAfter` is that of the last one.
    fn with(&self, from: usize, to: usize) -> Value {
        let is_last = to == self.history.messages.len();
        let history = History {
            conversation_id: self.history.conversation_id.clone(),
            messages: self.history.messages[from..to].to_vec(),
            next_after: self.history.next_after.clone().filter(|_| is_last),
        };
        success(Value::from(&history), "r")
    }
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
        let known = self.tabs[id.0].session.entries().len();
        self.feed_with(id, Input::Newest(request.id, history.newest()), PollTrigger::No)?;
        if self.tabs[id.0].session.entries().len() > known {
            self.stats.count(Fact::NewestShownAhead);
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
        if part.has_more {
            self.stats.count(Fact::HistoryPart);
            tab.long_history = Some(history);
        }
        self.deliver(flight, &finished, part)
    }
}
