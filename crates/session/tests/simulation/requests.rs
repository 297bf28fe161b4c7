//! Checks of every request: whether its tab may send it, and when.

use std::collections::{HashMap, VecDeque};

use chat_protocol::{Endpoint, ErrorCode, IdempotencyKey, Value, open_envelope};
use chat_session::{Answer, Request};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, check};
use super::messages::{Round, Tag};
use super::scenario::Scenario;
use super::stats::Fact;
use super::tab::{Outstanding, TabId};

const MAX_ATTEMPTS: u32 = 6;
const MAX_RETRY_AFTER_MS: u64 = 300_000;
/// Maximum interval of polls, whatever the service asks for.
const MAX_INTERVAL_MS: u64 = 300_000;
/// Minimum interval while a reply is awaited: 2 s, minus a fifth for jitter. The poll for a message in
/// flight, after 2 s, may be sooner than a longer interval.
const MIN_REPLY_INTERVAL_MS: u64 = 1_600;
/// Minimum interval after a failed poll, whose back-off replaces the interval.
const MIN_RETRY_INTERVAL_MS: u64 = 1_000;
/// Maximum polls in a minute without triggers, at the shortest intervals of 1 s and 3 s, minus a fifth for
/// jitter.
const MAX_POLLS_PER_MINUTE: usize = 75 + 25;
/// Maximum polls for each trigger: messages and presence at once, and again after the shortened interval.
const POLLS_PER_TRIGGER: usize = 4;
/// Maximum size of a request that outlives its page.
const MAX_KEEPALIVE_BYTES: usize = 60 * 1024;

/// The requests so far.
#[derive(Default)]
pub struct Ledger {
    bodies: HashMap<IdempotencyKey, String>,
    /// The times of polls and of triggers in the last minute.
    recent_polls: VecDeque<u64>,
    triggers: VecDeque<u64>,
    /// The times of polls for messages, in any tab.
    pub message_polls: Vec<u64>,
}

impl Ledger {
    /// Forgets the request of a pending message that was removed. With equal texts, the echo may be that of
    /// another message: then it is sent after all, with the same key and another source page.
    pub fn forget_request(&mut self, local_id: &str) {
        self.bodies.retain(|key, _| !key.as_str().contains(local_id));
    }
}

impl Simulation {
    /// Records an event after which a tab may poll early.
    pub fn trigger_poll(&mut self, id: TabId) {
        self.tabs[id.0].triggered_ms = self.now_ms;
        self.ledger.triggers.push_back(self.now_ms);
    }

    /// Checks a request before it is sent. One that the driver answers by itself need not keep the pace.
    pub fn check_request(
        &mut self,
        id: TabId,
        request: &Request,
        tag: Option<Tag>,
        reaches_network: bool,
    ) -> Result<(), Violation> {
        if let (Some(key), Some(body)) = (&request.key, &request.body) {
            let first = self.ledger.bodies.entry(key.clone()).or_insert_with(|| body.clone());
            let same = first == body || self.storage_failed || self.has_hung;
            check(Invariant::SameBody, same, || format!("{key} had the body {first}, and has {body}"))?;
        }
        let tab = &self.tabs[id.0];
        let allow = |holds, why: &str| {
            check(Invariant::OnlyAllowedRequests, holds, || format!("{:?} by {id}, {why}", request.endpoint))
        };
        let keepalive = request.endpoint == Endpoint::Events && request.keepalive;
        allow(keepalive || !tab.leaving, "whose page was left")?;
        allow(tab.reported_online, "which is offline")?;
        if request.endpoint != Endpoint::Config {
            // A hidden page may have no other chance to send its events, leader or not.
            let is_last_chance = keepalive && (tab.leaving || !tab.visible);
            allow(tab.led || tab.session.leads() || is_last_chance, "which does not lead")?;
            allow(tab.session.is_on(), "whose chat is switched off")?;
        }
        match request.endpoint {
            Endpoint::Messages | Endpoint::Presence => {
                allow(tab.visible, "which is hidden")?;
                allow(tab.session.conversation_id().is_some(), "which has no conversation")?;
                if reaches_network { self.check_poll(id, request.endpoint) } else { Ok(()) }
            }
            Endpoint::Send => self.check_send(id, request, tag),
            Endpoint::Events => {
                check(Invariant::Events, !tab.untracked, || {
                    format!("{id} sends events while tracking is disabled")
                })?;
                let size = request.body.as_ref().map_or(0, String::len);
                let fits = !request.keepalive || size <= MAX_KEEPALIVE_BYTES;
                check(Invariant::Events, fits, || format!("{size} bytes from a page that is left"))?;
                if request.keepalive {
                    self.stats.count(Fact::EventsSentWithKeepalive);
                }
                Ok(())
            }
            Endpoint::Config => Ok(()),
        }
    }

