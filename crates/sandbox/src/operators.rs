//! The operators' presence, and the polling intervals that are suggested to clients (2.6).

use std::time::Duration;

use chat_protocol::Presence;

use crate::Sandbox;
use crate::clock::Clock;
use crate::faults::PresenceOverrides;

/// Maximum open consoles.
const MAX_CONSOLES: u32 = 100;

/// The polling intervals that are suggested to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Used while an operator is online.
    pub online: Intervals,
    /// Used while no operator is online.
    pub away: Intervals,
}

/// Polling intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// The interval between reads of new messages.
    pub messages: Duration,
    /// The interval between reads of presence.
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
    /// Whether a test holds the operator online without a console.
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
        overrides: &PresenceOverrides,
    ) -> Presence {
        let sessions = self.sessions();
        let online = self.is_online();
        let intervals = if online { pace.online } else { pace.away };
        let millis = |interval: Duration| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        Presence {
            operator_online: online,
            operator_active_sessions: Some(sessions.into()),
            operator_last_seen_at: self.last_seen.clone(),
            should_poll_messages: overrides.should_poll_messages.unwrap_or(conversation_exists),
            presence_interval_ms: overrides
                .suggested_presence_interval_ms
                .or(Some(millis(intervals.presence))),
            message_interval_ms: overrides.suggested_message_interval_ms.or(Some(millis(intervals.messages))),
        }
    }
}

/// An open console. The operator is online while at least one exists.
#[derive(Debug)]
pub(crate) struct ConsoleSession(Sandbox);

impl ConsoleSession {
    /// Opens a console; `None` when [`MAX_CONSOLES`] are open.
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
