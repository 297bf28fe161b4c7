//! What a tab may ask for, and how often.

use std::collections::{HashMap, VecDeque};

use chat_protocol::{Endpoint, ErrorCode, IdempotencyKey, Value, open_envelope};
use chat_session::{Answer, Request};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, hold};
use super::scenario::Scenario;
use super::stats::Fact;
use super::tab::{Outstanding, TabId};
use super::written::{Round, Tag};

const MAX_ATTEMPTS: u32 = 6;
const MAX_RETRY_AFTER_MS: u64 = 300_000;
/// No interval is longer, however slow the service wants it.
const MOST_INTERVAL_MS: u64 = 300_000;
/// A reply that is looked for is read for every 2 s, a fifth less with jitter.
const REPLY_FLOOR_MS: u64 = 1_600;
/// After a failure, the next read is due to back-off instead of the pace.
const FAILED_FLOOR_MS: u64 = 1_000;
/// Reads of an undisturbed minute at the shortest intervals, 1 s and 3 s, each a fifth shorter by jitter.
const READS_A_MINUTE: usize = 75 + 25;
/// Whatever stirs a tab may cost a read of messages and one of presence at once, and cuts the wait that was under way.
const READS_A_STIR: usize = 4;
/// What browsers let a page that is left send.
const MOST_KEEPALIVE_BYTES: usize = 60 * 1024;

/// What has been asked for so far.
#[derive(Default)]
pub struct Ledger {
    bodies: HashMap<IdempotencyKey, String>,
    /// The reads and the stirs of the last minute.
    reads: VecDeque<u64>,
    stirs: VecDeque<u64>,
    /// When messages were read, by whatever tab.
    pub polls: Vec<u64>,
}

impl Ledger {
    /// A letter was thrown away. Of messages that say the same, it may have been for the echo of another one: then its
    /// message is sent after all, under its key, and nobody knows any more from which page it was.
    pub fn mistake(&mut self, letter: &str) {
        self.bodies.retain(|key, _| !key.as_str().contains(letter));
    }
}

impl Simulation {
    /// Something happened to a tab that is an occasion to read out of turn.
    pub fn stir(&mut self, id: TabId) {
        self.tabs[id.0].stirred_ms = self.now_ms;
        self.ledger.stirs.push_back(self.now_ms);
    }

    /// A request may set out.
    pub fn may_set_out(&mut self, id: TabId, request: &Request, tag: Option<Tag>) -> Result<(), Violation> {
        if let (Some(key), Some(body)) = (&request.key, &request.body) {
            let first = self.ledger.bodies.entry(key.clone()).or_insert_with(|| body.clone());
            let same = first == body || self.storage_failed || self.stopped;
            hold(Invariant::SameBody, same, || format!("{key} was {first}, and is {body}"))?;
        }
        let tab = &self.tabs[id.0];
        let allow = |holds, why: &str| {
            hold(Invariant::NothingForbidden, holds, || format!("{:?} by {id}, {why}", request.endpoint))
        };
        let keepalive = request.endpoint == Endpoint::Events && request.keepalive;
        allow(keepalive || !tab.leaving, "whose page was left")?;
        allow(tab.told_online, "which is offline")?;
        if request.endpoint != Endpoint::Config {
            // A page that is hidden may never get another chance to send its events, leader or not.
            let parts = keepalive && (tab.leaving || !tab.visible);
            allow(tab.led || tab.session.leads() || parts, "which does not lead")?;
            allow(tab.session.is_on(), "whose chat is switched off")?;
        }
        match request.endpoint {
            Endpoint::Messages | Endpoint::Presence => {
                allow(tab.visible, "which is hidden")?;
                allow(tab.session.conversation_id().is_some(), "which has no conversation")?;
                self.may_read(id, request.endpoint)
            }
            Endpoint::Send => self.may_send(id, request, tag),
            Endpoint::Events => {
                hold(Invariant::Events, !tab.untracked, || format!("{id} was told to send none"))?;
                let size = request.body.as_ref().map_or(0, String::len);
                let fits = !request.keepalive || size <= MOST_KEEPALIVE_BYTES;
                hold(Invariant::Events, fits, || format!("{size} bytes from a page that is left"))?;
                if request.keepalive {
                    self.stats.count(Fact::EventsLeftWithThePage);
                }
                Ok(())
            }
            Endpoint::Config => Ok(()),
        }
    }

