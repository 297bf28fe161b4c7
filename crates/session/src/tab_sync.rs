//! Synchronisation of tabs: the revisions of the conversation's snapshot, and when to store and broadcast it.
//!
//! The leader publishes snapshots, each with the next revision. The other tabs adopt them.

mod message;
mod snapshot;

pub(crate) use message::{Sender, TabMessage};
pub(crate) use snapshot::{LocalState, Snapshot};

/// The interval at which everything is stored again after the browser refused a write. Milliseconds.
const PERSIST_RETRY_INTERVAL_MS: u64 = 10_000;
/// The time after which a snapshot that was broadcast is broadcast again to a candidate. Milliseconds.
const REPEAT_SNAPSHOT_AFTER_MS: u64 = 200;
/// Maximum number of times that the room for the stored conversation is halved.
const MAX_SHRINK: u32 = 16;

/// The state of the shared snapshot, as one tab sees it.
#[derive(Debug, Default)]
pub(crate) struct TabSync {
    revision: u64,
    /// The tab that wrote the revision: two leaders may write the same revision.
    writer: String,
    /// The shared state has changed since the last snapshot.
    is_dirty: bool,
    /// Another tab has only the end of the conversation.
    is_full_requested: bool,
    /// The number of times that the room for the stored conversation is halved, because the browser refused a
    /// larger one.
    shrink: u32,
    retry_persist_ms: Option<u64>,
    /// The time of the last broadcast of everything to a tab that lacked state.
    last_broadcast_ms: u64,
}

/// The result of comparing another tab's snapshot to this tab's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteRevision {
    /// The other tab was suspended, and wrote an older revision.
    Outdated,
    /// Two tabs led, and wrote the same revision.
    Conflict,
    /// The revision that this tab has, or a newer one.
    Current,
}

/// The state that another tab lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Nothing,
    /// The position of the last message that the visitor has seen.
    Seen,
    /// The whole state.
    All,
}

impl TabSync {
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn writer(&self) -> &str {
        &self.writer
    }

