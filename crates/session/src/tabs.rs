//! What the tabs of one browser share: kept in storage for later, and told to the tabs that live now.

use std::rc::Rc;

use chat_protocol::{ChatConfig, Endpoint, Fields, Value, VisitorId, VisitorProfile};

use crate::back_off::MAX_RETRY_AFTER_MS;
use crate::election::Candidate;
use crate::outbox::PendingMessage;
use crate::stored::{self, Stored, VERSION, keys};
use crate::timeline::{Delivery, EntryKey, Timeline};
use crate::{Effect, Session};

/// Who asks within this time after all was told is still to hear it. Milliseconds.
const REPEAT_SNAPSHOT_AFTER_MS: u64 = 200;

impl Session {
    /// The key in storage of what has this name.
    fn key(&self, name: &str) -> String {
        [keys::PREFIX, name, &self.suffix].concat()
    }

    /// Keeps a value under a name, and tells the other tabs; null forgets it.
    pub(crate) fn persist(&mut self, name: &str, value: Value) {
        let text = (value != Value::Null).then(|| value.to_json());
        let key = self.key(name);
        self.effects.push(Effect::Store(key, text));
        self.broadcast("keep", Some(name), value);
    }

    pub(crate) fn persist_visitor(&mut self) {
        let value = Value::object([("v", VERSION.into()), ("visitorId", (&self.visitor_id).into())]);
        self.effects.push(Effect::Store(self.key(keys::VISITOR), Some(value.to_json())));
    }

