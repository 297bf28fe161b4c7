//! A reply or a note that the service does not have yet.

use serde::{Deserialize, Serialize};

use super::BACK_OFF;
use crate::state::DraftKind;

/// The state of a pending message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PendingState {
    /// Waits, and can be taken back.
    #[default]
    Held,
    /// Is being sent.
    Sending,
    /// Was sent without an answer, and waits for the next attempt.
    BackingOff,
    /// The service has refused it, for this reason.
    Failed(String),
}

/// A pending message. Its text never changes once it has a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingMessage {
    /// The idempotency key.
    pub key: String,
    /// The conversation's id.
    pub conversation: String,
    /// A reply or a note.
    pub kind: DraftKind,
    /// The text.
    pub text: String,
    /// Whether the conversation is closed with it.
    pub close: bool,
    /// When the next attempt is due, in milliseconds since 1970.
    pub due_ms: f64,
    /// When it was written, in milliseconds since 1970.
    pub created_ms: f64,
    /// Whether the browser has stored it.
    #[serde(skip, default = "stored")]
    pub is_stored: bool,
    /// The state.
    pub state: PendingState,
    /// The number of failed attempts.
    attempts: u32,
}

/// Returns the value for messages read from storage, which are stored.
fn stored() -> bool {
    true
}

impl PendingMessage {
    pub(super) fn new(key: String, conversation: &str, kind: DraftKind, text: String, now_ms: f64) -> Self {
        Self {
            key,
            conversation: conversation.to_owned(),
            kind,
            text,
            close: false,
            due_ms: now_ms,
            created_ms: now_ms,
            is_stored: false,
            state: PendingState::Held,
            attempts: 0,
        }
    }

    /// Nobody waits any more for a response that another page has requested.
    pub(super) fn after_reload(&mut self) {
        if matches!(self.state, PendingState::Sending | PendingState::BackingOff) {
            self.state = PendingState::BackingOff;
            self.due_ms = 0.0;
        }
    }

    pub(super) fn end_undo(&mut self) {
        if self.state == PendingState::Held {
            self.due_ms = 0.0;
        }
    }

    pub(super) fn end_wait(&mut self) {
        if self.state == PendingState::BackingOff {
            self.due_ms = 0.0;
        }
    }

    /// Waits for the next attempt: as long as the service asks, otherwise for a back-off with this jitter.
    pub(super) fn back_off(&mut self, now_ms: f64, asked_ms: Option<f64>, random: f64) {
        let wait_ms = asked_ms.unwrap_or(BACK_OFF.wait_ms(self.attempts, random));
        self.attempts += 1;
        self.state = PendingState::BackingOff;
        self.due_ms = now_ms + wait_ms.min(BACK_OFF.max_ms);
    }
}

/// Returns the messages to send now, and when the next one is due. The messages of a conversation keep their
/// order: none is sent before an earlier one has arrived or failed.
pub(super) fn schedule(all: &[PendingMessage], now_ms: f64) -> (Vec<PendingMessage>, Option<f64>) {
    let mut due = Vec::new();
    let mut next_ms: Option<f64> = None;
    let mut busy: Vec<&str> = Vec::new();
    for message in all {
        if matches!(message.state, PendingState::Failed(_)) || busy.contains(&message.conversation.as_str()) {
            continue;
        }
        busy.push(&message.conversation);
        if message.state == PendingState::Sending {
            continue;
        }
        if message.due_ms <= now_ms {
            due.push(message.clone());
        } else {
            next_ms = Some(next_ms.map_or(message.due_ms, |next| next.min(message.due_ms)));
        }
    }
    (due, next_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(key: &str, conversation: &str, due_ms: f64) -> PendingMessage {
        PendingMessage::new(key.to_owned(), conversation, DraftKind::Reply, "Hi".to_owned(), due_ms)
    }

    fn due(all: &[PendingMessage], now_ms: f64) -> Vec<String> {
        schedule(all, now_ms).0.into_iter().map(|message| message.key).collect()
    }

    #[test]
    fn messages_of_a_conversation_are_sent_one_after_another() {
        let mut all = vec![message("1", "a", 10.0), message("2", "a", 0.0), message("3", "b", 0.0)];
        assert_eq!(due(&all, 5.0), ["3"], "the first of `a` can still be taken back");
        assert_eq!(schedule(&all, 5.0).1, Some(10.0));
        assert_eq!(due(&all, 10.0), ["1", "3"]);
        all[0].state = PendingState::Sending;
        assert_eq!(due(&all, 10.0), ["3"]);
        all[0].state = PendingState::Failed("refused".to_owned());
        assert_eq!(due(&all, 10.0), ["2", "3"], "what was refused holds nothing up");
    }

    #[test]
    fn waits_grow_up_to_a_maximum_and_follow_the_service() {
        let mut one = message("1", "a", 0.0);
        let mut waits = Vec::new();
        for _ in 0..7 {
            one.back_off(0.0, None, 1.0);
            waits.push(one.due_ms);
        }
        assert_eq!(waits, [1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 30_000.0, 30_000.0]);
        one.back_off(100.0, Some(5_000.0), 0.0);
        assert!((one.due_ms - 5_100.0).abs() < 0.001);
    }

    #[test]
    fn a_message_in_flight_is_repeated_after_a_reload_with_its_key() {
        let mut one = message("1", "a", 99.0);
        one.state = PendingState::Sending;
        let stored = serde_json::to_string(&one).unwrap();
        let mut read: PendingMessage = serde_json::from_str(&stored).unwrap();
        read.after_reload();
        assert_eq!(due(&[read], 0.0), ["1"]);
        let mut held = message("2", "a", 99.0);
        held.after_reload();
        assert_eq!(due(&[held], 98.0), [""; 0], "it can still be taken back");
    }
}
