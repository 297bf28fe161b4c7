//! The changes that nodes announce to each other.

use std::fmt;
use std::sync::Arc;

use tokio::sync::broadcast;

/// Maximum announcements that a slow receiver can be behind.
const MAX_WAKES: usize = 1024;

/// Passes announcements on: first to the caches of this node, which then hold nothing outdated when the
/// writer gets its answer, and then to everybody who waits for changes.
#[derive(Clone)]
pub(super) struct Announcer {
    caches: Arc<dyn Fn(&Wake) + Send + Sync>,
    receivers: broadcast::Sender<Wake>,
}

impl fmt::Debug for Announcer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Announcer")
    }
}

impl Announcer {
    pub(super) fn new(caches: Arc<dyn Fn(&Wake) + Send + Sync>) -> Self {
        Self { caches, receivers: broadcast::Sender::new(MAX_WAKES) }
    }

    pub(super) fn invalidate(&self, wake: &Wake) {
        (self.caches)(wake);
    }

    pub(super) fn announce(&self, wake: Wake) {
        self.invalidate(&wake);
        // Fails when nobody waits.
        let _ = self.receivers.send(wake);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Wake> {
        self.receivers.subscribe()
    }
}

/// A committed change. On PostgreSQL it reaches all nodes by `NOTIFY`, as the text of its `Display`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wake {
    /// A conversation has changed: its tenant, its site, its id.
    Conversation { tenant: String, site: String, conversation: String },
    /// Content, reviews, jobs or events of a site have changed.
    Site { tenant: String, site: String },
    /// A site's settings or tokens, or a tenant's people or sessions have changed, so that no node may go on
    /// using what it has cached.
    Settings { tenant: String },
    /// The operators that are online have changed.
    Presence { tenant: String },
    /// An operator is typing, or has stopped. Nothing of it is stored.
    Typing { tenant: String, conversation: String, operator: String, note: bool, stopped: bool },
    /// Something waits in a queue: of webhooks or of e-mails.
    Queue,
    /// Announcements were lost, so that anything may have changed.
    Everything,
}

impl Wake {
    /// Returns the tenant that the change belongs to; `None` for changes of no tenant in particular.
    pub(crate) fn tenant(&self) -> Option<&str> {
        match self {
            Self::Conversation { tenant, .. }
            | Self::Site { tenant, .. }
            | Self::Settings { tenant }
            | Self::Presence { tenant }
            | Self::Typing { tenant, .. } => Some(tenant),
            Self::Queue | Self::Everything => None,
        }
    }

    /// Returns whether the announcement is part of the transaction, as one that revokes something must be: no
    /// node may go on using what it has cached, even if this one dies after its commit. The others follow the
    /// commit, which then holds no lock of the whole server.
    pub(super) fn is_committed(&self) -> bool {
        matches!(self, Self::Settings { .. } | Self::Everything)
    }

    /// Returns the announcement as a payload of `NOTIFY`. Ids contain no spaces.
    pub(super) fn payload(&self) -> String {
        match self {
            Self::Conversation { tenant, site, conversation } => {
                format!("conversation {tenant} {site} {conversation}")
            }
            Self::Site { tenant, site } => format!("site {tenant} {site}"),
            Self::Settings { tenant } => format!("settings {tenant}"),
            Self::Presence { tenant } => format!("presence {tenant}"),
            Self::Typing { tenant, conversation, operator, note, stopped } => {
                let (note, stopped) = (u8::from(*note), u8::from(*stopped));
                format!("typing {tenant} {conversation} {operator} {note} {stopped}")
            }
            Self::Queue => "queue".to_owned(),
            Self::Everything => "everything".to_owned(),
        }
    }

    /// Reads a payload. One that is not understood, as of a newer version, may mean anything.
    pub(super) fn from_payload(payload: &str) -> Self {
        let words: Vec<&str> = payload.split(' ').collect();
        let owned = |word: &str| word.to_owned();
        match words.as_slice() {
            ["conversation", tenant, site, conversation] => Self::Conversation {
                tenant: owned(tenant),
                site: owned(site),
                conversation: owned(conversation),
            },
            ["site", tenant, site] => Self::Site { tenant: owned(tenant), site: owned(site) },
            ["settings", tenant] => Self::Settings { tenant: owned(tenant) },
            ["presence", tenant] => Self::Presence { tenant: owned(tenant) },
            ["typing", tenant, conversation, operator, note, stopped] => Self::Typing {
                tenant: owned(tenant),
                conversation: owned(conversation),
                operator: owned(operator),
                note: *note == "1",
                stopped: *stopped == "1",
            },
            ["queue"] => Self::Queue,
            _ => Self::Everything,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_gives_the_same_announcement() {
        let text = |text: &str| text.to_owned();
        for wake in [
            Wake::Conversation { tenant: text("t"), site: text("s"), conversation: text("c") },
            Wake::Site { tenant: text("t"), site: text("s") },
            Wake::Settings { tenant: text("t") },
            Wake::Presence { tenant: text("t") },
            Wake::Typing {
                tenant: text("t"),
                conversation: text("c"),
                operator: text("o"),
                note: true,
                stopped: false,
            },
            Wake::Queue,
            Wake::Everything,
        ] {
            assert_eq!(Wake::from_payload(&wake.payload()), wake);
        }
        assert_eq!(Wake::from_payload("of a newer version"), Wake::Everything);
    }
}
