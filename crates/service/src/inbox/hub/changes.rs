//! The announcements that a hub takes at a time.

use std::collections::HashSet;

use chat_protocol::admin::Typing;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::db::Wake;

/// Maximum announcements that are taken at a time.
const MAX_TAKEN: usize = 256;

/// The changes of a tenant, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// In the order of their first change.
    pub(super) conversations: Vec<String>,
    pub(super) sites: HashSet<String>,
    pub(super) typing: Vec<Typing>,
    pub(super) settings: bool,
    pub(super) presence: bool,
    /// Announcements were lost, so that anything may have changed.
    pub(super) reset: bool,
}

impl Changes {
    /// Collects the announcements that have arrived, of which `first` is one.
    pub(super) fn of(first: Result<Wake, RecvError>, wakes: &mut Receiver<Wake>, tenant_id: &str) -> Self {
        let mut changes = Self::default();
        match first {
            Ok(wake) => changes.add(wake, tenant_id),
            Err(_) => changes.reset = true,
        }
        for _ in 0..MAX_TAKEN {
            match wakes.try_recv() {
                Ok(wake) => changes.add(wake, tenant_id),
                Err(TryRecvError::Lagged(_)) => changes.reset = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        changes
    }

    fn add(&mut self, wake: Wake, tenant_id: &str) {
        if wake.tenant().is_some_and(|tenant| tenant != tenant_id) {
            return;
        }
        match wake {
            Wake::Conversation { conversation, .. } => {
                if !self.conversations.contains(&conversation) {
                    self.conversations.push(conversation);
                }
            }
            Wake::Site { site, .. } => {
                self.sites.insert(site);
            }
            Wake::Typing { conversation, operator, note, stopped, .. } => self.typing.push(Typing {
                conversation_id: conversation,
                operator_id: operator,
                name: String::new(),
                note,
                stopped,
            }),
            Wake::Settings { .. } => self.settings = true,
            Wake::Presence { .. } => self.presence = true,
            Wake::Everything => self.reset = true,
            Wake::Queue => {}
        }
    }

    /// Returns whether a session may have ended.
    pub(super) fn may_end_sessions(&self) -> bool {
        self.settings || self.presence || self.reset
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast;

    use super::*;

    fn changed(tenant: &str, conversation: &str) -> Wake {
        let [tenant, site, conversation] = [tenant, "s", conversation].map(str::to_owned);
        Wake::Conversation { tenant, site, conversation }
    }

    #[test]
    fn takes_what_has_arrived_once_and_nothing_of_other_tenants() {
        let (sender, mut wakes) = broadcast::channel(16);
        for wake in [
            changed("other", "c3"),
            changed("own", "c1"),
            Wake::Settings { tenant: "other".to_owned() },
            changed("own", "c2"),
            Wake::Queue,
        ] {
            sender.send(wake).expect("a receiver");
        }
        let changes = Changes::of(Ok(changed("own", "c1")), &mut wakes, "own");
        let conversations = vec!["c1".to_owned(), "c2".to_owned()];
        assert_eq!(changes, Changes { conversations, ..Changes::default() });
    }

    #[test]
    fn lost_announcements_mean_that_anything_may_have_changed() {
        let (_sender, mut wakes) = broadcast::channel(16);
        assert!(Changes::of(Err(RecvError::Lagged(3)), &mut wakes, "own").reset);
    }
}
