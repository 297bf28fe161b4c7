//! The times of polls for presence and messages, and how their responses are applied.
//!
//! The pace follows the service's hints. Messages are also polled while something is awaited: a reply, the
//! fate of an attempt, or the rest of a history.

mod pace;

use chat_protocol::back_off::MAX_RETRY_AFTER_MS;
use chat_protocol::{MessageId, Presence};

use crate::back_off::wait_ms;
use crate::random::Random;
use crate::timeline::Sync;
use pace::Pace;

/// Maximum time to poll for a reply that did not come with the response. Milliseconds.
const REPLY_TIMEOUT_MS: u64 = 30_000;

/// The state of polling.
#[derive(Debug)]
pub(crate) struct Poller {
    pace: Pace,
    /// The last response of the presence endpoint. Its hints set the intervals.
    presence: Option<Presence>,
    /// The end of a `Retry-After`.
    hold_until_ms: u64,
    /// The reply to the last message is awaited until this time.
    reply_due_ms: Option<u64>,
    sync: Sync,
    /// Messages are polled at once until a poll brings nothing new.
    until_idle: bool,
    /// The poll in flight began before an event whose effect it may not show.
    is_stale: bool,
    /// The last poll brought messages: there may be more after them.
    has_more: bool,
    /// The cursor of the last poll.
    polled_after: Option<MessageId>,
    /// The driver has more of the last response: the next request is not a poll.
    is_divided: bool,
}

impl Poller {
    /// Returns a poller that polls everything at once.
    pub(crate) fn new(now_ms: u64) -> Self {
        let mut pace = Pace::default();
        pace.poll_now(now_ms);
        Self {
            pace,
            presence: None,
            hold_until_ms: 0,
            reply_due_ms: None,
            sync: Sync::Live,
            until_idle: true,
            is_stale: false,
            has_more: false,
            polled_after: None,
            is_divided: false,
        }
    }

    /// Bounds all waits: values from storage and other tabs are untrusted, and a clock may be set back.
    pub(crate) fn limit_waits(&mut self, now_ms: u64) {
        self.hold_until_ms = self.hold_until_ms.min(now_ms + MAX_RETRY_AFTER_MS);
        self.reply_due_ms = self.reply_due_ms.map(|due| due.min(now_ms + REPLY_TIMEOUT_MS));
    }

    /// Returns the end of the last `Retry-After`, which may be in the past.
    pub(crate) fn hold_until_ms(&self) -> u64 {
        self.hold_until_ms
    }

    /// Holds all requests during a `Retry-After`, within bounds.
    pub(crate) fn hold(&mut self, now_ms: u64, retry_after_ms: u64) {
        self.apply_remote_hold(now_ms + retry_after_ms.min(MAX_RETRY_AFTER_MS));
    }

    /// Applies the `Retry-After` of another tab.
    pub(crate) fn apply_remote_hold(&mut self, until_ms: u64) {
        self.hold_until_ms = self.hold_until_ms.max(until_ms);
    }

    /// Returns the time until which a reply is awaited.
    pub(crate) fn reply_due_ms(&self) -> Option<u64> {
        self.reply_due_ms
    }

    /// Awaits the reply to a message that was just delivered.
    pub(crate) fn expect_reply(&mut self, now_ms: u64) {
        self.reply_due_ms = Some(now_ms + REPLY_TIMEOUT_MS);
    }

    /// Ends the wait for a reply. Returns whether there was one.
    pub(crate) fn end_reply_wait(&mut self) -> bool {
        self.reply_due_ms.take().is_some()
    }

    /// Applies another tab's wait for a reply.
    pub(crate) fn apply_remote_reply_wait(&mut self, due_ms: Option<u64>) {
        self.reply_due_ms = due_ms;
    }

    /// Returns how the next history is merged.
    pub(crate) fn sync(&self) -> Sync {
        self.sync
    }

    /// Polls the whole history of a conversation of which only the id is stored. Nothing in it is new.
    pub(crate) fn backfill(&mut self) {
        self.sync = Sync::Backfill;
    }

    /// Polls the conversation from its beginning once more.
    pub(crate) fn resync(&mut self) {
        if self.sync == Sync::Live {
            self.sync = Sync::Resync;
        }
    }

    /// Starts a conversation with the response to a message: there is no history to poll.
    pub(crate) fn begin_conversation(&mut self) {
        self.sync = Sync::Live;
        self.until_idle = false;
    }

    /// Resets the poller: the conversation is gone, or belongs to another visitor.
    pub(crate) fn end_conversation(&mut self) {
        self.presence = None;
        self.reply_due_ms = None;
    }

