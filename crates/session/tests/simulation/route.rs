//! Requests on their way to the service, and responses on their way back.

use std::rc::Rc;

use chat_protocol::{Endpoint, History, Value, open_envelope};
use chat_session::{Answer, Input, Request};

use super::engine::{Event, Simulation};
use super::invariants::Violation;
use super::long_history::{LongHistory, parameter};
use super::messages::tag_of;
use super::network::{InFlight, Loss, Network, Outcome};
use super::service::Reaction;
use super::tab::{Life, Outstanding, PollTrigger, Queued, TabId};

impl Simulation {
    pub fn send_request(&mut self, id: TabId, request: Request) -> Result<(), Violation> {
        let kept = self.take_kept(id, &request);
        let fate = if kept.is_some() { Network::none() } else { self.network.fate(&self.scenario) };
        self.trace.note(self.now_ms, id, || {
            let key = request.key.as_ref().map_or_else(String::new, |key| format!(" key {key}"));
            let body = request.body.as_deref().unwrap_or_default();
            let outcome = match &fate.outcome {
                Outcome::Answered => String::new(),
                outcome => format!(" → {outcome:?}"),
            };
            let again = if fate.copy_after_ms.is_some() { " → twice" } else { "" };
            let from = if kept.is_some() { " → from the driver" } else { "" };
            format!("{}{key} {:?} {body}{outcome}{again}{from}", name(&request), request.query)
        });
        let tag = (request.endpoint == Endpoint::Send).then(|| tag_of(&request, &self.messages)).flatten();
        self.check_request(id, &request, tag, kept.is_none())?;
        self.stats.requests += 1;
        let tab = &mut self.tabs[id.0];
        tab.outstanding.push(Outstanding {
            id: request.id,
            endpoint: request.endpoint,
            deadline_ms: request.deadline_ms,
            tag,
            abandoned: false,
        });
        let flight = Rc::new(InFlight { tab: id, frozen_times: tab.frozen_times, request, tag, fate });
        match kept {
            Some(history) => self.await_idle(&flight, history),
            None => self.schedule_arrival(&flight),
        }
        Ok(())
    }

    fn schedule_arrival(&mut self, flight: &Rc<InFlight>) {
        let fate = &flight.fate;
        if let Some(later_ms) = fate.copy_after_ms {
            self.stats.faults += 1;
            self.schedule(
                fate.request_ms + later_ms,
                Event::RequestArrives { flight: Rc::clone(flight), again: true },
            );
        }
        if !matches!(fate.outcome, Outcome::Answered) {
            self.stats.faults += 1;
        }
        let returned = match &fate.outcome {
            Outcome::Answered | Outcome::ResponseLost(_) | Outcome::Replaced(_) => {
                self.schedule(
                    fate.request_ms,
                    Event::RequestArrives { flight: Rc::clone(flight), again: false },
                );
                return;
            }
            Outcome::RequestLost(Loss::Silence) => return,
            Outcome::RequestLost(Loss::Error) => None,
            Outcome::Refused(answer) => Some(answer.clone()),
        };
        let in_ms = fate.request_ms + fate.response_ms;
        self.schedule(in_ms, Event::ResponseArrives { flight: Rc::clone(flight), answer: returned });
    }

    /// Returns whether the page still waits for the response.
    pub fn is_awaited(&self, flight: &InFlight) -> bool {
        let tab = &self.tabs[flight.tab.0];
        tab.life == Life::Running
            && tab.outstanding.iter().any(|outstanding| outstanding.id == flight.request.id)
    }

    pub fn on_arrival(&mut self, flight: &Rc<InFlight>, again: bool) -> Result<(), Violation> {
        if !(self.is_awaited(flight) || flight.fate.outlives_page || flight.request.keepalive) {
            return Ok(());
        }
        if !self.online {
            self.schedule(1, Event::ResponseArrives { flight: Rc::clone(flight), answer: None });
            return Ok(());
        }
        match self.service.take(flight, self.now_ms, &mut self.stats)? {
            // No page awaits the response to a second copy.
            Reaction::Answer(answer) if !again => self.send_response(flight, answer),
            Reaction::Answer(_) | Reaction::Wait => {}
            Reaction::Think(in_ms, key) => self.schedule(in_ms, Event::AiReplies(key)),
        }
        Ok(())
    }

    pub fn send_response(&mut self, flight: &Rc<InFlight>, answer: Answer) {
        let answer = match &flight.fate.outcome {
            Outcome::ResponseLost(Loss::Silence) => return,
            Outcome::ResponseLost(Loss::Error) => None,
            Outcome::Replaced(other) => Some(other.clone()),
            Outcome::Answered | Outcome::RequestLost(_) | Outcome::Refused(_) => Some(answer),
        };
        self.schedule(flight.fate.response_ms, Event::ResponseArrives { flight: Rc::clone(flight), answer });
    }

