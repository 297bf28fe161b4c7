//! The responses to polls and to batches of events.

use chat_protocol::{ErrorCode, EventBatch, History, MessageId, Presence, Tracking, Value};
use chat_session::{Answer, Request};

use super::{Service, StoredMessage, ok, refuse};
use crate::simulation::invariants::{Invariant, Violation};
use crate::simulation::long_history::parameter;
use crate::simulation::scenario::NextAfter;

impl Service {
    pub(super) fn history(&mut self, request: &Request) -> Answer {
        let id = parameter(request, "conversationId").unwrap_or_default().into();
        let Some(conversation) = self.live_conversation(&id) else {
            return refuse(404, &ErrorCode::NotFound);
        };
        let after = parameter(request, "after").map(MessageId::from);
        let conversation = &self.conversations[conversation];
        let listed: Vec<&StoredMessage> = self.listing(conversation).collect();
        let start = match &after {
            Some(after) if self.scenario.honours_after => {
                listed.iter().position(|message| message.id() == *after).map_or(0, |index| index + 1)
            }
            _ => 0,
        };
        let page = &listed[start..listed.len().min(start.saturating_add(self.scenario.page_size))];
        let last = || page.last().map(|message| message.id()).or_else(|| after.clone());
        let next_after = match self.scenario.next_after {
            NextAfter::Missing => None,
            NextAfter::Last => last(),
            NextAfter::Repeated => after.clone(),
            NextAfter::Back if listed.is_empty() || self.rng.bool() => last(),
            NextAfter::Back => Some(listed[self.rng.usize(..listed.len())].id()),
        };
        let messages = page.iter().map(|message| self.to_wire(message)).collect();
        ok(Value::from(&History { conversation_id: Some(id), messages, next_after, operator_typing: None }))
    }

    pub(super) fn presence(&self, request: &Request) -> Answer {
        let is_known = parameter(request, "conversationId")
            .is_some_and(|id| self.live_conversation(&id.into()).is_some());
        if !is_known {
            return refuse(404, &ErrorCode::NotFound);
        }
        let presence = Presence {
            operator_online: self.operator_joined,
            should_poll_messages: self.has_unpolled || !self.scenario.hints_when_to_poll,
            presence_interval_ms: self.scenario.presence_hint,
            message_interval_ms: self.scenario.messages_hint,
            ..Presence::default()
        };
        ok(Value::from(&presence))
    }

    pub(super) fn events(&self, request: &Request) -> Result<Answer, Violation> {
        let malformed =
            |what: String| Violation::new(Invariant::WellFormed, format!("a batch of events: {what}"));
        let read = serde_json::from_str::<Value>(request.body.as_deref().unwrap_or_default());
        let read = read.map_err(|error| malformed(error.to_string()))?;
        let batch = EventBatch::try_from(read).map_err(|unusable| malformed(unusable.to_string()))?;
        if let Some(refused) = batch.refused.first() {
            return Err(malformed(refused.to_string()));
        }
        let accepted = i64::try_from(batch.events.len()).unwrap_or(0);
        Ok(ok(Value::from(&Tracking { accepted, rejected: 0, enabled: self.scenario.tracks })))
    }
}