    /// Polls at once: the service may have something new. `in_flight` is whether a poll for messages is in
    /// flight, which began too early to show it.
    pub(crate) fn poll_now(&mut self, now_ms: u64, in_flight: bool) {
        self.pace.poll_now(now_ms);
        self.poll_until_idle(in_flight);
    }

    /// Polls messages until a poll brings nothing new, whatever the hints are.
    pub(crate) fn poll_until_idle(&mut self, in_flight: bool) {
        self.until_idle = true;
        self.is_stale = in_flight || self.is_divided;
    }

    /// Polls messages after the usual pause, if not before: an attempt may have arrived.
    pub(crate) fn poll_soon(&mut self, now_ms: u64, random: &mut Random) {
        self.pace.poll_soon(now_ms, random);
    }

    /// Polls presence at once: an operator has just written.
    pub(crate) fn poll_presence_now(&mut self, now_ms: u64) {
        self.pace.poll_presence_now(now_ms);
    }

    /// Records activity: the intervals are short again.
    pub(crate) fn record_activity(&mut self, now_ms: u64) {
        self.pace.record_activity(now_ms);
    }

    /// Returns when presence is polled next.
    pub(crate) fn presence_due_ms(&self) -> u64 {
        self.pace.next_presence_ms().max(self.hold_until_ms)
    }

    /// Returns when messages are polled next, but for a message in flight that is looked for at `confirm_ms`.
    /// The service may say that there is nothing to poll. Awaited messages are polled nevertheless.
    pub(crate) fn messages_due_ms(&self, confirm_ms: Option<u64>, is_awaited: bool) -> Option<u64> {
        let hints = self.presence.as_ref();
        let is_wanted = self.until_idle
            || self.has_more
            || is_awaited
            || hints.is_none_or(|presence| presence.should_poll_messages);
        let due_ms = confirm_ms.unwrap_or(u64::MAX).min(self.pace.next_messages_ms());
        is_wanted.then(|| due_ms.max(self.hold_until_ms))
    }

    /// Records a request for the messages after `cursor`. It is not a poll if the driver answers it with the
    /// next part of a response.
    pub(crate) fn on_poll_started(&mut self, cursor: Option<&MessageId>) {
        if !self.is_divided {
            self.polled_after = cursor.cloned();
            self.is_stale = false;
        }
    }

    /// Returns whether the last poll has moved the cursor, which is now `cursor`.
    pub(crate) fn has_moved(&self, cursor: Option<&MessageId>) -> bool {
        self.polled_after.as_ref() != cursor
    }

    /// Records a merged part of a response. The driver has more of it.
    pub(crate) fn on_part(&mut self) {
        self.is_divided = true;
        self.until_idle = true;
    }

    /// Records a merged history, or its last part. `is_new` is whether it had new messages, `has_more`
    /// whether there may be more after it.
    pub(crate) fn on_history(&mut self, is_new: bool, has_more: bool) {
        self.pace.reset_failures();
        self.is_divided = false;
        self.has_more = has_more;
        self.until_idle &= is_new || std::mem::take(&mut self.is_stale);
    }

    /// Ends the synchronisation. Returns whether the whole history was merged: later messages are new.
    pub(crate) fn end_sync(&mut self) -> bool {
        if !self.until_idle {
            self.sync = Sync::Live;
        }
        !self.until_idle
    }

    /// Plans the next poll for messages.
    pub(crate) fn plan_messages(&mut self, now_ms: u64, is_awaited: bool, open: bool, random: &mut Random) {
        if self.until_idle {
            self.pace.poll_messages_now(now_ms);
        } else if is_awaited || self.has_more {
            self.pace.poll_later(now_ms, random);
        } else {
            self.pace.plan_messages(now_ms, self.presence.as_ref(), open, random);
        }
    }

    /// Applies the response of the presence endpoint.
    pub(crate) fn on_presence(
        &mut self,
        now_ms: u64,
        presence: Presence,
        is_awaited: bool,
        open: bool,
        random: &mut Random,
    ) {
        self.pace.plan_presence(now_ms, Some(&presence), open, random);
        let hint = presence.message_interval_ms;
        let is_other_hint = self.presence.as_ref().is_none_or(|before| before.message_interval_ms != hint);
        self.presence = Some(presence);
        // Polls for awaited messages have their own interval.
        if is_other_hint && !is_awaited && !self.until_idle {
            self.pace.replan_messages(now_ms, self.presence.as_ref(), open, random);
        }
    }

    /// Plans the next poll after a failed one, with back-off.
    pub(crate) fn on_error(&mut self, now_ms: u64, retry_after_ms: Option<u64>, random: &mut Random) {
        let failures = self.pace.count_failure();
        let wait_ms = wait_ms(failures + 2, retry_after_ms, random);
        self.pace.hold(now_ms, wait_ms, random);
    }
}

#[cfg(test)]
mod poller_tests;
