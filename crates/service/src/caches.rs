//! This node's caches of the database, and their invalidation.

mod site_ids;

use std::sync::Arc;
use std::time::Duration;

use crate::ai::UsualReply;
use crate::cache::Cache;
use crate::conversations::Head;
use crate::db::Wake;
use crate::presence::OperatorsOnline;
use crate::sites::Site;
use crate::tokens::StoredToken;
use site_ids::SiteIds;

/// The time after which a row is read again even if no change was announced.
const LIFETIME: Duration = Duration::from_secs(5);
/// The lifetime of presence, which ends without an announcement when a node dies.
const PRESENCE_LIFETIME: Duration = Duration::from_secs(1);
/// The lifetime of the heads of conversations. Where this process is the only one that writes, it keeps them
/// current.
const HEAD_LIFETIME: Duration = Duration::from_mins(10);
/// The time for which an operator counts as typing. Consoles renew it.
const TYPING_LIFETIME: Duration = Duration::from_secs(10);
/// The time after which it is counted again how fast people usually answer.
const USUAL_REPLY_LIFETIME: Duration = Duration::from_mins(10);
/// Maximum cached sites, tokens and tenants.
const MAX_ENTRIES: usize = 10_000;
/// Maximum cached conversations, some 300 bytes each. Half as many can be polled at the same time without
/// reading any of them again.
const MAX_HEADS: usize = 250_000;

#[derive(Debug)]
pub(crate) struct Caches {
    /// Sites by their id; `None` where there is no such site.
    pub(crate) sites: Cache<String, Option<Arc<Site>>>,
    /// The ids of all sites, for those that pages invent.
    pub(crate) site_ids: SiteIds,
    /// Site tokens by their id; `None` where there is no such token.
    pub(crate) tokens: Cache<String, Option<Arc<StoredToken>>>,
    /// The operators that are online, by tenant.
    pub(crate) presence: Cache<String, Arc<OperatorsOnline>>,
    /// The operator who is writing to the visitor, by conversation. It is no row: nothing of it is stored.
    pub(crate) typing: Cache<String, String>,
    /// How fast people usually answer, by site.
    pub(crate) usual_replies: Cache<String, Option<UsualReply>>,
    /// Conversations by their id. Where other nodes write, they say only that a conversation exists.
    pub(crate) heads: Cache<String, Arc<Head>>,
}

impl Caches {
    pub(crate) fn new() -> Self {
        Self {
            sites: Cache::new(MAX_ENTRIES, LIFETIME),
            site_ids: SiteIds::default(),
            tokens: Cache::new(MAX_ENTRIES, LIFETIME),
            presence: Cache::new(MAX_ENTRIES, PRESENCE_LIFETIME),
            typing: Cache::new(MAX_ENTRIES, TYPING_LIFETIME),
            usual_replies: Cache::new(MAX_ENTRIES, USUAL_REPLY_LIFETIME),
            heads: Cache::new(MAX_HEADS, HEAD_LIFETIME),
        }
    }

    /// Forgets what a change makes outdated.
    pub(crate) fn invalidate(&self, wake: &Wake) {
        match wake {
            Wake::Conversation { conversation, .. } => self.heads.remove(conversation),
            Wake::Settings { .. } => {
                self.sites.clear();
                self.tokens.clear();
            }
            Wake::Presence { tenant } => self.presence.remove(tenant),
            Wake::Typing { conversation, operator, note, stopped, .. } => {
                let known = self.typing.get(conversation).ok();
                if !note && !stopped {
                    self.typing.put(self.typing.version(), conversation.clone(), operator.clone());
                } else if known.as_ref() == Some(operator) {
                    self.typing.remove(conversation);
                }
            }
            Wake::Site { .. } | Wake::Queue => {}
            Wake::Everything => {
                self.sites.clear();
                self.tokens.clear();
                self.presence.clear();
                self.heads.clear();
            }
        }
    }
}
