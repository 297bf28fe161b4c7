//! What the simulations went through, so that they cannot go tame without anybody noticing.

use std::fmt::{self, Display, Formatter};
use std::ops::{AddAssign, Index};

/// Something that must happen now and then, or the simulations prove less than they claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    LeadTaken,
    CrashInMidSend,
    LeaderCrashed,
    LeaderHung,
    TwoLeaders,
    RequestRepeatedByService,
    Conflict,
    RestoredToNews,
    FailedThenDelivered,
    ConversationPurged,
    BegunAnew,
    LateReply,
    StorageRefused,
    StorageCleared,
    EqualTexts,
    RetryAfterHeld,
    SentBeforeItsTime,
    SentByAnotherTab,
    Forgotten,
    SwitchedOff,
    EventsLeftWithThePage,
    MachineSlept,
}

impl Fact {
    /// Each of them, what it is called in a report, and how often it must happen in ten thousand simulations.
    pub const ALL: [(Self, &'static str, u64); 22] = [
        (Self::LeadTaken, "tabs took the lead", 8_000),
        (Self::CrashInMidSend, "tabs crashed with a message on its way", 120),
        (Self::LeaderCrashed, "leaders crashed", 250),
        (Self::LeaderHung, "leaders hung", 250),
        (Self::TwoLeaders, "two tabs led for a moment", 4),
        (Self::RequestRepeatedByService, "repeated requests were answered as the first", 1_500),
        (Self::Conflict, "keys came back with another body", 1),
        (Self::RestoredToNews, "tabs came back from the cache to something new", 700),
        (Self::FailedThenDelivered, "failed messages were tried again and arrived", 20),
        (Self::ConversationPurged, "conversations were purged", 50),
        (Self::BegunAnew, "messages began a conversation anew", 20),
        (Self::LateReply, "replies came later than their answer", 1_000),
        (Self::StorageRefused, "storage refused", 3_000),
        (Self::StorageCleared, "storage was cleared", 50),
        (Self::EqualTexts, "messages said the same as one before", 1_500),
        (Self::RetryAfterHeld, "messages waited for a Retry-After", 80),
        (Self::SentBeforeItsTime, "messages were sent before their time because the visitor asked", 20),
        (Self::SentByAnotherTab, "messages were sent by another tab", 3_000),
        (Self::Forgotten, "visitors were forgotten", 50),
        (Self::SwitchedOff, "chats were switched off", 50),
        (Self::EventsLeftWithThePage, "events left with their page", 400),
        (Self::MachineSlept, "machines slept", 70),
    ];
}

/// Counts of what happened.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub simulations: u64,
    pub simulated_ms: u64,
    pub messages: u64,
    pub requests: u64,
    pub faults: u64,
    facts: [u64; Fact::ALL.len()],
}

impl Stats {
    pub fn count(&mut self, fact: Fact) {
        self.facts[fact as usize] += 1;
    }
}

impl Index<Fact> for Stats {
    type Output = u64;

    fn index(&self, fact: Fact) -> &u64 {
        &self.facts[fact as usize]
    }
}

impl AddAssign<&Self> for Stats {
    fn add_assign(&mut self, other: &Self) {
        self.simulations += other.simulations;
        self.simulated_ms += other.simulated_ms;
        self.messages += other.messages;
        self.requests += other.requests;
        self.faults += other.faults;
        for (count, more) in self.facts.iter_mut().zip(other.facts) {
            *count += more;
        }
    }
}

impl Display for Stats {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let hours = self.simulated_ms / 3_600_000;
        write!(
            out,
            "{} seeds, {hours} simulated hours, {} messages, {} requests, {} faults injected, {} changes of the lead",
            self.simulations,
            self.messages,
            self.requests,
            self.faults,
            self[Fact::LeadTaken],
        )
    }
}
