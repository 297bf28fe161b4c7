//! A visitor's browser, a network and a service, in which all time and all chance come from one seed.

use std::collections::BTreeMap;
use std::rc::Rc;

use chat_protocol::{IdempotencyKey, Value};
use chat_session::{Answer, Input};
use fastrand::Rng;

use super::invariants::{Invariant, Violation, hold};
use super::network::{Flight, Network};
use super::requests::Ledger;
use super::scenario::Scenario;
use super::service::Service;
use super::stats::{Fact, Stats};
use super::storage::Storage;
use super::tab::{Stirs, Tab, TabId};
use super::trace::Trace;
use super::watch::Watch;
use super::written::Written;

/// Eight tabs that all have much to tell each other keep far below this.
const MAX_INPUTS_PER_SECOND: u32 = 10_000;

/// What is going to happen.
pub enum Event {
    Wake {
        tab: TabId,
        due_ms: u64,
    },
    Hears {
        tab: TabId,
        frozen_times: u32,
        told: Rc<Value>,
        stirs: Stirs,
    },
    Arrives {
        flight: Rc<Flight>,
        again: bool,
    },
    /// The answer is there, or the browser noticed that there is none.
    Returns {
        flight: Rc<Flight>,
        answer: Option<Answer>,
    },
    Thought(IdempotencyKey),
    RepliesLate(usize),
    Recovers(TabId),
    Loads {
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
    pub written: Vec<Written>,
    /// Storage refused or was cleared: what was kept may have been put together again, or be lost.
    pub storage_failed: bool,
    /// A page hung, or the machine slept, so that two tabs may have led and each made its own first attempt.
    pub stopped: bool,
    pub ledger: Ledger,
    pub watch: Watch,
    pub stats: Stats,
    pub trace: Trace,
    queue: BTreeMap<(u64, u64), Event>,
    /// Keeps what happens in the same millisecond in the order in which it was caused.
    queued: u64,
    /// When something reached a tab last from each other one: messages between two tabs keep their order.
    pub heard_ms: BTreeMap<(usize, usize), u64>,
    /// How much has happened in the second that the clock is in.
    busy_second: u64,
    happened: u32,
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
            written: Vec::new(),
            storage_failed: false,
            stopped: false,
            ledger: Ledger::default(),
            watch: Watch::default(),
            stats: Stats::default(),
            trace,
            queue: BTreeMap::new(),
            queued: 0,
            heard_ms: BTreeMap::new(),
            busy_second: 0,
            happened: 0,
            scenario,
            rng,
        }
    }

    /// Lets time pass, and happen what happens meanwhile.
    pub fn pass(&mut self, ms: u64) -> Result<(), Violation> {
        let until_ms = self.now_ms + ms;
        while let Some(next) = self.queue.first_entry()
            && next.key().0 <= until_ms
        {
            self.now_ms = next.key().0;
            let event = next.remove();
            self.endure()?;
            self.watch()?;
            self.happen(event)?;
        }
        self.now_ms = until_ms;
        self.watch()
    }

    /// A message is on its way to the service, or the AI thinks about one.
    pub fn service_works(&self) -> bool {
        self.queue.values().any(|event| match event {
            Event::Thought(_) | Event::RepliesLate(_) => true,
            Event::Arrives { flight, .. } => flight.tag.is_some(),
            _ => false,
        })
    }

    /// One more thing happens. Tabs that answer each other's answers would go on forever, and fill all memory.
    fn endure(&mut self) -> Result<(), Violation> {
        let second = self.now_ms / 1_000;
        if self.busy_second != second {
            (self.busy_second, self.happened) = (second, 0);
        }
        self.happened += 1;
        hold(Invariant::Calm, self.happened <= MAX_INPUTS_PER_SECOND, || {
            format!("{MAX_INPUTS_PER_SECOND} things happened within second {second}")
        })
    }

    pub fn schedule(&mut self, in_ms: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((self.now_ms + in_ms, self.queued), event);
    }

    fn happen(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Wake { tab, due_ms } => self.wake(tab, due_ms),
            Event::Hears { tab, frozen_times, told, stirs } => {
                if self.tabs[tab.0].frozen_times != frozen_times {
                    return Ok(());
                }
                self.feed_stirring(tab, Input::TabMessage(Rc::unwrap_or_clone(told)), stirs)
            }
            Event::Arrives { flight, again } => self.arrives(&flight, again),
            Event::Returns { flight, answer } => self.returns(&flight, answer),
            Event::Thought(key) => {
                if let Some(thought) = self.service.think(&key, self.now_ms) {
                    if let Some((in_ms, conversation)) = thought.late {
                        self.schedule(in_ms, Event::RepliesLate(conversation));
                    }
                    // The page that asked was left. Once another reply has come, the next page expects none: that there is one more,
                    // it can know from the service alone.
                    self.service.to_be_polled |=
                        !thought.waiting.iter().any(|flight| self.is_waited_for(flight));
                    for flight in thought.waiting {
                        self.sends_back(&flight, thought.answer.clone());
                    }
                }
                Ok(())
            }
            Event::RepliesLate(conversation) => {
                self.trace.note(self.now_ms, "service", || format!("replies late in c{conversation}"));
                self.service.reply_late(conversation, self.now_ms);
                self.stats.count(Fact::LateReply);
                Ok(())
            }
            Event::Recovers(tab) => self.recover(tab),
            Event::Loads { visible } => self.load(visible).map(drop),
        }
    }
}