    /// Marks the snapshot as changed. The leader publishes it after this input.
    pub(crate) fn mark_dirty(&mut self) {
        self.is_dirty = true;
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Begins the next revision, written by this tab.
    pub(crate) fn begin_revision(&mut self, tab: &str) {
        self.revision += 1;
        tab.clone_into(&mut self.writer);
        self.is_dirty = false;
    }

    /// Makes the next revision newer than all of another tab's.
    pub(crate) fn supersede(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// Returns how often to halve the room of a snapshot that is broadcast: not at all, or `None` for the
    /// whole conversation, once after another tab requested it. The other tabs have room, whatever storage
    /// has.
    pub(crate) fn take_broadcast_shrink(&mut self) -> Option<u32> {
        (!std::mem::take(&mut self.is_full_requested)).then_some(0)
    }

    /// Returns how often to halve the room of the snapshot that is stored.
    pub(crate) fn stored_shrink(&self) -> u32 {
        self.shrink
    }

    /// Records a published snapshot: unless the browser refuses it, the next one may be larger.
    pub(crate) fn on_published(&mut self) {
        self.shrink = self.shrink.saturating_sub(1);
    }

    /// Records a refused write: the next snapshot is smaller, and everything is stored again later.
    pub(crate) fn on_persist_failed(&mut self, now_ms: u64) {
        self.shrink = (self.shrink + 2).min(MAX_SHRINK);
        self.retry_persist_ms = Some(now_ms + PERSIST_RETRY_INTERVAL_MS);
    }

    /// Returns when everything is stored again.
    pub(crate) fn retry_persist_ms(&self) -> Option<u64> {
        self.retry_persist_ms
    }

    /// Returns whether everything is to be stored again now.
    pub(crate) fn take_retry(&mut self, now_ms: u64) -> bool {
        self.retry_persist_ms.take_if(|at| now_ms >= *at).is_some()
    }

    /// Compares a snapshot of another tab to this tab's.
    pub(crate) fn compare(&self, revision: u64, writer: Option<&str>) -> RemoteRevision {
        if revision < self.revision {
            RemoteRevision::Outdated
        } else if revision == self.revision && writer != Some(&self.writer) {
            RemoteRevision::Conflict
        } else {
            RemoteRevision::Current
        }
    }

    /// Adopts a revision of another tab. `writer` is empty if this tab has less of it than its writer
    /// broadcast.
    pub(crate) fn adopt(&mut self, revision: u64, writer: &str) {
        self.revision = revision.max(1);
        writer.clone_into(&mut self.writer);
    }

    /// Ends the adoption of a snapshot. Even a second leader does not publish it again: two of them would
    /// answer each other for ever.
    pub(crate) fn on_adopted(&mut self) {
        self.is_dirty = false;
    }

    /// Compares another tab's state to this one. Returns what it lacks, and whether to publish the snapshot
    /// again. Returns nothing shortly after a broadcast, which has reached every tab.
    pub(crate) fn bring_up_to_date(
        &mut self,
        now_ms: u64,
        other: &Sender<'_>,
        is_new: bool,
        leads: bool,
        seen: i64,
    ) -> (Update, bool) {
        let is_due = is_new || now_ms >= self.last_broadcast_ms + REPEAT_SNAPSHOT_AFTER_MS;
        if other.is_truncated && leads {
            self.is_full_requested = true;
        }
        let update = match other.revision < self.revision {
            true if is_due => Update::All,
            false if is_due && other.seen < seen => Update::Seen,
            _ => Update::Nothing,
        };
        if update != Update::Nothing {
            self.last_broadcast_ms = now_ms;
        }
        let is_other = other.revision >= self.revision && other.writer != self.writer;
        (update, leads && (other.is_truncated || is_other))
    }

    /// Resets the state for another visitor.
    pub(crate) fn reset(&mut self) {
        self.revision = 0;
        self.is_dirty = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(tab: &str, revisions: u64) -> TabSync {
        let mut sync = TabSync::default();
        for _ in 0..revisions {
            sync.mark_dirty();
            sync.begin_revision(tab);
        }
        sync
    }

    fn other(revision: u64, writer: &str) -> Sender<'_> {
        Sender { revision, writer, ..Sender::default() }
    }

    #[test]
    fn each_publication_is_the_next_revision_of_its_tab() {
        let mut sync = published("a", 2);
        assert_eq!((sync.revision(), sync.writer(), sync.is_dirty()), (2, "a", false));
        sync.supersede(7);
        sync.begin_revision("a");
        assert_eq!(sync.revision(), 8);
        sync.supersede(3);
        assert_eq!(sync.revision(), 8);
    }

    #[test]
    fn a_remote_snapshot_is_outdated_in_conflict_or_current() {
        let sync = published("b", 5);
        for (revision, writer, expected) in [
            (4, Some("b"), RemoteRevision::Outdated),
            (5, Some("a"), RemoteRevision::Conflict),
            (5, None, RemoteRevision::Conflict),
            (5, Some("b"), RemoteRevision::Current),
            (6, Some("a"), RemoteRevision::Current),
        ] {
            assert_eq!(sync.compare(revision, writer), expected, "{revision} {writer:?}");
        }
    }

    #[test]
    fn an_adopted_snapshot_is_not_published_again() {
        let mut sync = published("a", 1);
        sync.mark_dirty();
        sync.adopt(9, "b");
        sync.on_adopted();
        assert_eq!((sync.revision(), sync.writer(), sync.is_dirty()), (9, "b", false));
        sync.adopt(0, "");
        assert_eq!(sync.revision(), 1, "what was stored counts as a revision");
    }

    #[test]
    fn a_refused_write_shrinks_the_stored_snapshot_and_is_repeated_after_ten_seconds() {
        let mut sync = TabSync::default();
        sync.on_persist_failed(1_000);
        assert_eq!((sync.stored_shrink(), sync.retry_persist_ms()), (2, Some(11_000)));
        assert!(!sync.take_retry(10_999));
        assert!(sync.take_retry(11_000) && !sync.take_retry(11_001));
        sync.on_published();
        assert_eq!(sync.stored_shrink(), 1, "it grows again");
        for _ in 0..20 {
            sync.on_persist_failed(0);
        }
        assert_eq!(sync.stored_shrink(), 16);
    }

    #[test]
    fn the_whole_conversation_is_broadcast_once_when_a_tab_lacks_its_beginning() {
        let mut sync = published("a", 1);
        let truncated = Sender { is_truncated: true, ..other(1, "a") };
        assert_eq!(sync.bring_up_to_date(0, &truncated, true, false, 0), (Update::Nothing, false));
        assert_eq!(sync.take_broadcast_shrink(), Some(0), "the tab that leads has it");
        assert_eq!(sync.bring_up_to_date(0, &truncated, true, true, 0), (Update::Nothing, true));
        assert_eq!((sync.take_broadcast_shrink(), sync.take_broadcast_shrink()), (None, Some(0)));
    }

    #[test]
    fn sends_everything_to_a_tab_that_lacks_state_once_per_interval() {
        let mut sync = published("a", 3);
        assert_eq!(sync.bring_up_to_date(1_000, &other(2, "a"), false, false, 0), (Update::All, false));
        assert_eq!(sync.bring_up_to_date(1_199, &other(2, "a"), false, false, 0), (Update::Nothing, false));
        assert_eq!(
            sync.bring_up_to_date(1_199, &other(2, "a"), true, false, 0),
            (Update::All, false),
            "a new tab"
        );
        assert_eq!(sync.bring_up_to_date(1_399, &other(2, "a"), false, false, 0), (Update::All, false));
    }

    #[test]
    fn a_tab_that_has_seen_less_gets_the_position() {
        let mut sync = published("a", 3);
        let update = sync.bring_up_to_date(1_000, &other(3, "a"), false, false, 4);
        assert_eq!(update, (Update::Seen, false));
        let sender = Sender { seen: 4, ..other(3, "a") };
        assert_eq!(sync.bring_up_to_date(2_000, &sender, false, false, 4), (Update::Nothing, false));
    }

    #[test]
    fn a_leader_publishes_again_if_another_tab_wrote_the_same_revision() {
        let mut sync = published("a", 3);
        assert_eq!(sync.bring_up_to_date(1_000, &other(3, "b"), true, true, 0), (Update::Nothing, true));
        assert_eq!(sync.bring_up_to_date(1_000, &other(3, "b"), true, false, 0), (Update::Nothing, false));
        assert_eq!(sync.bring_up_to_date(1_000, &other(2, "b"), true, true, 0), (Update::All, false));
    }

    #[test]
    fn another_visitor_begins_at_the_first_revision_with_nothing_to_publish() {
        let mut sync = published("a", 3);
        sync.mark_dirty();
        sync.reset();
        assert_eq!((sync.revision(), sync.is_dirty()), (0, false));
    }
}
