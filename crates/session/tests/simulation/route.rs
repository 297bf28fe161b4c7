//! A request's way to the service and back.

use std::rc::Rc;

use chat_protocol::{Endpoint, History, Value, open_envelope};
use chat_session::{Answer, Input, Request};

use super::engine::{Event, Simulation};
use super::invariants::Violation;
use super::network::{End, Flight, Loss};
use super::service::Reaction;
use super::tab::{Late, Life, Outstanding, Stirs, TabId};
use super::written::tag_of;

impl Simulation {
    pub fn sets_out(&mut self, id: TabId, request: Request) -> Result<(), Violation> {
        let fate = self.network.fate(&self.scenario);
        self.trace.note(self.now_ms, id, || {
            let key = request.key.as_ref().map_or_else(String::new, |key| format!(" key {key}"));
            let body = request.body.as_deref().unwrap_or_default();
            let end = match &fate.end {
                End::Answered => String::new(),
                end => format!(" → {end:?}"),
            };
            let again = if fate.again_ms.is_some() { " → twice" } else { "" };
            format!("{}{key} {:?} {body}{end}{again}", name(&request), request.query)
        });
        let tag = (request.endpoint == Endpoint::Send).then(|| tag_of(&request, &self.written)).flatten();
        self.may_set_out(id, &request, tag)?;
        self.stats.requests += 1;
        let tab = &mut self.tabs[id.0];
        tab.outstanding.push(Outstanding {
            id: request.id,
            endpoint: request.endpoint,
            deadline_ms: request.deadline_ms,
            tag,
            abandoned: false,
        });
        let flight = Rc::new(Flight { tab: id, frozen_times: tab.frozen_times, request, tag, fate });
        self.depart(&flight);
        Ok(())
    }

    fn depart(&mut self, flight: &Rc<Flight>) {
        let fate = &flight.fate;
        if let Some(later_ms) = fate.again_ms {
            self.stats.faults += 1;
            self.schedule(fate.up_ms + later_ms, Event::Arrives { flight: Rc::clone(flight), again: true });
        }
        if !matches!(fate.end, End::Answered) {
            self.stats.faults += 1;
        }
        let returned = match &fate.end {
            End::Answered | End::AnswerLost(_) | End::Replaced(_) => {
                self.schedule(fate.up_ms, Event::Arrives { flight: Rc::clone(flight), again: false });
                return;
            }
            End::RequestLost(Loss::Silence) => return,
            End::RequestLost(Loss::Error) => None,
            End::Refused(answer) => Some(answer.clone()),
        };
        let in_ms = fate.up_ms + fate.down_ms;
        self.schedule(in_ms, Event::Returns { flight: Rc::clone(flight), answer: returned });
    }

    /// The page is there, and has not given the request up.
    pub fn is_waited_for(&self, flight: &Flight) -> bool {
        let tab = &self.tabs[flight.tab.0];
        tab.life == Life::Running
            && tab.outstanding.iter().any(|outstanding| outstanding.id == flight.request.id)
    }

    pub fn arrives(&mut self, flight: &Rc<Flight>, again: bool) -> Result<(), Violation> {
        if !(self.is_waited_for(flight) || flight.fate.outlives_page || flight.request.keepalive) {
            return Ok(());
        }
        if !self.online {
            self.schedule(1, Event::Returns { flight: Rc::clone(flight), answer: None });
            return Ok(());
        }
        match self.service.take(flight, self.now_ms, &mut self.stats)? {
            // Only the first copy has somebody who waits.
            Reaction::Answer(answer) if !again => self.sends_back(flight, answer),
            Reaction::Answer(_) | Reaction::Wait => {}
            Reaction::Think(in_ms, key) => self.schedule(in_ms, Event::Thought(key)),
        }
        Ok(())
    }

    pub fn sends_back(&mut self, flight: &Rc<Flight>, answer: Answer) {
        let answer = match &flight.fate.end {
            End::AnswerLost(Loss::Silence) => return,
            End::AnswerLost(Loss::Error) => None,
            End::Replaced(other) => Some(other.clone()),
            End::Answered | End::RequestLost(_) | End::Refused(_) => Some(answer),
        };
        self.schedule(flight.fate.down_ms, Event::Returns { flight: Rc::clone(flight), answer });
    }

    pub fn returns(&mut self, flight: &Rc<Flight>, answer: Option<Answer>) -> Result<(), Violation> {
        let (id, request) = (flight.tab, &flight.request);
        let tab = &mut self.tabs[id.0];
        // A copy may have brought the answer before; or the page gave up, or is gone itself.
        if !tab.is_live() || flight.frozen_times != tab.frozen_times {
            return Ok(());
        }
        if tab.hangs {
            tab.backlog.push_back(Late::Answer(Rc::clone(flight), answer));
            return Ok(());
        }
        let Some(landed) = tab.land(request.id) else { return Ok(()) };
        let Some(answer) = answer.filter(|_| self.online) else {
            self.trace.note(self.now_ms, id, || format!("{} → no connection", name(request)));
            if let Some(reading) = tab.reading(landed.endpoint) {
                reading.failed = true;
            }
            let stirs = if landed.endpoint == Endpoint::Send { Stirs::Yes } else { Stirs::No };
            return self.feed_stirring(id, Input::Failed(request.id), stirs);
        };
        self.trace.note(self.now_ms, id, || {
            let held = answer.retry_after_ms.map_or_else(String::new, |ms| format!(", Retry-After {ms} ms"));
            format!("{} → {}{held} {}", name(request), answer.status, content(&answer.body))
        });
        self.answered(id, &landed, &answer);
        let stirs = match landed.endpoint {
            Endpoint::Send | Endpoint::Config => Stirs::Yes,
            // Whether the conversation is gone, or only the message to read after, another read tells.
            Endpoint::Messages | Endpoint::Presence if answer.status == 404 => Stirs::Yes,
            Endpoint::Messages if leads_on(request, &answer) => Stirs::Yes,
            Endpoint::Messages | Endpoint::Presence | Endpoint::Events => Stirs::No,
        };
        self.feed_stirring(id, Input::Answered(request.id, answer), stirs)
    }
}

/// Whether a page of the history says that there may be another one behind it.
fn leads_on(request: &Request, answer: &Answer) -> bool {
    let data = open_envelope(answer.status, answer.body.clone()).ok();
    let Some(history) = data.and_then(|data| History::try_from(data).ok()) else { return false };
    let before = request.query.iter().find(|(name, _)| *name == "after").map(|(_, id)| id.as_str());
    let last = history.messages.into_iter().rev().find_map(|message| message.id);
    let after = history.next_after.or(last);
    after.is_some_and(|after| before != Some(after.as_str()))
}

/// What a request is called in a trace.
fn name(request: &Request) -> String {
    format!("{:?} {}", request.endpoint.method(), request.endpoint.path())
}

/// What an answer brings: the messages of a history in short, all else as it is.
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
