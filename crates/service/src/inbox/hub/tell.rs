//! What a hub tells its consoles.

use std::collections::HashSet;
use std::time::Duration;

use chat_protocol::admin::{ConversationEvent, Typing};
use tokio::time::Instant;
use tracing::warn;

use super::super::frames::json;
use super::super::team;
use super::Hub;
use super::changes::Changes;
use crate::Service;
use crate::conversations::summary;
use crate::fingerprint::fingerprint;

/// The time for which an operator counts as typing.
const TYPING: Duration = Duration::from_secs(10);
/// Maximum conversations whose last event is remembered, so that it is not repeated.
const MAX_REMEMBERED: usize = 2000;

impl Hub {
    /// Tells the consoles of changes.
    pub(super) async fn tell(&self, service: &Service, changes: Changes) {
        if changes.may_end_sessions() {
            self.check_sessions(service).await;
        }
        for typing in changes.typing {
            self.tell_typing(typing);
        }
        if changes.reset {
            self.state().reset();
        } else if !changes.conversations.is_empty() {
            self.tell_conversations(service, &changes.conversations).await;
        }
        if changes.settings {
            self.send("settings", "{}");
        }
        if changes.presence || changes.settings || changes.reset {
            self.tell_team(service).await;
        }
    }

    async fn tell_conversations(&self, service: &Service, ids: &[String]) {
        let found = summary::events(service.db(), service.now_ms(), &self.tenant_id, ids).await;
        let mut found = match found {
            Ok(found) => found,
            Err(error) => {
                warn!("changed conversations cannot be read: {error}");
                return self.state().reset();
            }
        };
        let mut state = self.state();
        for id in ids {
            let (event, data) = match found.remove(id) {
                Some(changed) => ("conversation", json::<ConversationEvent>(&changed)),
                None => ("removed", json(&serde_json::json!({ "conversationId": id }))),
            };
            // On PostgreSQL, a node hears of its own changes twice.
            let hash = fingerprint(&[data.as_bytes()]);
            if state.last.insert(id.clone(), hash) == Some(hash) {
                continue;
            }
            if state.last.len() > MAX_REMEMBERED {
                state.last.clear();
            }
            let frame = state.ring.push(event, &data);
            state.send(frame);
        }
    }

    fn tell_typing(&self, mut typing: Typing) {
        let mut state = self.state();
        let Some(member) = state.team.iter().find(|member| member.id == typing.operator_id) else { return };
        typing.name.clone_from(&member.name);
        let key = (typing.conversation_id.clone(), typing.operator_id.clone());
        if typing.stopped {
            if state.typing.remove(&key).is_none() {
                return;
            }
        } else {
            state.typing.insert(key, (typing.clone(), Instant::now() + TYPING));
        }
        let frame = state.ring.passing("typing", &json(&typing), Some(typing.operator_id.clone()));
        state.send(frame);
    }

    pub(super) fn tell_sites(&self, sites: &mut HashSet<String>) {
        for site in sites.drain() {
            self.send("site", &json(&serde_json::json!({ "siteId": site })));
        }
    }

    /// Tells who is there, if that has changed.
    pub(super) async fn tell_team(&self, service: &Service) {
        match team::members(service, &self.tenant_id).await {
            Ok(team) => {
                let mut state = self.state();
                if state.team != team {
                    let frame = state.ring.push("team", &json(&team));
                    state.send(frame);
                    state.team = team;
                }
            }
            Err(error) => warn!("the presence of operators cannot be read: {error}"),
        }
    }

    fn send(&self, event: &str, json: &str) {
        let mut state = self.state();
        let frame = state.ring.push(event, json);
        state.send(frame);
    }
}