    fn check_poll(&mut self, id: TabId, endpoint: Endpoint) -> Result<(), Violation> {
        let now_ms = self.now_ms;
        let closed = self.tabs.iter().all(|tab| !(tab.is_live() && tab.open));
        let tab = &mut self.tabs[id.0];
        let awaits = tab.session.awaits_reply();
        let interval_ms = interval_ms(endpoint, &self.scenario, tab.hinted);
        let triggered_ms = tab.triggered_ms;
        let Some(poll_state) = tab.poll_state(endpoint) else { return Ok(()) };
        let held = now_ms < poll_state.not_before_ms;
        check(Invariant::RetryAfter, !held, || format!("{id} polls before {} ms", poll_state.not_before_ms))?;

        let paced_ms = (interval_ms * if closed { 2 } else { 1 }).min(MAX_INTERVAL_MS) * 4 / 5;
        // The interval of the last poll may still apply.
        let mut min_ms = paced_ms.min(std::mem::replace(&mut poll_state.interval_ms, paced_ms));
        if std::mem::replace(&mut poll_state.awaited, awaits) || awaits {
            min_ms = min_ms.min(MIN_REPLY_INTERVAL_MS);
        }
        if std::mem::take(&mut poll_state.failed) {
            min_ms = min_ms.min(MIN_RETRY_INTERVAL_MS);
        }
        let idle_ms = poll_state.last_ms.replace(now_ms).filter(|last_ms| triggered_ms < *last_ms);
        let step_interval_ms = idle_ms.map_or(u64::MAX, |last_ms| now_ms - last_ms);
        check(Invariant::Pace, step_interval_ms >= min_ms, || {
            format!(
                "{id} polls {endpoint:?} after {step_interval_ms} ms without a trigger, and not after {min_ms} ms"
            )
        })?;

        if endpoint == Endpoint::Messages {
            self.ledger.message_polls.push(now_ms);
        }
        self.ledger.recent_polls.push_back(now_ms);
        for times in [&mut self.ledger.recent_polls, &mut self.ledger.triggers] {
            while times.front().is_some_and(|at_ms| at_ms + 60_000 < now_ms) {
                times.pop_front();
            }
        }
        let (polls, triggers) = (self.ledger.recent_polls.len(), self.ledger.triggers.len());
        check(Invariant::Pace, polls <= MAX_POLLS_PER_MINUTE + POLLS_PER_TRIGGER * triggers, || {
            format!("{polls} polls in a minute with {triggers} triggers")
        })
    }

