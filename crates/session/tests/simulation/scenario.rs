//! The scenario of a simulation: the freedoms that the service uses, and the rates of faults.

use std::ops::{Range, RangeInclusive};

use fastrand::Rng;

use super::storage::StorageMode;

/// What the service returns as `nextAfter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAfter {
    /// The last listed message, or the given cursor if there is none.
    Last,
    /// No cursor.
    Missing,
    /// The given cursor, always.
    Repeated,
    /// Sometimes an earlier message.
    Back,
}

/// The dates of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    True,
    Missing,
    Equal,
    /// Off by minutes, so that the dates are not in the order of the messages.
    Skewed,
}

/// All parameters of a simulation.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The history lists the visitor's own messages.
    pub echoes: bool,
    /// The role of the visitor in the history.
    pub visitor_role: &'static str,
    /// Messages carry ids.
    pub ids: bool,
    /// The response to a message has its id.
    pub user_message_ids: bool,
    pub honours_after: bool,
    pub next_after: NextAfter,
    /// Maximum number of messages in a page of the history.
    pub page_size: usize,
    /// Maximum number of messages that the driver hands over at once. It divides a longer response, and hands
    /// over its newest messages ahead.
    pub part_size: usize,
    /// The number of messages that the visitor wrote before the first page, with a client that stores only
    /// the ids of the visitor and of the conversation.
    pub earlier_messages: usize,
    pub dates: Dates,
    /// The visitor sends "ok" more than once.
    pub equal_texts: bool,
    /// A failed AI leaves an empty message in the history.
    pub stores_empty_reply: bool,
    /// The probabilities that the AI fails, and that it refuses. Percent.
    pub ai_fails: u8,
    pub ai_refuses: u8,
    /// Usual maximum time that the AI takes. Milliseconds.
    pub think_ms: u64,
    pub presence_hint: Option<i64>,
    pub messages_hint: Option<i64>,
    /// The service says whether there are messages to poll. Otherwise it always says so.
    pub hints_when_to_poll: bool,
    /// Tracking is enabled.
    pub tracks: bool,

    /// Usual maximum delay of a request or a response. Milliseconds.
    pub latency_ms: u64,
    /// The number of requests in a thousand that never arrive.
    pub requests_lost: u32,
    /// The number of requests in a thousand whose response is lost.
    pub responses_lost: u32,
    /// The number of requests in a thousand that a gateway refuses.
    pub refused: u32,
    /// The number of requests in a thousand that arrive twice.
    pub duplicated: u32,
    /// The number of requests in a thousand that take many seconds.
    pub slow: u32,
    /// One in this number of losses goes unnoticed until the deadline. The others are errors.
    pub silent_losses: u32,

    pub storage: StorageMode,
    pub max_tabs: usize,
    /// The number of steps, and the mean time between two of them.
    pub steps: u32,
    pub step_interval_ms: u64,
    /// Most steps are messages.
    pub mostly_messages: bool,
    /// Tabs crash, hang, freeze and navigate.
    pub tabs_fail: bool,
    pub network_comes_and_goes: bool,
    pub machine_sleeps: bool,
    pub storage_is_cleared: bool,
    pub purges: bool,
    pub resets: bool,
    pub switched_off: bool,
    pub reports: bool,
    /// The length of an idle time at the end. Minutes.
    pub idle_minutes: u64,
}

impl Scenario {
    /// Returns a scenario without faults, with one tab and no steps.
    pub fn calm() -> Self {
        Self {
            echoes: true,
            visitor_role: "visitor",
            ids: true,
            user_message_ids: true,
            honours_after: true,
            next_after: NextAfter::Last,
            page_size: usize::MAX,
            part_size: usize::MAX,
            earlier_messages: 0,
            dates: Dates::True,
            equal_texts: false,
            stores_empty_reply: false,
            ai_fails: 0,
            ai_refuses: 0,
            think_ms: 0,
            presence_hint: None,
            messages_hint: None,
            hints_when_to_poll: false,
            tracks: true,
            latency_ms: 0,
            requests_lost: 0,
            responses_lost: 0,
            refused: 0,
            duplicated: 0,
            slow: 0,
            silent_losses: 2,
            storage: StorageMode::Reliable,
            max_tabs: 1,
            steps: 0,
            step_interval_ms: 1_000,
            mostly_messages: true,
            tabs_fail: false,
            network_comes_and_goes: false,
            machine_sleeps: false,
            storage_is_cleared: false,
            purges: false,
            resets: false,
            switched_off: false,
            reports: false,
            idle_minutes: 0,
        }
    }

