//! The simulation engine: an event queue whose time and randomness come from one seed.

use std::collections::BTreeMap;
use std::rc::Rc;

use chat_protocol::{IdempotencyKey, Value};
use chat_session::{Answer, Input};
use fastrand::Rng;

use super::invariants::{Invariant, Violation, check};
use super::long_history::LongHistory;
use super::messages::VisitorMessage;
use super::network::{InFlight, Network};
use super::requests::Ledger;
use super::scenario::Scenario;
use super::service::Service;
use super::stats::{Fact, Stats};
use super::storage::Storage;
use super::tab::{PollTrigger, Tab, TabId};
use super::trace::Trace;
use super::watch::Watch;

/// Maximum number of events within a second. Eight busy tabs stay far below it.
const MAX_INPUTS_PER_SECOND: u32 = 10_000;

/// A scheduled event.
pub enum Event {
    TimerFires {
        tab: TabId,
        due_ms: u64,
    },
    TabMessage {
        tab: TabId,
        frozen_times: u32,
        message: Rc<Value>,
        trigger: PollTrigger,
    },
    RequestArrives {
        flight: Rc<InFlight>,
        again: bool,
    },
    /// The response arrives, or the browser notices that there is none.
    ResponseArrives {
        flight: Rc<InFlight>,
        answer: Option<Answer>,
    },
    /// The page is idle, and takes the next part of a long history.
    IdleForPart {
        flight: Rc<InFlight>,
        history: LongHistory,
    },
    AiReplies(IdempotencyKey),
    LateReply(usize),
    HangEnds(TabId),
    PageLoads {
        visible: bool,
    },
}

pub struct Simulation {
    pub now_ms: u64,
    pub scenario: Scenario,
    pub rng: Rng,
    pub tabs: Vec<Tab>,
    pub storage: Storage,
    pub service: Service,
    pub network: Network,
    pub online: bool,
    pub messages: Vec<VisitorMessage>,
    /// The first history of a conversation that began earlier is not merged yet.
    pub merges_first_history: bool,
    /// Storage refused a write or was cleared: stored state may be incomplete.
    pub storage_failed: bool,
    /// A page hung, or the machine slept: two tabs may have led, and each made its own first attempt.
    pub has_hung: bool,
    pub ledger: Ledger,
    pub watch: Watch,
    pub stats: Stats,
    pub trace: Trace,
    queue: BTreeMap<(u64, u64), Event>,
    /// The number of events scheduled so far: events of the same millisecond happen in the order of
    /// scheduling.
    sequence: u64,
    /// The time of the last delivery from one tab to another: messages between two tabs keep their order.
    pub last_delivery_ms: BTreeMap<(usize, usize), u64>,
    /// The second in which `events_in_second` were counted.
    current_second: u64,
    events_in_second: u32,
}

impl Simulation {
    pub fn new(scenario: Scenario, mut rng: Rng, trace: Trace) -> Self {
        Self {
            now_ms: 0,
            tabs: Vec::new(),
            storage: Storage::new(rng.fork()),
            service: Service::new(scenario.clone(), rng.fork()),
            network: Network::new(rng.fork()),
            online: true,
            messages: Vec::new(),
            merges_first_history: false,
            storage_failed: false,
            has_hung: false,
            ledger: Ledger::default(),
            watch: Watch::default(),
            stats: Stats::default(),
            trace,
            queue: BTreeMap::new(),
            sequence: 0,
            last_delivery_ms: BTreeMap::new(),
            current_second: 0,
            events_in_second: 0,
            scenario,
            rng,
        }
    }

    /// Lets time pass, and handles the events that are due.
    pub fn advance(&mut self, ms: u64) -> Result<(), Violation> {
        let until_ms = self.now_ms + ms;
        while let Some(next) = self.queue.first_entry()
            && next.key().0 <= until_ms
        {
            self.now_ms = next.key().0;
            let event = next.remove();
            self.check_event_rate()?;
            self.watch()?;
            self.dispatch(event)?;
        }
        self.now_ms = until_ms;
        self.watch()
    }

    /// Returns whether a message is in flight to the service, or waits for the AI.
    pub fn is_service_busy(&self) -> bool {
        self.queue.values().any(|event| match event {
            Event::AiReplies(_) | Event::LateReply(_) => true,
            Event::RequestArrives { flight, .. } => flight.tag.is_some(),
            _ => false,
        })
    }

    /// Counts an event. Tabs that reply to each other's replies would never end, and fill the memory.
    fn check_event_rate(&mut self) -> Result<(), Violation> {
        let second = self.now_ms / 1_000;
        if self.current_second != second {
            (self.current_second, self.events_in_second) = (second, 0);
        }
        self.events_in_second += 1;
        check(Invariant::NoMessageLoop, self.events_in_second <= MAX_INPUTS_PER_SECOND, || {
            format!("more than {MAX_INPUTS_PER_SECOND} events in second {second}")
        })
    }

    pub fn schedule(&mut self, in_ms: u64, event: Event) {
        self.sequence += 1;
        self.queue.insert((self.now_ms + in_ms, self.sequence), event);
    }

    fn dispatch(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::TimerFires { tab, due_ms } => self.wake(tab, due_ms),
            Event::TabMessage { tab, frozen_times, message, trigger } => {
                if self.tabs[tab.0].frozen_times != frozen_times {
                    return Ok(());
                }
                self.feed_with(tab, Input::TabMessage(Rc::unwrap_or_clone(message)), trigger)
            }
            Event::RequestArrives { flight, again } => self.on_arrival(&flight, again),
            Event::ResponseArrives { flight, answer } => self.on_response(&flight, answer),
            Event::IdleForPart { flight, history } => self.on_idle(&flight, history),
            Event::AiReplies(key) => {
                if let Some(result) = self.service.think(&key, self.now_ms) {
                    if let Some((in_ms, conversation)) = result.late {
                        self.schedule(in_ms, Event::LateReply(conversation));
                    }
                    // If the page was left, the next page may not await this reply. Only the service's hint
                    // makes it poll.
                    self.service.has_unpolled |= !result.waiting.iter().any(|flight| self.is_awaited(flight));
                    for flight in result.waiting {
                        self.send_response(&flight, result.answer.clone());
                    }
                }
                Ok(())
            }
            Event::LateReply(conversation) => {
                self.trace.note(self.now_ms, "service", || format!("replies late in c{conversation}"));
                self.service.write_late_reply(conversation, self.now_ms);
                self.stats.count(Fact::LateReply);
                Ok(())
            }
            Event::HangEnds(tab) => self.recover(tab),
            Event::PageLoads { visible } => self.load(visible).map(drop),
        }
    }
}
