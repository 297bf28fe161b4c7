//! What a seed decides before its simulation begins: what the contract leaves open, and how much goes wrong.

use std::ops::{Range, RangeInclusive};

use fastrand::Rng;

use super::storage::Mood;

/// What the service says to pass as `after` next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAfter {
    /// The last message that it listed, or the cursor that it was given when there was none.
    Last,
    /// Nothing.
    Missing,
    /// What it was given, whatever it listed.
    Repeated,
    /// Now and then a message from before.
    Back,
}

/// What the service says about the time of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    True,
    Missing,
    Equal,
    /// Off by minutes, each by others, so that their order is not the messages' order.
    Skewed,
}

/// One draw of all that a simulation may differ in.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The history lists the visitor's own messages.
    pub echoes: bool,
    /// The role under which it does.
    pub visitor_role: &'static str,
    /// Messages carry ids.
    pub ids: bool,
    /// The answer to a message names it.
    pub user_message_ids: bool,
    pub honours_after: bool,
    pub next_after: NextAfter,
    /// Most messages in one answer.
    pub page_size: usize,
    pub dates: Dates,
    /// The visitor says "ok" more than once.
    pub equal_texts: bool,
    /// An AI that failed leaves an empty message in the history.
    pub leaves_empty: bool,
    /// Chances in a hundred that the AI fails, and that it refuses.
    pub ai_fails: u8,
    pub ai_refuses: u8,
    /// The AI rarely thinks longer.
    pub think_ms: u64,
    pub presence_hint: Option<i64>,
    pub messages_hint: Option<i64>,
    /// Says that there is nothing to poll for until there is. Otherwise it always is.
    pub tells_when_to_poll: bool,
    /// The service wants the visitor's events.
    pub tracks: bool,

    /// Most milliseconds that a request or an answer travels, as a rule.
    pub latency_ms: u64,
    /// Of a thousand requests so many…
    /// …never arrive,
    pub requests_lost: u32,
    /// …arrive, but nobody hears the answer,
    pub answers_lost: u32,
    /// …are answered with a failure by something between the widget and the service,
    pub refused: u32,
    /// …arrive twice,
    pub doubled: u32,
    /// …or take many seconds. Those that are lost leave silence instead of an error in one of so many cases.
    pub slow: u32,
    pub silence: u32,

    pub storage: Mood,
    pub most_tabs: usize,
    /// How many things happen, and the mean time between two of them.
    pub acts: u32,
    pub gap_ms: u64,
    /// The visitor mostly talks, and little else happens.
    pub talkative: bool,
    /// Tabs crash, hang, freeze and are navigated.
    pub tabs_suffer: bool,
    pub network_comes_and_goes: bool,
    pub machine_sleeps: bool,
    pub storage_is_cleared: bool,
    pub purges: bool,
    pub resets: bool,
    pub switched_off: bool,
    pub reports: bool,
    /// Minutes of nothing at the end.
    pub idle_minutes: u64,
}