    pub fn draw(rng: &mut Rng) -> Self {
        let mut drawn = Self {
            max_tabs: draw_small(rng, 1..=8),
            steps: u32::try_from(draw_small(rng, 3..=45)).unwrap_or(3),
            step_interval_ms: [50, 300, 1_000, 2_000, 4_000, 10_000][rng.usize(..6)],
            think_ms: 4_000,
            mostly_messages: rng.u8(..4) == 0,
            tabs_fail: rng.u8(..3) > 0,
            network_comes_and_goes: rng.u8(..3) == 0,
            machine_sleeps: rng.u8(..8) == 0,
            storage_is_cleared: rng.u8(..8) == 0,
            purges: rng.u8(..8) == 0,
            resets: rng.u8(..12) == 0,
            switched_off: rng.u8(..12) == 0,
            reports: rng.bool(),
            idle_minutes: if rng.u8(..32) == 0 { 5 } else { 0 },
            storage: match rng.u8(..10) {
                0 | 1 => StorageMode::Full(rng.u8(5..100)),
                2 => StorageMode::Blocked,
                _ => StorageMode::Reliable,
            },
            ..Self::calm()
        };
        drawn.draw_service(rng);
        drawn.draw_network(rng);
        // Drawn last, and from a copy, so that a seed draws what it drew before there was a choice.
        let divides = rng.bool();
        let mut rng = rng.clone();
        // A part ends with the id of a message, and the driver itself continues after it.
        if divides && (drawn.ids || drawn.can_continue()) {
            drawn.part_size = rng.usize(2..6);
        }
        if rng.u8(..4) == 0 {
            drawn.earlier_messages = rng.usize(1..=8);
        }
        drawn
    }

    /// Draws the freedoms of the contract. Seven combinations are excluded, because no client could be
    /// correct in them:
    ///
    /// - A storage that refuses writes may refuse a reset: the next page finds the erased data.
    /// - A purged conversation loses its idempotency keys: a client whose storage lost the delivery of a
    ///   message sends it into the next conversation.
    /// - If storage lost a pending message, and another one has the same text, an echo may be that of either.
    ///   Without a `userMessageId`, it may be that of a message unknown to the client.
    /// - Without ids, two messages with the same text look like one message listed twice, unless their dates
    ///   differ. The visitor's equal messages cannot be distinguished at all. Ids are therefore missing only
    ///   if dates and texts differ, and the author is known.
    /// - Without `userMessageId`, an echo is recognised by author and text. It is therefore missing only if
    ///   the author is known and the texts differ, or if nothing is echoed.
    /// - The rest of a history needs a cursor. Pages are therefore limited only if `after` is honoured, there
    ///   are ids or a `nextAfter`, and `nextAfter` moves.
    /// - Without ids, a client whose storage lost entries cannot tell which messages it has shown: storage is
    ///   then reliable.
    fn draw_service(&mut self, rng: &mut Rng) {
        self.echoes = rng.u8(..4) > 0;
        self.visitor_role = ["visitor", "user", "customer", "person"][rng.usize(..4)];
        self.ids = rng.u8(..4) > 0;
        self.dates = [Dates::True, Dates::Missing, Dates::Equal, Dates::Skewed][rng.usize(..4)];
        self.equal_texts = rng.u8(..3) == 0;
        self.honours_after = rng.u8(..4) > 0;
        self.next_after =
            [NextAfter::Last, NextAfter::Last, NextAfter::Missing, NextAfter::Repeated, NextAfter::Back]
                [rng.usize(..5)];
        if !self.ids {
            self.visitor_role = "visitor";
            self.dates = if rng.bool() { Dates::True } else { Dates::Skewed };
            self.equal_texts = false;
            (self.storage, self.storage_is_cleared) = (StorageMode::Reliable, false);
        }
        if self.storage_is_cleared || self.storage != StorageMode::Reliable {
            (self.equal_texts, self.resets, self.purges) = (false, false, false);
        }
        let known = self.visitor_role != "person" && !self.equal_texts;
        let is_unreliable = self.storage_is_cleared || self.storage != StorageMode::Reliable;
        self.user_message_ids = rng.bool() || (self.echoes && (!known || is_unreliable));
        if self.can_continue() && rng.bool() {
            self.page_size = rng.usize(2..8);
        }
        self.stores_empty_reply = rng.u8(..4) == 0;
        if rng.u8(..3) == 0 {
            self.ai_fails = rng.u8(10..90);
        }
        if rng.u8(..10) == 0 {
            self.ai_refuses = rng.u8(1..30);
        }
        let absurd = [0, -1, i64::MIN, i64::MAX, 1, 86_400_000];
        let mut hint = |sane: Range<i64>| match rng.u8(..8) {
            0 => Some(absurd[rng.usize(..absurd.len())]),
            1..=3 => Some(rng.i64(sane)),
            _ => None,
        };
        (self.presence_hint, self.messages_hint) = (hint(5_000..60_000), hint(1_000..15_000));
        self.hints_when_to_poll = rng.u8(..4) == 0;
        self.tracks = rng.u8(..4) > 0;
    }

    /// Returns whether a client can continue a history after any of its messages.
    fn can_continue(&self) -> bool {
        let has_cursor =
            self.next_after == NextAfter::Last || (self.ids && self.next_after == NextAfter::Missing);
        self.honours_after && has_cursor
    }

    fn draw_network(&mut self, rng: &mut Rng) {
        self.latency_ms = [5, 50, 200, 800][rng.usize(..4)];
        let max = match rng.u8(..10) {
            0 | 1 => return,
            2..=7 => 60,
            _ => 300,
        };
        self.requests_lost = rng.u32(..max);
        self.responses_lost = rng.u32(..max);
        self.refused = rng.u32(..max);
        self.duplicated = rng.u32(..max);
        self.slow = rng.u32(..max);
        self.silent_losses = rng.u32(2..10);
    }
}

/// Draws a number in the range: small ones are more likely.
fn draw_small(rng: &mut Rng, range: RangeInclusive<usize>) -> usize {
    (0..3).map(|_| rng.usize(range.clone())).min().unwrap_or(*range.start())
}