    fn check_send(&mut self, id: TabId, request: &Request, tag: Option<Tag>) -> Result<(), Violation> {
        let (now_ms, tab) = (self.now_ms, &self.tabs[id.0]);
        let in_flight = |sent: &&Outstanding| sent.endpoint == Endpoint::Send && !sent.abandoned;
        let other = tab.outstanding.iter().find(in_flight);
        check(Invariant::OneInFlight, other.is_none(), || {
            format!("{id} sends message {tag:?} while {:?} is in flight", other.map(|sent| sent.tag))
        })?;
        let Some(message) = tag.and_then(|tag| self.messages.get_mut(tag)) else {
            return Err(Violation::new(
                Invariant::WellFormed,
                format!("{id} sends a message that nobody wrote"),
            ));
        };
        if message.tab != id {
            self.stats.count(Fact::SentByAnotherTab);
        }
        if message.key != request.key {
            let first = message.key.is_none();
            check(Invariant::SameKey, first || message.may_change_key || self.has_hung, || {
                format!("\"{}\" had {:?}, and has {:?}", message.text, message.key, request.key)
            })?;
            if !first {
                self.stats.count(Fact::NewConversation);
            }
            message.may_change_key = false;
            message.key.clone_from(&request.key);
            message.round = Round::default();
        }
        let by = Some((id, tab.term));
        if message.round.by != by {
            message.round = Round { by, ..Round::default() };
        }
        let round = &mut message.round;
        round.attempts += 1;
        let max = MAX_ATTEMPTS * (1 + round.retries);
        check(Invariant::MaxAttempts, round.attempts <= max, || {
            format!("{id} attempts \"{}\" more than {max} times", message.text)
        })?;
        if now_ms >= round.not_before_ms {
            return Ok(());
        }
        self.stats.count(Fact::SentEarlyOnRetry);
        check(Invariant::RetryAfter, std::mem::take(&mut round.may_skip_wait), || {
            format!("{id} attempts \"{}\" before {} ms", message.text, round.not_before_ms)
        })
    }

    /// Notes what a response demands of the tab that receives it.
    pub fn note_response(&mut self, id: TabId, finished: &Outstanding, answer: &Answer) {
        let outcome = open_envelope(answer.status, answer.body.clone());
        let held_ms = answer.retry_after_ms.filter(|_| answer.status != 200);
        let not_before_ms = held_ms.map_or(0, |held_ms| self.now_ms + held_ms.min(MAX_RETRY_AFTER_MS));
        let tab = &mut self.tabs[id.0];
        if let Some(poll_state) = tab.poll_state(finished.endpoint) {
            poll_state.failed |= outcome.is_err();
            poll_state.not_before_ms = not_before_ms;
        }
        match finished.endpoint {
            Endpoint::Presence => tab.hinted |= outcome.is_ok(),
            Endpoint::Events => {
                let tracking = outcome.ok().and_then(|data| data.get("tracking").cloned());
                tab.untracked |= tracking.as_ref().and_then(Value::as_text) == Some("disabled");
            }
            Endpoint::Send => {
                let Some(message) = finished.tag.and_then(|tag| self.messages.get_mut(tag)) else { return };
                message.round.not_before_ms = not_before_ms;
                if not_before_ms > self.now_ms {
                    self.stats.count(Fact::WaitedForRetryAfter);
                }
                match outcome {
                    Ok(_) if message.retried => self.stats.count(Fact::FailedThenDelivered),
                    Err(error) => {
                        message.may_change_key |= error.status == 404 && error.code == ErrorCode::NotFound;
                    }
                    Ok(_) => {}
                }
            }
            Endpoint::Config | Endpoint::Messages => {}
        }
    }
}

/// Returns the interval that the service asks for, within the widget's bounds. A tab without the hint uses
/// the default, or the hint of another tab.
fn interval_ms(endpoint: Endpoint, scenario: &Scenario, hinted: bool) -> u64 {
    let (hint, default_ms, min_ms, max_ms) = match endpoint {
        Endpoint::Presence => (scenario.presence_hint, 20_000, 3_000, 300_000),
        _ => (scenario.messages_hint, 5_000, 1_000, 60_000),
    };
    let hinted_ms = hint.map_or(default_ms, |hint| u64::try_from(hint).unwrap_or(0).clamp(min_ms, max_ms));
    if hinted { hinted_ms } else { hinted_ms.min(default_ms) }
}