impl Scenario {
    /// A service that leaves nothing open, a network that loses nothing, one tab, and nobody who does anything.
    pub fn calm() -> Self {
        Self {
            echoes: true,
            visitor_role: "visitor",
            ids: true,
            user_message_ids: true,
            honours_after: true,
            next_after: NextAfter::Last,
            page_size: usize::MAX,
            dates: Dates::True,
            equal_texts: false,
            leaves_empty: false,
            ai_fails: 0,
            ai_refuses: 0,
            think_ms: 0,
            presence_hint: None,
            messages_hint: None,
            tells_when_to_poll: false,
            tracks: true,
            latency_ms: 0,
            requests_lost: 0,
            answers_lost: 0,
            refused: 0,
            doubled: 0,
            slow: 0,
            silence: 2,
            storage: Mood::Sound,
            most_tabs: 1,
            acts: 0,
            gap_ms: 1_000,
            talkative: true,
            tabs_suffer: false,
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
            most_tabs: few(rng, 1..=8),
            acts: u32::try_from(few(rng, 3..=45)).unwrap_or(3),
            gap_ms: [50, 300, 1_000, 2_000, 4_000, 10_000][rng.usize(..6)],
            think_ms: 4_000,
            talkative: rng.u8(..4) == 0,
            tabs_suffer: rng.u8(..3) > 0,
            network_comes_and_goes: rng.u8(..3) == 0,
            machine_sleeps: rng.u8(..8) == 0,
            storage_is_cleared: rng.u8(..8) == 0,
            purges: rng.u8(..8) == 0,
            resets: rng.u8(..12) == 0,
            switched_off: rng.u8(..12) == 0,
            reports: rng.bool(),
            idle_minutes: if rng.u8(..32) == 0 { 5 } else { 0 },
            storage: match rng.u8(..10) {
                0 | 1 => Mood::Full(rng.u8(5..100)),
                2 => Mood::Blocked,
                _ => Mood::Sound,
            },
            ..Self::calm()
        };
        drawn.draw_service(rng);
        drawn.draw_network(rng);
        drawn
    }

    /// What the contract leaves open. Seven combinations are left out, since no client could tell what is what in them:
    ///
    /// - A storage that refuses may refuse a reset, and what was to be forgotten is there for the next page.
    /// - A conversation that is gone takes the memory of its keys with it: a client whose storage lost that a message arrived
    ///   sends it into the next one.
    /// - Where storage lost a letter, and another message says the same, an echo may be that of either; and without a
    ///   `userMessageId`, of a message that nobody knows any more.
    /// - Without ids, two messages that say the same are one message listed twice, unless their dates differ; and
    ///   nothing says which of the visitor's equal messages is which. So there are no ids only with dates that differ
    ///   and texts that differ, and an author whom the client knows.
    /// - Without `userMessageId`, an echo is recognised by who says what. So it is missing only where the author is
    ///   known and the texts differ, or where nothing is echoed.
    /// - A page that ends before the last message can be gone on from only by a cursor: pages have a size only where
    ///   `after` is honoured, with ids or a `nextAfter` to give, and with a `nextAfter` that does not stand still.
    /// - Without ids, a client whose storage lost what it showed cannot tell what it has read from what it has not: there
    ///   storage is sound.
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
            (self.storage, self.storage_is_cleared) = (Mood::Sound, false);
        }
        if self.storage_is_cleared || self.storage != Mood::Sound {
            (self.equal_texts, self.resets, self.purges) = (false, false, false);
        }
        let known = self.visitor_role != "person" && !self.equal_texts;
        let unsound = self.storage_is_cleared || self.storage != Mood::Sound;
        self.user_message_ids = rng.bool() || (self.echoes && (!known || unsound));
        let goes_on =
            self.next_after == NextAfter::Last || (self.ids && self.next_after == NextAfter::Missing);
        if self.honours_after && goes_on && rng.bool() {
            self.page_size = rng.usize(2..8);
        }
        self.leaves_empty = rng.u8(..4) == 0;
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
        self.tells_when_to_poll = rng.u8(..4) == 0;
        self.tracks = rng.u8(..4) > 0;
    }

    fn draw_network(&mut self, rng: &mut Rng) {
        self.latency_ms = [5, 50, 200, 800][rng.usize(..4)];
        let most = match rng.u8(..10) {
            0 | 1 => return,
            2..=7 => 60,
            _ => 300,
        };
        self.requests_lost = rng.u32(..most);
        self.answers_lost = rng.u32(..most);
        self.refused = rng.u32(..most);
        self.doubled = rng.u32(..most);
        self.slow = rng.u32(..most);
        self.silence = rng.u32(2..10);
    }
}

/// A number in the range, and rather a small one.
fn few(rng: &mut Rng, range: RangeInclusive<usize>) -> usize {
    (0..3).map(|_| rng.usize(range.clone())).min().unwrap_or(*range.start())
}
