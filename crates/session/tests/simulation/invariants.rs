//! The invariants, each by a name that says which one a seed has broken.

use std::fmt::{self, Display, Formatter};

/// What a visitor and a service can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    OnceOnTheServer,
    NothingLost,
    SameKey,
    SameBody,
    ShownOnce,
    ListedIsShown,
    SameOrder,
    OneLeader,
    SomeLeader,
    NothingForbidden,
    Pace,
    RetryAfter,
    SixAttempts,
    OneInFlight,
    Deadline,
    Settles,
    UnreadAgrees,
    UnreadIsSeen,
    Forgets,
    Events,
    WellFormed,
    RefusalsEnd,
    Calm,
}

impl Display for Invariant {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OnceOnTheServer => "No message of the visitor is on the server twice.",
            Self::NothingLost => "Each message of the visitor arrives, or is shown as failed in every tab.",
            Self::SameKey => "A message keeps its key, unless the service lost its conversation.",
            Self::SameBody => "Each attempt under a key repeats the body to the byte.",
            Self::ShownOnce => "Nothing is shown more often than it was said.",
            Self::ListedIsShown => "What the service lists is shown in every visible tab.",
            Self::SameOrder => "All tabs show the service's order.",
            Self::OneLeader => "Two tabs lead for no longer than a second.",
            Self::SomeLeader => {
                "Where there is anything to do, a tab leads within two seconds, and a visible one soon after."
            }
            Self::NothingForbidden => "Nothing is asked for by a tab that may not ask.",
            Self::Pace => "Reads keep to the pace that the service asked for, within bounds.",
            Self::RetryAfter => "A Retry-After is waited for, up to five minutes.",
            Self::SixAttempts => "A message is tried six times, and not more until the visitor says so.",
            Self::OneInFlight => "A tab sends one message at a time.",
            Self::Deadline => "A request is given up at its deadline.",
            Self::Settles => "Once all works, everything settles.",
            Self::UnreadAgrees => "All tabs count the same as unread, and nothing twice.",
            Self::UnreadIsSeen => "What one tab shows is unread in none.",
            Self::Forgets => "What was forgotten is not shown to the next visitor.",
            Self::Events => "1 to 50 events leave at a time, within 60 KiB, unless the service wants none.",
            Self::WellFormed => "What leaves a session can be read.",
            Self::Calm => "Tabs come to an end with what they tell each other.",
            Self::RefusalsEnd => "A refusal of storage leads to no endless refusals.",
        })
    }
}

/// A invariant that was broken, and how.
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

/// `Ok` when it holds; otherwise the invariant is broken, and the detail says how.
pub fn hold(invariant: Invariant, holds: bool, detail: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(invariant, detail())) }
}
