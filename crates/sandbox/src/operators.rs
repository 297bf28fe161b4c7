//! Who of the shop is there, and how often clients should ask (2.6).

use std::time::Duration;

use chat_protocol::Presence;

use crate::Sandbox;
use crate::clock::Clock;
use crate::faults::PresenceOverrides;

/// Maximum consoles that are open at a time.
const MAX_CONSOLES: u32 = 100;

/// How often clients are told to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// While an operator is online.
    pub online: Intervals,
    /// While nobody is.
    pub away: Intervals,
}

/// The time between one question and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// For new messages.
    pub messages: Duration,
    /// For presence.
    pub presence: Duration,
}

impl Default for Pace {
    /// Messages every 2 s and presence every 4 s while an operator is online, else 10 s and 15 s.
    fn default() -> Self {
        let every = |messages, presence| Intervals {
            messages: Duration::from_secs(messages),
            presence: Duration::from_secs(presence),
        };
        Self { online: every(2, 4), away: every(10, 15) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Operators {
    consoles: u32,
    /// Held online by a test, without a console.
    pub(crate) forced_online: bool,
    last_seen: Option<String>,
}

impl Operators {
    pub(crate) fn mark_seen(&mut self, clock: Clock) {
        self.last_seen = Some(clock.now());
    }

    fn sessions(&self) -> u32 {
        self.consoles + u32::from(self.forced_online)
    }

    pub(crate) fn is_online(&self) -> bool {
        self.sessions() > 0
    }

    pub(crate) fn presence(
        &self,
        pace: &Pace,
        conversation_exists: bool,
        say: &PresenceOverrides,
    ) -> Presence {
        let sessions = self.sessions();
        let online = self.is_online();
        let intervals = if online { pace.online } else { pace.away };
        let millis = |interval: Duration| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        Presence {
            operator_online: online,
            operator_active_sessions: Some(sessions.into()),
            operator_last_seen_at: self.last_seen.clone(),
            should_poll_messages: say.should_poll_messages.unwrap_or(conversation_exists),
            presence_interval_ms: say.suggested_presence_interval_ms.or(Some(millis(intervals.presence))),
            message_interval_ms: say.suggested_message_interval_ms.or(Some(millis(intervals.messages))),
        }
    }
}

/// An open console. The operator is online for as long as one of these is alive.
#[derive(Debug)]
pub(crate) struct ConsoleSession(Sandbox);

impl ConsoleSession {
    /// Opens one; `None` when [`MAX_CONSOLES`] are open.
    pub(crate) fn open(sandbox: &Sandbox) -> Option<Self> {
        let mut operators = sandbox.operators();
        if operators.consoles >= MAX_CONSOLES {
            return None;
        }
        operators.consoles += 1;
        operators.mark_seen(sandbox.0.clock);
        Some(Self(sandbox.clone()))
    }
}

impl Drop for ConsoleSession {
    fn drop(&mut self) {
        let mut operators = self.0.operators();
        operators.consoles -= 1;
        operators.mark_seen(self.0.0.clock);
    }
}
