//! The invariants that every simulation checks.

use std::fmt::{self, Display, Formatter};

/// A rule that holds in every simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    AcceptedOnce,
    NothingLost,
    SameKey,
    SameBody,
    ShownOnce,
    HistoryShown,
    SameOrder,
    OneLeader,
    SomeLeader,
    OnlyAllowedRequests,
    Pace,
    RetryAfter,
    MaxAttempts,
    OneInFlight,
    Deadline,
    Settles,
    UnreadAgrees,
    SeenEverywhere,
    ErasedStaysErased,
    Events,
    WellFormed,
    NoRefusalLoop,
    NoMessageLoop,
}

impl Display for Invariant {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::AcceptedOnce => "The service accepts no message twice.",
            Self::NothingLost => "Each message arrives, or is shown as failed in every tab.",
            Self::SameKey => "A message keeps its idempotency key, unless its conversation is gone.",
            Self::SameBody => "Each attempt with the same key repeats the body byte for byte.",
            Self::ShownOnce => "No message is shown more often than it was written.",
            Self::HistoryShown => "Every visible tab shows the whole history.",
            Self::SameOrder => "All tabs show messages in the service's order.",
            Self::OneLeader => "Two tabs lead for at most a second.",
            Self::SomeLeader => {
                "If there is work, a tab leads within two seconds, and a visible one soon after."
            }
            Self::OnlyAllowedRequests => "A tab sends only requests that its state allows.",
            Self::Pace => "Polls keep the interval that the service asks for, within bounds.",
            Self::RetryAfter => "A Retry-After is obeyed, up to five minutes.",
            Self::MaxAttempts => {
                "A message is attempted six times, and again only if the visitor retries it."
            }
            Self::OneInFlight => "A tab sends one message at a time.",
            Self::Deadline => "A request is cancelled at its deadline.",
            Self::Settles => "After the last fault, everything settles.",
            Self::UnreadAgrees => "All tabs show the same number of unread messages.",
            Self::SeenEverywhere => "Messages shown in an open window are unread in no tab.",
            Self::ErasedStaysErased => "Messages of an erased visitor are not shown to the next one.",
            Self::Events => {
                "A batch has 1 to 50 events and at most 60 KiB, and none is sent while tracking is disabled."
            }
            Self::WellFormed => "Requests and broadcasts are well-formed.",
            Self::NoMessageLoop => "Tabs do not answer each other without end.",
            Self::NoRefusalLoop => "A refused write does not lead to endless refused writes.",
        })
    }
}

/// A broken invariant.
#[derive(Debug)]
pub struct Violation {
    pub invariant: Invariant,
    pub detail: String,
}

impl Violation {
    pub fn new(invariant: Invariant, detail: impl Into<String>) -> Self {
        Self { invariant, detail: detail.into() }
    }
}

/// Returns a violation with this detail unless the condition holds.
pub fn check(invariant: Invariant, holds: bool, detail: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(invariant, detail())) }
}
