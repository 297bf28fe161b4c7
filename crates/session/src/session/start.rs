//! The start of a session: on a page that loads, on one that is restored, and after consent.

use super::Session;
use crate::config_loader::ConfigLoader;
use crate::election::Election;
use crate::identity::Identity;
use crate::in_flight::InFlightRequests;
use crate::leftovers::Leftovers;
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
    /// Starts a session, or continues a stored one. Returns its first effects.
    pub fn start(start: Start) -> (Self, Vec<Effect>) {
        let Start {
            now_ms,
            seed,
            mut stored,
            config,
            visitor,
            customer_id,
            expects_proof,
            locale,
            reports,
            visible,
            online,
        } = start;
        let mut random = Random::new(seed);
        let stored_config = stored::take(&mut stored, &[keys::PREFIX, keys::CONFIG].concat());
        let stored_config = stored_config.get("data").cloned();
        let suffix = stored::suffix(customer_id.as_deref());
        let persons = if expects_proof { Vec::new() } else { stored::of_persons(&stored) };
        let mut stored = stored::of_customer(stored, &suffix);
        let stored_visitor = stored::take(&mut stored, keys::VISITOR);
        let stored_id = stored::visitor(&stored_visitor);
        let named = visitor.visitor_id.clone().filter(|id| !id.as_str().is_empty());
        let is_new = named.is_none() && (stored_id.is_none() || stored_visitor.get("isNew").is_some());
        let known = named.or(stored_id);
        let visitor_id = known.unwrap_or_else(|| stored::new_visitor(&mut random));
        let mut session = Self {
            election: Election::new(random.hex()),
            random,
            channel: [keys::PREFIX, &suffix].concat(),
            customer_suffix: suffix.clone(),
            suffix,
            identity: Identity::new(visitor_id, is_new, visitor, customer_id),
            locale,
            tab_sync: TabSync::default(),
            conversation: None,
            timeline: Timeline::default(),
            notice: None,
            operator_online: None,
            deferred: false,
            awaits_person_until_ms: 0,
            outbox: Outbox::default(),
            tracking: Tracking::new(reports),
            config: ConfigLoader::new(now_ms, config, stored_config),
            leftovers: Leftovers::default(),
            waiting: Waiting::default(),
            typing: None,
            poller: Poller::new(now_ms),
            look_up_ms: None,
            is_told: false,
            open: false,
            visible,
            online,
            page_hidden: false,
            in_flight: InFlightRequests::default(),
            wake_ms: None,
            view_dirty: true,
            effects: Vec::new(),
        };
        if !persons.is_empty() {
            session.forget_persons(now_ms, persons);
            session.effects.push(Effect::Forget);
        }
        session.persist_visitor();
        session.apply_stored(now_ms, stored);
        session.broadcast(TabMessage::Hello);
        let effects = session.decide(now_ms);
        (session, effects)
    }

    /// Handles consent: from now on the browser stores the session.
    #[inline(never)]
    pub(super) fn on_consent(&mut self, now_ms: u64, stored: Stored, reports: Reports) {
        self.tracking.set_reports(reports);
        // A visitor whom the site named is not new, but continues a stored conversation as well.
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
                // The visitor was erased in the meantime.
                self.replace_visitor(id);
            } else if self.identity.is_new() {
                self.adopt_visitor(id);
                self.identity.mark_known();
            }
        }
        let is_stored =
            |name: &str| stored.iter().any(|(key, _)| key.strip_prefix(keys::OUTBOX) == Some(name));
        let mut missing = Vec::new();
        for pending in self.outbox.iter() {
            if !is_stored(pending.id()) {
                missing.push(pending.id().to_owned());
            }
        }
        // Another tab has sent the events that storage no longer has.
        self.tracking.clear();
        self.apply_stored(now_ms, stored);
        for name in missing {
            self.remove_if_delivered(&name);
        }
        self.broadcast(TabMessage::Hello);
        self.poll_now(now_ms);
        self.view_dirty = true;
    }
}
