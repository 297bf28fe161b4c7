//! Checks that must pass some time after the last fault and the last step.

use chat_protocol::Role;
use chat_session::{Delivery, Entry};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, check};
use super::messages::VisitorMessage;
use super::service::StoredMessage;
use super::tab::Tab;

impl Simulation {
    /// Returns the first invariant that does not hold yet, if any.
    pub fn check_settled(&self) -> Result<(), Violation> {
        check(Invariant::Settles, !self.is_service_busy(), || "the AI still thinks".to_owned())?;
        for tab in self.live() {
            self.check_idle(tab)?;
        }
        for tab in self.live() {
            self.check_agreement(tab)?;
            self.check_history(tab)?;
        }
        (0..self.messages.len()).try_for_each(|tag| self.check_message(tag))
    }

    fn live(&self) -> impl Iterator<Item = &Tab> {
        self.tabs.iter().filter(|tab| tab.is_live())
    }

    /// Checks that nothing is pending.
    fn check_idle(&self, tab: &Tab) -> Result<(), Violation> {
        let is_unfinished = |entry: &&Entry| matches!(entry.delivery, Delivery::Waiting | Delivery::Sending);
        // If all tabs of a visitor are hidden, none polls, and the reply stays awaited. The same holds for a
        // message of a visitor that exists only because storage refused writes, and whose tab yielded to a
        // tab of another visitor.
        let is_visible = self.live().any(|other| other.visible && other.shares_visitor(tab));
        let led = self.live().any(|other| other.session.leads() && other.shares_visitor(tab));
        let pending = tab.session.entries().iter().find(is_unfinished);
        check(Invariant::Settles, pending.is_none() || (self.storage_failed && !is_visible && !led), || {
            format!(
                "{} shows \"{}\" as {:?}",
                tab.id,
                pending.map_or("", |entry| &*entry.text),
                pending.map(|entry| entry.delivery)
            )
        })?;
        check(Invariant::Settles, pending.is_some() || !tab.session.is_deferred(), || {
            format!("{} is deferred without a pending message", tab.id)
        })?;
        let awaits = tab.session.awaits_reply() && is_visible;
        check(Invariant::Settles, !awaits, || format!("{} awaits a reply", tab.id))?;
        check(Invariant::Settles, !tab.hangs, || format!("{} hangs", tab.id))
    }

    /// Checks that the tab agrees with the other tabs of its visitor.
    fn check_agreement(&self, tab: &Tab) -> Result<(), Violation> {
        let strangers = self.live().any(|other| !other.shares_visitor(tab));
        check(Invariant::Settles, !strangers || self.storage_failed, || {
            format!("{} and another tab have different visitors", tab.id)
        })?;
        let Some(first) = self.live().find(|other| other.visible && other.shares_visitor(tab)) else {
            return Ok(());
        };
        let (one, other) = (&first.session, &tab.session);
        check(Invariant::UnreadAgrees, one.unread() == other.unread(), || {
            format!(
                "{} shows {} unread messages, {} shows {}",
                first.id,
                one.unread(),
                tab.id,
                other.unread()
            )
        })?;
        let others = one.entries().iter().filter(|entry| entry.author != Role::Visitor).count();
        check(
            Invariant::UnreadAgrees,
            usize::try_from(one.unread()).is_ok_and(|unread| unread <= others),
            || {
                format!(
                    "{} shows {} unread messages, but only {others} messages of others",
                    first.id,
                    one.unread()
                )
            },
        )?;
        check(Invariant::Settles, one.conversation_id() == other.conversation_id(), || {
            format!(
                "{} is in {:?}, {} in {:?}",
                first.id,
                one.conversation_id(),
                tab.id,
                other.conversation_id()
            )
        })
    }

