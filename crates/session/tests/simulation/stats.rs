//! Statistics of simulations: they prove that every situation still occurs.

use std::fmt::{self, Display, Formatter};
use std::ops::{AddAssign, Index};

/// A situation that must occur, or the simulations prove less than they claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    BecameLeader,
    CrashedWhileSending,
    LeaderCrashed,
    LeaderHung,
    TwoLeaders,
    RequestRepeatedByService,
    Conflict,
    RestoredToChanges,
    FailedThenDelivered,
    ConversationPurged,
    NewConversation,
    LateReply,
    StorageRefused,
    StorageCleared,
    EqualTexts,
    WaitedForRetryAfter,
    SentEarlyOnRetry,
    SentByAnotherTab,
    VisitorErased,
    SwitchedOff,
    EventsSentWithKeepalive,
    MachineSlept,
    ConversationContinued,
    HistoryPart,
    NewestShownAhead,
    ListedKnown,
}

impl Fact {
    /// All facts, each with its description and its minimum count in ten thousand simulations.
    pub const ALL: [(Self, &'static str, u64); 26] = [
        (Self::BecameLeader, "a tab became the leader", 8_000),
        (Self::CrashedWhileSending, "a tab crashed with a message in flight", 120),
        (Self::LeaderCrashed, "a leader crashed", 250),
        (Self::LeaderHung, "a leader hung", 250),
        (Self::TwoLeaders, "two tabs led for a moment", 4),
        (Self::RequestRepeatedByService, "a repeated request got the response of the first", 1_500),
        (Self::Conflict, "a key was repeated with another body", 1),
        (Self::RestoredToChanges, "a page was restored from the cache to new messages or writes", 700),
        (Self::FailedThenDelivered, "a failed message was retried and delivered", 20),
        (Self::ConversationPurged, "a conversation was purged", 50),
        (Self::NewConversation, "a message started a new conversation", 20),
        (Self::LateReply, "a reply came later than the response", 1_000),
        (Self::StorageRefused, "storage refused a write", 3_000),
        (Self::StorageCleared, "storage was cleared", 50),
        (Self::EqualTexts, "a message had the text of an earlier one", 1_500),
        (Self::WaitedForRetryAfter, "a message waited for a Retry-After", 80),
        (Self::SentEarlyOnRetry, "a message was sent early because the visitor retried it", 20),
        (Self::SentByAnotherTab, "a message was sent by another tab", 3_000),
        (Self::VisitorErased, "a visitor was erased", 50),
        (Self::SwitchedOff, "a chat was switched off", 50),
        (Self::EventsSentWithKeepalive, "events were sent with keepalive", 400),
        (Self::MachineSlept, "the machine slept", 70),
        (Self::ConversationContinued, "a conversation began before the first page", 2_000),
        (Self::HistoryPart, "a part of a long history was handed over", 500),
        (Self::NewestShownAhead, "the newest messages of a long history were shown ahead", 60),
        (Self::ListedKnown, "a long response listed messages up to the cursor as well", 50),
    ];
}

/// Counts of events and facts.
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
            "{} seeds, {hours} simulated hours, {} messages, {} requests, {} faults injected, {} changes of the leader",
            self.simulations,
            self.messages,
            self.requests,
            self.faults,
            self[Fact::BecameLeader],
        )
    }
}
