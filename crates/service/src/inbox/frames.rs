//! The events of a stream as bytes, which all consoles share, and those that a console may have missed.

use std::collections::VecDeque;

use axum::body::Bytes;
use serde::Serialize;

/// Maximum events that are kept for consoles that connect again.
const MAX_EVENTS: usize = 1000;
/// Maximum bytes of these events.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// An event, as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    /// The operator who is not told, because the event is their own doing.
    pub(super) except: Option<String>,
}

impl Frame {
    fn new(id: &str, event: &str, json: &str, except: Option<String>) -> Self {
        Self { bytes: format!("id: {id}\nevent: {event}\ndata: {json}\n\n").into(), except }
    }
}

/// Returns an event's data as JSON, which has no line breaks.
pub(super) fn json<T: Serialize>(data: &T) -> String {
    serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned())
}

/// The last events of a hub, by their numbers. Ids name the hub as well: a number of another one, as of
/// before a restart, means nothing here.
#[derive(Debug)]
pub(super) struct Ring {
    epoch: String,
    /// The number of the last event.
    last: u64,
    /// All events after this one are kept.
    first: u64,
    kept: VecDeque<(u64, Frame)>,
    bytes: usize,
}

impl Ring {
    pub(super) fn new() -> Self {
        let epoch = format!("{:016x}", fastrand::u64(..));
        Self { epoch, last: 0, first: 0, kept: VecDeque::new(), bytes: 0 }
    }

    /// Numbers an event, and keeps it.
    pub(super) fn push(&mut self, event: &str, json: &str) -> Frame {
        let frame = self.passing(event, json, None);
        self.bytes += frame.bytes.len();
        self.kept.push_back((self.last, frame.clone()));
        while self.kept.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some((number, dropped)) = self.kept.pop_front() else { break };
            self.bytes -= dropped.bytes.len();
            self.first = number;
        }
        frame
    }

    /// Numbers an event that nobody needs later.
    pub(super) fn passing(&mut self, event: &str, json: &str, except: Option<String>) -> Frame {
        self.last += 1;
        Frame::new(&self.id(self.last), event, json, except)
    }

    /// Forgets all events, so that every console loads everything again.
    pub(super) fn reset(&mut self) -> Frame {
        self.kept.clear();
        self.bytes = 0;
        let frame = self.passing("reset", "null", None);
        self.first = self.last;
        frame
    }

    fn id(&self, number: u64) -> String {
        format!("{}.{number}", self.epoch)
    }

    /// Returns the events after the one with an id; `None` if some of them are gone.
    fn after(&self, id: &str) -> Option<impl Iterator<Item = &Frame>> {
        let (epoch, number) = id.split_once('.')?;
        let number: u64 = number.parse().ok()?;
        if epoch != self.epoch || number < self.first || number > self.last {
            return None;
        }
        Some(self.kept.iter().filter(move |(kept, _)| *kept > number).map(|(_, frame)| frame))
    }

    /// Returns what a console gets that connects: `hello`, and what it has missed since the event with the id
    /// `last_id`, or `reset` if that is not known.
    pub(super) fn greeting(&self, hello: &str, last_id: Option<&str>) -> VecDeque<Bytes> {
        let current = self.id(self.last);
        let missed = last_id.map(|id| (id, self.after(id)));
        let mut greeting = VecDeque::new();
        match missed {
            Some((id, Some(frames))) => {
                // The browser has missed what follows, until it gets it.
                greeting.push_back(Frame::new(id, "hello", hello, None).bytes);
                greeting.extend(frames.map(|frame| frame.bytes.clone()));
            }
            Some((_, None)) => {
                greeting.push_back(Frame::new(&current, "hello", hello, None).bytes);
                greeting.push_back(Frame::new(&current, "reset", "null", None).bytes);
            }
            None => greeting.push_back(Frame::new(&current, "hello", hello, None).bytes),
        }
        greeting
    }

    /// Returns the event for a console that was too slow, without a number of its own.
    pub(super) fn lagged(&self) -> Bytes {
        Frame::new(&self.id(self.last), "reset", "null", None).bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(greeting: &VecDeque<Bytes>) -> Vec<String> {
        greeting.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }

    fn events(greeting: &VecDeque<Bytes>) -> Vec<String> {
        let data = |text: &String| text.lines().nth(2).unwrap_or_default().replace("data: ", "");
        texts(greeting).iter().map(data).collect()
    }

    #[test]
    fn a_console_that_returns_gets_what_it_has_missed() {
        let mut ring = Ring::new();
        ring.push("site", "1");
        let id = ring.id(1);
        ring.push("site", "2");
        ring.passing("typing", "3", None);
        ring.push("site", "4");
        assert_eq!(events(&ring.greeting("hello", Some(&id))), ["hello", "2", "4"]);
        assert_eq!(events(&ring.greeting("hello", Some(&ring.id(4)))), ["hello"]);
        assert_eq!(events(&ring.greeting("hello", None)), ["hello"]);
    }

    #[test]
    fn an_unknown_id_leads_to_a_reset() {
        let mut ring = Ring::new();
        ring.push("site", "1");
        let before = ring.id(1);
        ring.reset();
        let other = Ring::new().id(0);
        for id in [before.as_str(), other.as_str(), "", ".", "x.1", "9.99999999999999999999"] {
            assert_eq!(events(&ring.greeting("hello", Some(id))), ["hello", "null"], "{id}");
        }
        let newer = ring.id(99);
        assert_eq!(events(&ring.greeting("hello", Some(&newer))), ["hello", "null"]);
    }

    #[test]
    fn keeps_a_limited_number_of_events_and_bytes() {
        let mut ring = Ring::new();
        for _ in 0..=MAX_EVENTS {
            ring.push("site", "1");
        }
        assert!(ring.after(&ring.id(0)).is_none());
        assert_eq!(ring.after(&ring.id(1)).expect("kept").count(), MAX_EVENTS);
        ring.push("site", &"x".repeat(MAX_BYTES));
        assert!(ring.kept.is_empty() && ring.bytes == 0);
        assert!(ring.after(&ring.id(ring.last - 1)).is_none());
    }

    #[test]
    fn data_never_ends_its_event() {
        let mut ring = Ring::new();
        let frame = ring.push("conversation", &json(&"a\n\nevent: reset\r\rdata: x"));
        let text = String::from_utf8_lossy(&frame.bytes).into_owned();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(text.matches("\n\n").count(), 1);
    }
}
