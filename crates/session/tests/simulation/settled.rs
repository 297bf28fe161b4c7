//! What must hold once all works again and nobody does anything any more.

use chat_protocol::Role;
use chat_session::{Delivery, Entry};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, hold};
use super::service::Kept;
use super::tab::Tab;
use super::written::Written;

impl Simulation {
    /// The first invariant that does not hold yet.
    pub fn is_settled(&self) -> Result<(), Violation> {
        hold(Invariant::Settles, !self.service_works(), || "the AI still thinks".to_owned())?;
        for tab in self.live() {
            self.rests(tab)?;
        }
        for tab in self.live() {
            self.agrees(tab)?;
            self.shows_what_is_listed(tab)?;
        }
        (0..self.written.len()).try_for_each(|tag| self.accounted_for(tag))
    }

    fn live(&self) -> impl Iterator<Item = &Tab> {
        self.tabs.iter().filter(|tab| tab.is_live())
    }

    /// Nothing is under way.
    fn rests(&self, tab: &Tab) -> Result<(), Violation> {
        let under_way = |entry: &&Entry| matches!(entry.delivery, Delivery::Waiting | Delivery::Sending);
        // Where nobody looks at any tab of a visitor, nobody reads either, and the reply is awaited until somebody does. So
        // is a message of a visitor who came about because storage refused, and left the lead to a tab of another one.
        let looked_at = self.live().any(|other| other.visible && other.is_kin_of(tab));
        let led = self.live().any(|other| other.session.leads() && other.is_kin_of(tab));
        let waits = tab.session.entries().iter().find(under_way);
        hold(Invariant::Settles, waits.is_none() || (self.storage_failed && !looked_at && !led), || {
            format!(
                "{} shows \"{}\" as {:?}",
                tab.id,
                waits.map_or("", |entry| &*entry.text),
                waits.map(|entry| entry.delivery)
            )
        })?;
        hold(Invariant::Settles, waits.is_some() || !tab.session.is_deferred(), || {
            format!("{} defers nothing", tab.id)
        })?;
        let awaits = tab.session.awaits_reply() && looked_at;
        hold(Invariant::Settles, !awaits, || format!("{} awaits a reply", tab.id))?;
        hold(Invariant::Settles, !tab.hangs, || format!("{} hangs", tab.id))
    }

    /// All tabs tell the same story.
    fn agrees(&self, tab: &Tab) -> Result<(), Violation> {
        let strangers = self.live().any(|other| !other.is_kin_of(tab));
        hold(Invariant::Settles, !strangers || self.storage_failed, || {
            format!("{} and another tab belong to different visitors", tab.id)
        })?;
        let Some(first) = self.live().find(|other| other.visible && other.is_kin_of(tab)) else {
            return Ok(());
        };
        let (one, other) = (&first.session, &tab.session);
        hold(Invariant::UnreadAgrees, one.unread() == other.unread(), || {
            format!("{} counts {} as unread, {} counts {}", first.id, one.unread(), tab.id, other.unread())
        })?;
        let others = one.entries().iter().filter(|entry| entry.author != Role::Visitor).count();
        hold(
            Invariant::UnreadAgrees,
            usize::try_from(one.unread()).is_ok_and(|unread| unread <= others),
            || format!("{} counts {} as unread, and shows {others}", first.id, one.unread()),
        )?;
        hold(Invariant::Settles, one.conversation_id() == other.conversation_id(), || {
            format!(
                "{} is in {:?}, {} in {:?}",
                first.id,
                one.conversation_id(),
                tab.id,
                other.conversation_id()
            )
        })
    }

    /// Visible tabs show the whole history; hidden ones and those whose chat is switched off, which nobody reads to, what
    /// they heard of. Both in the service's order.
    fn shows_what_is_listed(&self, tab: &Tab) -> Result<(), Violation> {
        let conversation = tab.session.conversation_id().and_then(|id| self.service.conversation(id));
        let Some(conversation) = conversation.filter(|conversation| !conversation.purged) else {
            return Ok(());
        };
        let listed: Vec<&Kept> =
            self.service.listing(conversation).filter(|kept| !kept.content.is_empty()).collect();
        let shown_by_id =
            |kept: &Kept| tab.session.entries().iter().any(|entry| entry.id.as_ref() == Some(&kept.id()));
        let same = |entry: &Entry, kept: &Kept| match &entry.id {
            Some(id) => *id == kept.id(),
            // A message that was answered without naming it, and not read since. Of several that say the same, it is none that
            // is shown under its id; where two conversations have begun, it may be in the other one.
            None => {
                entry.delivery == Delivery::Delivered && *entry.text == *kept.content && !shown_by_id(kept)
            }
        };
        let place = |entry: &Entry| listed.iter().position(|kept| same(entry, kept));
        let places: Vec<usize> = tab.session.entries().iter().filter_map(place).collect();
        hold(Invariant::SameOrder, places.is_sorted(), || {
            let texts: Vec<&str> = tab.session.entries().iter().map(|entry| &*entry.text).collect();
            format!("{} shows {texts:?}, listed are {:?}", tab.id, texts_of(&listed))
        })?;
        let missing = (0..listed.len()).find(|place| !places.contains(place));
        hold(Invariant::ListedIsShown, missing.is_none() || !tab.visible || !tab.session.is_on(), || {
            format!("{} does not show \"{}\"", tab.id, missing.map_or("", |place| &*listed[place].content))
        })
    }

    /// A message is on the server and shown as delivered, or shown as failed wherever it is shown.
    ///
    /// What the visitor had forgotten with everything else is shown nowhere. And a message that storage did not keep
    /// may be lost with its page, as nothing else knew of it; or when the page comes back from the cache to a storage in
    /// which another visitor has begun since, which looks as if all had been forgotten.
    fn accounted_for(&self, tag: usize) -> Result<(), Violation> {
        let message = &self.written[tag];
        let Some(visitor) = &message.visitor else { return Ok(()) };
        let taken = self.service.took(tag);
        let said = self.written.iter().filter(|other| other.text == message.text).count();
        for tab in self.live() {
            let forgotten = tab.session.visitor_id() != visitor;
            let mut shown = tab.session.entries().iter().filter(|entry| *entry.text == *message.text);
            if forgotten {
                hold(Invariant::Forgets, said > 1 || shown.next().is_none(), || {
                    format!("{} shows \"{}\" of another visitor", tab.id, message.text)
                })?;
                continue;
            }
            let times = shown.clone().count();
            hold(Invariant::ShownOnce, times <= said || self.is_split(), || {
                let shown: Vec<_> =
                    tab.session.entries().iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
                format!("{} shows \"{}\" {times} times: {shown:?}", tab.id, message.text)
            })?;
            if taken {
                continue;
            }
            let failed = shown.any(|entry| entry.delivery == Delivery::Failed);
            hold(Invariant::NothingLost, failed || self.may_be_lost(message), || {
                format!(
                    "\"{}\" is not on the server, and {} does not show it as failed",
                    message.text, tab.id
                )
            })?;
        }
        Ok(())
    }

    fn may_be_lost(&self, message: &Written) -> bool {
        let tab = &self.tabs[message.tab.0];
        message.frail && (!tab.is_live() || tab.frozen_times > 0)
    }
}

fn texts_of<'a>(listed: &[&'a Kept]) -> Vec<&'a str> {
    listed.iter().map(|kept| &*kept.content).collect()
}
