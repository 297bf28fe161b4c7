//! How a session begins: on a page that loads, on one that comes back, and when the visitor agrees to be remembered.

use super::Session;
use crate::config_loader::ConfigLoader;
use crate::election::Election;
use crate::identity::Identity;
use crate::in_flight::InFlightRequests;
use crate::outbox::Outbox;
use crate::poller::Poller;
use crate::random::Random;
use crate::stored::{self, Stored, keys};
use crate::tab_sync::{TabMessage, TabSync};
use crate::timeline::Timeline;
use crate::tracking::Tracking;
use crate::wait::Waiting;
use crate::{Effect, Reports, Start};

impl Session {
    /// Begins, or goes on where this browser left off. Gives what is to be done first.
    pub fn start(start: Start) -> (Self, Vec<Effect>) {
        let Start {
            now_ms,
            seed,
            mut stored,
            config,
            visitor,
            customer_id,
            locale,
            reports,
            visible,
            online,
        } = start;
        let mut random = Random::new(seed);
        let stored_config = stored::take(&mut stored, &[keys::PREFIX, keys::CONFIG].concat());
        let stored_config = stored_config.get("data").cloned();
        let suffix = stored::suffix(customer_id.as_deref());
        let mut stored = stored::of_customer(stored, &suffix);
        let kept = stored::visitor(&stored::take(&mut stored, keys::VISITOR));
        let named = visitor.visitor_id.clone().filter(|id| !id.as_str().is_empty());
        let known = named.or(kept);
        let is_new = known.is_none();
        let visitor_id = known.unwrap_or_else(|| stored::new_visitor(&mut random));
        let mut session = Self {
            election: Election::new(random.hex()),
            random,
            channel: [keys::PREFIX, &suffix].concat(),
            suffix,
            identity: Identity::new(visitor_id, is_new, visitor, customer_id),
            locale,
            tab_sync: TabSync::default(),
            conversation: None,
            timeline: Timeline::default(),
            notice: None,
            operator_online: None,
            deferred: false,
            outbox: Outbox::default(),
            tracking: Tracking::new(reports),
            config: ConfigLoader::new(now_ms, config, stored_config),
            waiting: Waiting::default(),
            fell_back: false,
            poller: Poller::new(now_ms),
            open: false,
            visible,
            online,
            page_hidden: false,
            in_flight: InFlightRequests::default(),
            wake_ms: None,
            view_dirty: true,
            effects: Vec::new(),
        };
        session.persist_visitor();
        session.take_over(now_ms, stored);
        session.broadcast(TabMessage::Hello);
        let effects = session.decide(now_ms);
        (session, effects)
    }

    /// From now on the browser keeps what it is given.
    pub(super) fn on_consent(&mut self, now_ms: u64, stored: Stored, reports: Reports) {
        self.tracking.set_reports(reports);
        // A visitor whom the site named is not new, and goes on as well.
        if self.tab_sync.revision() == 0 && self.outbox.is_empty() && !self.identity.has_erased() {
            self.on_page_restored(now_ms, stored);
            self.persist_visitor();
        } else {
            self.retry_persist();
        }
    }

    pub(super) fn on_page_restored(&mut self, now_ms: u64, stored: Stored) {
        let was_left = std::mem::replace(&mut self.page_hidden, false);
        // The timer may have been lost with the page.
        self.wake_ms = None;
        let mut stored = stored::of_customer(stored, &self.suffix);
        if let Some(id) = stored::visitor(&stored::take(&mut stored, keys::VISITOR))
            && id != *self.identity.id()
        {
            if was_left {
                // The visitor was forgotten in the meantime.
                self.replace_visitor(id);
            } else if self.identity.is_new() {
                self.adopt_visitor(id);
                self.identity.mark_known();
            }
        }
        let kept = |name: &str| stored.iter().any(|(key, _)| key.strip_prefix(keys::OUTBOX) == Some(name));
        let mut gone = Vec::new();
        for pending in self.outbox.iter() {
            if !kept(pending.id()) {
                gone.push(pending.id().to_owned());
            }
        }
        // What this page kept, and storage no longer has, another tab has sent.
        self.tracking.clear();
        self.take_over(now_ms, stored);
        for name in gone {
            self.remove_if_delivered(&name);
        }
        self.broadcast(TabMessage::Hello);
        self.poll_now(now_ms);
        self.view_dirty = true;
    }
}