    pub fn on_response(&mut self, flight: &Rc<InFlight>, answer: Option<Answer>) -> Result<(), Violation> {
        let (id, request) = (flight.tab, &flight.request);
        let tab = &mut self.tabs[id.0];
        // The response to a copy may have arrived before, or the page may have cancelled the request.
        if !tab.is_live() || flight.frozen_times != tab.frozen_times {
            return Ok(());
        }
        if tab.hangs {
            tab.backlog.push_back(Queued::Response(Rc::clone(flight), answer));
            return Ok(());
        }
        let mut answer = answer;
        if self.online
            && self.is_awaited(flight)
            && let Some(whole) = answer.take()
        {
            match LongHistory::of(request, whole, self.scenario.part_size, &mut self.stats) {
                Ok(history) => return self.begin_long_history(flight, history),
                Err(short) => answer = Some(short),
            }
        }
        let tab = &mut self.tabs[id.0];
        let Some(finished) = tab.take_outstanding(request.id) else { return Ok(()) };
        let Some(answer) = answer.filter(|_| self.online) else {
            self.trace.note(self.now_ms, id, || format!("{} → no connection", name(request)));
            if let Some(poll_state) = tab.poll_state(finished.endpoint) {
                poll_state.failed = true;
            }
            let trigger =
                if finished.endpoint == Endpoint::Send { PollTrigger::Yes } else { PollTrigger::No };
            return self.feed_with(id, Input::Failed(request.id), trigger);
        };
        self.deliver(flight, &finished, answer, parameter(request, "after"))
    }

    /// Feeds a response, or a part of one, to the page that awaits it. `polled_after` is the cursor of the
    /// poll.
    pub fn deliver(
        &mut self,
        flight: &InFlight,
        finished: &Outstanding,
        answer: Answer,
        polled_after: Option<&str>,
    ) -> Result<(), Violation> {
        let (id, request) = (flight.tab, &flight.request);
        self.trace.note(self.now_ms, id, || {
            let held = answer.retry_after_ms.map_or_else(String::new, |ms| format!(", Retry-After {ms} ms"));
            format!("{} → {}{held} {}", name(request), answer.status, content(&answer.body))
        });
        self.note_response(id, finished, &answer);
        if finished.endpoint == Endpoint::Messages {
            self.tabs[id.0].takes_parts = answer.has_more;
        }
        let trigger = match finished.endpoint {
            Endpoint::Send | Endpoint::Config => PollTrigger::Yes,
            // Another poll shows whether the conversation is gone, or only the cursor.
            Endpoint::Messages | Endpoint::Presence if answer.status == 404 => PollTrigger::Yes,
            Endpoint::Messages if !answer.has_more && has_more(polled_after, &answer) => PollTrigger::Yes,
            Endpoint::Messages | Endpoint::Presence | Endpoint::Events => PollTrigger::No,
        };
        let is_merged = finished.endpoint == Endpoint::Messages
            && !answer.has_more
            && open_envelope(answer.status, answer.body.clone()).is_ok();
        self.feed_with(id, Input::Answered(request.id, answer), trigger)?;
        let polls = |waiting: &Outstanding| waiting.endpoint == Endpoint::Messages;
        self.merges_first_history &= !is_merged || self.tabs[id.0].outstanding.iter().any(polls);
        Ok(())
    }
}

/// Returns whether a page of the history may be followed by another one.
fn has_more(polled_after: Option<&str>, answer: &Answer) -> bool {
    let data = open_envelope(answer.status, answer.body.clone()).ok();
    let Some(history) = data.and_then(|data| History::try_from(data).ok()) else { return false };
    let last = history.messages.into_iter().rev().find_map(|message| message.id);
    let after = history.next_after.or(last);
    after.is_some_and(|after| polled_after != Some(after.as_str()))
}

/// Returns the name of a request in a trace.
fn name(request: &Request) -> String {
    format!("{:?} {}", request.endpoint.method(), request.endpoint.path())
}

/// Returns the content of a response: the messages of a history in short, everything else as it is.
fn content(body: &Value) -> String {
    let data = body.get("data");
    let Some(Value::List(messages)) = data.and_then(|data| data.get("messages")) else {
        return body.to_string();
    };
    let text = |value: &Value, field| value.get(field).and_then(Value::as_text).unwrap_or("-").to_owned();
    let brief =
        messages.iter().map(|message| format!("{}={}", text(message, "id"), text(message, "content")));
    let next = data.map_or_else(String::new, |data| text(data, "nextAfter"));
    format!("lists {}; next after {next}", brief.collect::<Vec<_>>().join(" "))
}