    fn may_read(&mut self, id: TabId, endpoint: Endpoint) -> Result<(), Violation> {
        let now_ms = self.now_ms;
        let closed = self.tabs.iter().all(|tab| !(tab.is_live() && tab.open));
        let tab = &mut self.tabs[id.0];
        let awaits = tab.session.awaits_reply();
        let interval_ms = interval_ms(endpoint, &self.scenario, tab.hinted);
        let stirred_ms = tab.stirred_ms;
        let Some(reading) = tab.reading(endpoint) else { return Ok(()) };
        let held = now_ms < reading.not_before_ms;
        hold(Invariant::RetryAfter, !held, || format!("{id} reads before {} ms", reading.not_before_ms))?;

        let paced_ms = (interval_ms * if closed { 2 } else { 1 }).min(MOST_INTERVAL_MS) * 4 / 5;
        // What was in force at the last read may still be.
        let mut floor_ms = paced_ms.min(std::mem::replace(&mut reading.paced_ms, paced_ms));
        if std::mem::replace(&mut reading.awaited, awaits) || awaits {
            floor_ms = floor_ms.min(REPLY_FLOOR_MS);
        }
        if std::mem::take(&mut reading.failed) {
            floor_ms = floor_ms.min(FAILED_FLOOR_MS);
        }
        let idle_ms = reading.last_ms.replace(now_ms).filter(|last_ms| stirred_ms < *last_ms);
        let gap_ms = idle_ms.map_or(u64::MAX, |last_ms| now_ms - last_ms);
        hold(Invariant::Pace, gap_ms >= floor_ms, || {
            format!("{id} reads {endpoint:?} after {gap_ms} ms with nothing happening, not {floor_ms} ms")
        })?;

        if endpoint == Endpoint::Messages {
            self.ledger.polls.push(now_ms);
        }
        self.ledger.reads.push_back(now_ms);
        for times in [&mut self.ledger.reads, &mut self.ledger.stirs] {
            while times.front().is_some_and(|at_ms| at_ms + 60_000 < now_ms) {
                times.pop_front();
            }
        }
        let (reads, stirs) = (self.ledger.reads.len(), self.ledger.stirs.len());
        hold(Invariant::Pace, reads <= READS_A_MINUTE + READS_A_STIR * stirs, || {
            format!("{reads} reads in a minute in which {stirs} things happened")
        })
    }

    fn may_send(&mut self, id: TabId, request: &Request, tag: Option<Tag>) -> Result<(), Violation> {
        let (now_ms, tab) = (self.now_ms, &self.tabs[id.0]);
        let under_way = |sent: &&Outstanding| sent.endpoint == Endpoint::Send && !sent.abandoned;
        let other = tab.outstanding.iter().find(under_way);
        hold(Invariant::OneInFlight, other.is_none(), || {
            format!("{id} sends message {tag:?} while {:?} is on its way", other.map(|sent| sent.tag))
        })?;
        let Some(message) = tag.and_then(|tag| self.written.get_mut(tag)) else {
            return Err(Violation::new(Invariant::WellFormed, format!("{id} sends what nobody wrote")));
        };
        if message.tab != id {
            self.stats.count(Fact::SentByAnotherTab);
        }
        if message.key != request.key {
            let first = message.key.is_none();
            hold(Invariant::SameKey, first || message.renewable || self.stopped, || {
                format!("\"{}\" had {:?}, and has {:?}", message.text, message.key, request.key)
            })?;
            if !first {
                self.stats.count(Fact::BegunAnew);
            }
            message.renewable = false;
            message.key.clone_from(&request.key);
            message.round = Round::default();
        }
        let by = Some((id, tab.term));
        if message.round.by != by {
            message.round = Round { by, ..Round::default() };
        }
        let round = &mut message.round;
        round.attempts += 1;
        let most = MAX_ATTEMPTS * (1 + round.urged);
        hold(Invariant::SixAttempts, round.attempts <= most, || {
            format!("{id} tries \"{}\" once more than {most} times", message.text)
        })?;
        if now_ms >= round.not_before_ms {
            return Ok(());
        }
        self.stats.count(Fact::SentBeforeItsTime);
        hold(Invariant::RetryAfter, std::mem::take(&mut round.may_hurry), || {
            format!("{id} tries \"{}\" before {} ms", message.text, round.not_before_ms)
        })
    }

    /// An answer reaches a tab that waits for it: what it says is to be kept to.
    pub fn answered(&mut self, id: TabId, landed: &Outstanding, answer: &Answer) {
        let outcome = open_envelope(answer.status, answer.body.clone());
        let held_ms = answer.retry_after_ms.filter(|_| answer.status != 200);
        let not_before_ms = held_ms.map_or(0, |held_ms| self.now_ms + held_ms.min(MAX_RETRY_AFTER_MS));
        let tab = &mut self.tabs[id.0];
        if let Some(reading) = tab.reading(landed.endpoint) {
            reading.failed |= outcome.is_err();
            reading.not_before_ms = not_before_ms;
        }
        match landed.endpoint {
            Endpoint::Presence => tab.hinted |= outcome.is_ok(),
            Endpoint::Events => {
                let tracking = outcome.ok().and_then(|data| data.get("tracking").cloned());
                tab.untracked |= tracking.as_ref().and_then(Value::as_text) == Some("disabled");
            }
            Endpoint::Send => {
                let Some(message) = landed.tag.and_then(|tag| self.written.get_mut(tag)) else { return };
                message.round.not_before_ms = not_before_ms;
                if not_before_ms > self.now_ms {
                    self.stats.count(Fact::RetryAfterHeld);
                }
                match outcome {
                    Ok(_) if message.retried => self.stats.count(Fact::FailedThenDelivered),
                    Err(error) => {
                        message.renewable |= error.status == 404 && error.code == ErrorCode::NotFound;
                    }
                    Ok(_) => {}
                }
            }
            Endpoint::Config | Endpoint::Messages => {}
        }
    }
}

/// The interval that the service asks for, within the bounds that the widget keeps to. A tab that has not heard it
/// goes by the usual one, or by what another tab has heard.
fn interval_ms(endpoint: Endpoint, scenario: &Scenario, hinted: bool) -> u64 {
    let (hint, usual_ms, least_ms, most_ms) = match endpoint {
        Endpoint::Presence => (scenario.presence_hint, 20_000, 3_000, 300_000),
        _ => (scenario.messages_hint, 5_000, 1_000, 60_000),
    };
    let asked_ms = hint.map_or(usual_ms, |hint| u64::try_from(hint).unwrap_or(0).clamp(least_ms, most_ms));
    if hinted { asked_ms } else { asked_ms.min(usual_ms) }
}