    /// Checks that visible tabs show the whole history, and that all tabs show messages in the service's
    /// order. Hidden tabs, and those whose chat is switched off, do not poll.
    fn check_history(&self, tab: &Tab) -> Result<(), Violation> {
        let conversation = tab.session.conversation_id().and_then(|id| self.service.conversation(id));
        let Some(conversation) = conversation.filter(|conversation| !conversation.purged) else {
            return Ok(());
        };
        let listed: Vec<&StoredMessage> =
            self.service.listing(conversation).filter(|message| !message.content.is_empty()).collect();
        let shown_by_id = |message: &StoredMessage| {
            tab.session.entries().iter().any(|entry| entry.id.as_ref() == Some(&message.id()))
        };
        let same = |entry: &Entry, message: &StoredMessage| match &entry.id {
            Some(id) => *id == message.id(),
            // A message delivered without an id, and not polled since. Of several with the same text, it is
            // not one that is shown with its id. If there are two conversations, it may be in the other one.
            None => {
                entry.delivery == Delivery::Delivered
                    && *entry.text == *message.content
                    && !shown_by_id(message)
            }
        };
        let place = |entry: &Entry| listed.iter().position(|message| same(entry, message));
        let places: Vec<usize> = tab.session.entries().iter().filter_map(place).collect();
        // If the cursor is the id of no entry, such as that of an empty message, the order is certain only
        // after the last part. A page does not show it before.
        check(Invariant::SameOrder, places.is_sorted() || tab.takes_parts, || {
            let texts: Vec<&str> = tab.session.entries().iter().map(|entry| &*entry.text).collect();
            format!("{} shows {texts:?}, listed are {:?}", tab.id, contents(&listed))
        })?;
        let missing = (0..listed.len()).find(|place| !places.contains(place));
        check(Invariant::HistoryShown, missing.is_none() || !tab.visible || !tab.session.is_on(), || {
            format!("{} does not show \"{}\"", tab.id, missing.map_or("", |place| &*listed[place].content))
        })
    }

    /// Checks that the service has accepted a message, or that all tabs show it as failed.
    ///
    /// Messages of an erased visitor are shown nowhere. A message that storage did not take may be lost with
    /// its page, or when the page is restored and finds another visitor in storage, which looks like a reset.
    fn check_message(&self, tag: usize) -> Result<(), Violation> {
        let message = &self.messages[tag];
        let Some(visitor) = &message.visitor else { return Ok(()) };
        let is_accepted = self.service.accepted(tag);
        let same: Vec<_> = self.messages.iter().filter(|other| other.text == message.text).collect();
        let (written, in_first_history) = (same.len(), same.iter().any(|other| other.in_first_history));
        for tab in self.live() {
            let is_erased = tab.session.visitor_id() != visitor;
            let mut shown = tab.session.entries().iter().filter(|entry| *entry.text == *message.text);
            if is_erased {
                check(Invariant::ErasedStaysErased, written > 1 || shown.next().is_none(), || {
                    format!("{} shows \"{}\" of another visitor", tab.id, message.text)
                })?;
                continue;
            }
            // A message that was written before the first history of an earlier conversation was merged may
            // stand beside its echo until the visitor retries it: the echo may have been an older message
            // with the same text.
            let is_shown = |entry: &&Entry| !in_first_history || entry.delivery != Delivery::Failed;
            let times = shown.clone().filter(is_shown).count();
            check(Invariant::ShownOnce, times <= written || self.is_split(), || {
                let shown: Vec<_> =
                    tab.session.entries().iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
                format!("{} shows \"{}\" {times} times: {shown:?}", tab.id, message.text)
            })?;
            if is_accepted {
                let is_known = tab.session.conversation_id().is_some() || self.service.copies(tag) == 0;
                // The response to a message that is shown as failed may have been lost. If a page hung, two
                // pages may each have started a conversation, and the one that the tab knew may be gone.
                let may_be_other = self.has_hung && self.service.conversations.len() > 1;
                let may_know = tab.visible && tab.session.is_on() && tab.session.failed() == 0;
                let must_know = may_know && !may_be_other && !self.storage_failed;
                check(Invariant::HistoryShown, is_known || !must_know, || {
                    format!("{} has no conversation, but the service has \"{}\"", tab.id, message.text)
                })?;
                continue;
            }
            let failed = shown.any(|entry| entry.delivery == Delivery::Failed);
            check(Invariant::NothingLost, failed || self.is_lost_with_page(message), || {
                format!(
                    "the service has not accepted \"{}\", and {} does not show it as failed",
                    message.text, tab.id
                )
            })?;
        }
        Ok(())
    }

    fn is_lost_with_page(&self, message: &VisitorMessage) -> bool {
        let tab = &self.tabs[message.tab.0];
        message.volatile && (!tab.is_live() || tab.frozen_times > 0)
    }
}

fn contents<'a>(listed: &[&'a StoredMessage]) -> Vec<&'a str> {
    listed.iter().map(|message| &*message.content).collect()
}