    /// Stores contact details that the visitor left, with those from before that are not among them. What the site says
    /// of the visitor is the site's to store.
    pub(crate) fn persist_contact(&mut self, given: &VisitorProfile) {
        let before = std::mem::take(&mut self.contact);
        let detail = |name: &'static str, given: &Option<String>| {
            (name, given.as_deref().or_else(|| before.get(name)?.as_text()).into())
        };
        self.contact = Value::object([
            ("v", VERSION.into()),
            ("visitorId", (&self.visitor_id).into()),
            detail("name", &given.name),
            detail("email", &given.email),
            detail("phone", &given.phone),
        ]);
        self.persist(keys::CONTACT, self.contact.clone());
    }

    pub(crate) fn persist_seen(&mut self) {
        self.persist(keys::SEEN, Value::object([("v", VERSION.into()), ("serial", self.seen.into())]));
    }

    pub(crate) fn persist_config(&mut self, data: Value) {
        let value = Value::object([("v", VERSION.into()), ("data", data)]);
        // One for all customers.
        let key = [keys::PREFIX, keys::CONFIG].concat();
        self.effects.push(Effect::Store(key, Some(value.to_json())));
        self.broadcast("keep", Some(keys::CONFIG), value);
    }

    pub(crate) fn persist_pending(&mut self, entry: EntryKey) {
        if let Some(pending) = self.outbox.iter().find(|pending| pending.entry == entry) {
            let name = [keys::OUTBOX, &pending.id].concat();
            let value = pending.to_stored(&self.visitor_id);
            self.persist(&name, value);
        }
    }

    /// The conversation as it is now, to be kept and told.
    pub(crate) fn publish(&mut self) {
        self.revision += 1;
        self.writer.clone_from(&self.election.tab);
        self.snapshot_dirty = false;
        self.persist_visitor();
        self.persist_conversation();
        self.snapshot_shrink = self.snapshot_shrink.saturating_sub(1);
    }

    fn persist_conversation(&mut self) {
        // The other tabs have room for it, whatever storage has.
        let wanted = std::mem::take(&mut self.full_snapshot_requested);
        let told = self.shared((!wanted).then_some(0));
        let kept = if self.snapshot_shrink == 0 && !wanted {
            told.to_json()
        } else {
            self.shared(Some(self.snapshot_shrink)).to_json()
        };
        self.store_conversation(kept);
        self.broadcast("keep", Some(keys::CONVERSATION), told);
    }

    fn store_conversation(&mut self, kept: String) {
        let key = self.key(keys::CONVERSATION);
        self.effects.push(Effect::Store(key, Some(kept)));
    }

    /// Everything that this tab knows, for a browser that did not keep it or a tab that has not heard it.
    pub(crate) fn retry_persist(&mut self) {
        self.persist_visitor();
        for index in 0..self.outbox.len() {
            self.persist_pending(self.outbox[index].entry);
        }
        self.persist_conversation();
        self.persist_seen();
        if self.contact != Value::Null {
            self.persist(keys::CONTACT, self.contact.clone());
        }
    }

    /// Takes in all that this browser kept.
    pub(crate) fn take_over(&mut self, now_ms: u64, mut stored: Stored) {
        let conversation = stored::take(&mut stored, keys::CONVERSATION);
        self.adopt(conversation, false);
        for name in [keys::SEEN, keys::TRACKING, keys::CONTACT] {
            let value = stored::take(&mut stored, name);
            self.apply_remote_write(now_ms, name, value);
        }
        // In the order in which they were written.
        let written = |value: &Value| stored::number(value, "written");
        let mut rest: Stored = Vec::with_capacity(stored.len());
        for (name, value) in stored {
            rest.insert(rest.partition_point(|(_, other)| written(other) <= written(&value)), (name, value));
        }
        for (name, value) in rest {
            // What was no JSON is nothing, and not what another tab has forgotten.
            if value != Value::Null {
                self.apply_remote_write(now_ms, &name, value);
            }
        }
        self.restore_missing(&[]);
        // Where storage lost the conversation, it counts anew.
        self.seen = self.seen.min(self.timeline.newest());
    }

    /// Messages that are not delivered, and whose pending messages are lost, are pending messages again, each in its place. Their keys are the
    /// same. The tab that told of the pending messages `told` has those.
    pub(crate) fn restore_missing(&mut self, told: &[Rc<str>]) {
        let (mut lost, mut place) = (Vec::new(), 0);
        for entry in self.timeline.entries() {
            if let Some(index) = self.outbox.iter().position(|pending| pending.entry == entry.key) {
                place = index + 1;
            } else if entry.delivery != Delivery::Delivered
                && entry.local_id.as_ref().is_none_or(|name| !told.contains(name))
                && let Some(pending) = PendingMessage::of_entry(entry)
            {
                lost.push(entry.key);
                self.outbox.insert(place, pending);
                place += 1;
            }
        }
        for entry in lost {
            self.persist_pending(entry);
        }
    }

    /// Another tab, or an earlier page, kept this value under this name; null when it is kept no more.
    fn apply_remote_write(&mut self, now_ms: u64, name: &str, value: Value) {
        match name {
            keys::CONVERSATION => {
                let (revision, writer) = (stored::number(&value, "revision"), value.get("writer"));
                if revision < self.revision {
                    // A tab that was stopped told what it knew, and it is not to stay in storage. It hears better when it asks.
                    self.store_conversation(self.shared(Some(self.snapshot_shrink)).to_json());
                } else if revision == self.revision && writer.and_then(Value::as_text) != Some(&self.writer) {
                    // Two tabs led, and counted to the same number. The one that still does counts on.
                    self.snapshot_dirty = true;
                }
                self.adopt(value, true);
            }
            keys::SEEN => {
                let seen = i64::try_from(stored::number(&value, "serial")).unwrap_or(0);
                if seen < self.seen {
                    // It comes late, and is not to stay in storage.
                    self.persist_seen();
                }
                self.seen = self.seen.max(seen);
                self.view_dirty = true;
            }
            keys::TRACKING => {
                let until_ms = stored::number(&value, "offUntil");
                self.events.off_until_ms = self.events.off_until_ms.max(until_ms);
            }
            keys::CONTACT => {
                if value != Value::Null && self.is_of_visitor(&value) {
                    self.contact = value.clone();
                    let mut fields = Fields::lenient(value);
                    // What the site says of the visitor comes first.
                    let known = &mut self.visitor;
                    for (name, place) in
                        [("name", &mut known.name), ("email", &mut known.email), ("phone", &mut known.phone)]
                    {
                        *place = place.take().or_else(|| fields.lenient_text(name));
                    }
                    self.view_dirty = true;
                }
            }
            keys::CONFIG => {
                let data = value.get("data").cloned().unwrap_or_default();
                if let Ok(config) = ChatConfig::try_from(data) {
                    self.config = Some(config);
                    self.view_dirty = true;
                }
            }
            _ => {
                if let Some(name) = name.strip_prefix(keys::OUTBOX) {
                    match PendingMessage::from_stored(name, &value) {
                        // While storage was blocked, two visitors may have begun.
                        _ if !self.is_of_visitor(&value) => {}
                        Some(pending) => self.apply_remote_pending(now_ms, pending),
                        None if value == Value::Null => self.delivered_elsewhere(now_ms, name),
                        // A newer version may know what to do with it.
                        None => {}
                    }
                } else if value != Value::Null && now_ms < self.events.off_until_ms {
                    // An event of a tab that has not heard that the service wants none.
                    self.persist(name, Value::Null);
                } else if let Some(event) = name.strip_prefix(keys::EVENT) {
                    self.events.apply_remote_event(now_ms, event, value);
                } else if let Some(batch) = name.strip_prefix(keys::BATCH) {
                    self.events.apply_remote_batch(batch, &value);
                }
            }
        }
    }

    /// Whether this was kept for the visitor that this tab knows.
    pub(crate) fn is_of_visitor(&self, value: &Value) -> bool {
        let visitor = value.get("visitorId").and_then(Value::as_text);
        visitor.is_none_or(|id| id == self.visitor_id.as_str())
    }

    /// Another tab told something.
    pub(crate) fn on_tab_message(&mut self, now_ms: u64, message: Value) {
        if self.page_hidden {
            return;
        }
        let text = |field| message.get(field).and_then(Value::as_text).unwrap_or_default();
        let (does, visitor) = (text("does"), text("visitor"));
        let revision = stored::number(&message, "revision");
        if visitor != self.visitor_id.as_str() {
            return self.resolve_visitor_conflict(visitor, revision, does);
        }
        let seen = i64::try_from(stored::number(&message, "seen")).unwrap_or(0);
        if seen > self.seen {
            self.seen = seen;
            self.view_dirty = true;
        }
        let visible = message.get("visible") == Some(&Value::Bool(true));
        let term = stored::number(&message, "term");
        let candidate = Candidate { tab: text("tab"), term, revision, visible };
        match does {
            "ask" | "hello" => {
                if does == "ask" {
                    self.on_candidate(now_ms, &candidate);
                }
                if message.get("lacks") == Some(&Value::Bool(true)) && self.leads() {
                    self.full_snapshot_requested = true;
                    self.mark_snapshot_dirty();
                }
                // One that says hello was not there before. Of many that ask at once, each would be told by each; and a tab
                // that was stopped hears at once what another one asked all the while.
                let untold = does == "hello" || now_ms >= self.last_broadcast_ms + REPEAT_SNAPSHOT_AFTER_MS;
                if untold && (seen < self.seen || revision < self.revision) {
                    self.last_broadcast_ms = now_ms;
                    if revision < self.revision {
                        self.retry_persist();
                    } else {
                        self.persist_seen();
                    }
                }
                if revision >= self.revision && self.leads() && text("writer") != self.writer {
                    self.mark_snapshot_dirty();
                }
            }
            "lead" => self.on_leader(now_ms, &candidate),
            "free" => self.on_leader_gone(now_ms),
            "retry" if self.deferred => self.send_now(),
            "answered" => {
                self.hold_until_ms = self.hold_until_ms.max(stored::number(&message, "value"));
                self.urgent = false;
                self.poll_now(now_ms);
            }
            "keep" => {
                let name = text("name").to_owned();
                if name == keys::CONVERSATION && self.leads() && term > self.election.term {
                    self.on_leader(now_ms, &candidate);
                }
                let value = Fields::lenient(message).take("value");
                self.apply_remote_write(now_ms, &name, value);
            }
            "reset" => {
                if let Some(id) = message.get("value").and_then(stored::visitor) {
                    self.erased_visitor = Some(self.visitor_id.clone());
                    self.replace_visitor(id);
                }
            }
            _ => {}
        }
    }

    /// A tab of the same browser has another visitor: both began before there was anything to find in storage, or
    /// storage is blocked. The one that has nothing to lose joins the other.
    fn resolve_visitor_conflict(&mut self, visitor: &str, revision: u64, does: &str) {
        let erased = self.erased_visitor.as_ref().filter(|id| id.as_str() == visitor);
        if let Some(old) = erased.cloned() {
            // It had not heard when it said this, and may have kept what was to be forgotten. Each tab says
            // so: perhaps none leads as yet.
            if does != "reset" {
                self.broadcast_reset(&old);
                self.erase_stored();
                self.retry_persist();
            }
        } else if self.is_fresh() && (revision == 0, visitor) < (!self.merged, self.visitor_id.as_str()) {
            self.adopt_visitor(visitor.into());
            self.merged = revision > 0;
            self.persist_visitor();
            // Whoever knows more tells it to one who asks.
            self.broadcast("hello", None, Value::Null);
        } else if does == "ask" {
            self.broadcast("here", None, Value::Null);
        }
    }

    /// Nothing has happened yet that would be lost.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_new && self.revision == 0 && self.outbox.is_empty()
    }

    /// Forgets everything, here and in the other tabs.
    pub(crate) fn reset(&mut self, now_ms: u64) {
        let old = self.visitor_id.clone();
        self.erase_stored();
        let id = stored::new_visitor(&mut self.random);
        self.replace_visitor(id);
        self.broadcast_reset(&old);
        self.erased_visitor = Some(old);
        self.persist_visitor();
        self.poll_now(now_ms);
    }

    /// Whoever comes now is not who was there: nothing that was known of that person goes along with what is sent.
    pub(crate) fn replace_visitor(&mut self, id: VisitorId) {
        self.adopt_visitor(id);
        // Not dropped: that happens nowhere else, and its code would weigh more than the few names that stay in memory.
        std::mem::forget(std::mem::take(&mut self.visitor));
        self.contact = Value::Null;
        self.is_new = false;
    }

    /// Tells the tabs that still have this visitor that there is another one.
    fn broadcast_reset(&mut self, old: &VisitorId) {
        let new = std::mem::replace(&mut self.visitor_id, old.clone());
        self.broadcast("reset", None, Value::object([("visitorId", (&new).into())]));
        self.visitor_id = new;
    }

    /// Forgets all that is kept of this visitor.
    fn erase_stored(&mut self) {
        let mut names = self.events.clear();
        for pending in &self.outbox {
            names.push([keys::OUTBOX, &pending.id].concat());
        }
        for name in [keys::CONVERSATION, keys::SEEN, keys::CONTACT] {
            names.push(name.to_owned());
        }
        for name in names {
            let key = self.key(&name);
            self.effects.push(Effect::Store(key, None));
        }
    }

    /// Another visitor begins: nothing of the one before stays.
    pub(crate) fn adopt_visitor(&mut self, id: VisitorId) {
        // The config is the same for all visitors.
        self.cancel(|endpoint| endpoint != Endpoint::Config);
        self.reset_election();
        self.visitor_id = id;
        self.visitor.visitor_id = None;
        self.revision = 0;
        self.conversation = None;
        self.timeline = Timeline::default();
        self.notice = None;
        self.operator_online = None;
        self.presence = None;
        self.reply_due_ms = None;
        self.seen = 0;
        self.outbox.clear();
        self.events.clear();
        self.snapshot_dirty = false;
        self.view_dirty = true;
    }

    /// Silence that the service asked for, for all tabs.
    pub(crate) fn hold(&mut self, now_ms: u64, retry_after_ms: Option<u64>) {
        if let Some(wait_ms) = retry_after_ms {
            let until_ms = now_ms + wait_ms.min(MAX_RETRY_AFTER_MS);
            self.hold_until_ms = self.hold_until_ms.max(until_ms);
            self.urgent = false;
            self.mark_snapshot_dirty();
        }
    }
}
