//! A page in a tab of the visitor's browser, with its session.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use chat_protocol::Endpoint;
use chat_session::{Answer, Delivery, Input, RequestId, Session};

use super::long_history::LongHistory;
use super::messages::Tag;
use super::network::InFlight;
use super::watch::Ongoing;

/// The number of a page, in the order of loading. A reload is another page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TabId(pub usize);

impl Display for TabId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "tab {}", self.0 + 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Running,
    /// In the browser's back-forward cache.
    Frozen,
    Gone,
}

/// A request in flight, as the page sees it.
pub struct Outstanding {
    pub id: RequestId,
    pub endpoint: Endpoint,
    pub deadline_ms: u64,
    pub tag: Option<Tag>,
    /// The page has lost the lead since: it still awaits the response, but another tab may send the same
    /// request.
    pub abandoned: bool,
}

/// The state of a tab's polls of one endpoint.
#[derive(Default)]
pub struct PollState {
    pub last_ms: Option<u64>,
    /// The interval at the time of the last poll.
    pub interval_ms: u64,
    pub failed: bool,
    /// A reply was awaited at the time of the last poll.
    pub awaited: bool,
    /// The end of a `Retry-After`.
    pub not_before_ms: u64,
}

pub struct Tab {
    pub id: TabId,
    pub session: Session,
    pub life: Life,
    pub visible: bool,
    pub open: bool,
    /// The last input about the network.
    pub reported_online: bool,
    /// The page hangs: its inputs are queued.
    pub hangs: bool,
    pub backlog: VecDeque<Queued>,
    pub wake_ms: Option<u64>,
    pub outstanding: Vec<Outstanding>,
    /// The rest of a long history, which the driver keeps.
    pub long_history: Option<LongHistory>,
    /// The last response was a part of a long history.
    pub takes_parts: bool,
    /// The page was left.
    pub leaving: bool,
    /// The number of times that the page was frozen: what was in flight to it then is dropped.
    pub frozen_times: u32,
    /// The changes of storage and the messages of the service when the page was frozen.
    pub left_at: (u64, u32),
    pub ongoing: Ongoing,
    pub led: bool,
    /// The number of times that the tab became the leader.
    pub term: u32,
    /// The time of the last event after which the tab may poll early.
    pub triggered_ms: u64,
    /// The tab has received the service's hints.
    pub hinted: bool,
    pub messages: PollState,
    pub presence: PollState,
    /// The service has disabled tracking for this page.
    pub untracked: bool,
}

/// An input, a response or a part of one for a page that hangs.
pub enum Queued {
    Input(Box<Input>, PollTrigger),
    Response(Rc<InFlight>, Option<Answer>),
    Part(Rc<InFlight>, LongHistory),
}

/// Whether a tab may poll early after an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollTrigger {
    Yes,
    No,
}

impl Tab {
    pub fn new(id: TabId, session: Session, visible: bool, online: bool) -> Self {
        Self {
            id,
            session,
            life: Life::Running,
            visible,
            open: false,
            reported_online: online,
            hangs: false,
            backlog: VecDeque::new(),
            wake_ms: None,
            outstanding: Vec::new(),
            long_history: None,
            takes_parts: false,
            leaving: false,
            frozen_times: 0,
            left_at: (0, 0),
            ongoing: Ongoing::default(),
            led: false,
            term: 0,
            triggered_ms: 0,
            hinted: false,
            messages: PollState::default(),
            presence: PollState::default(),
            untracked: false,
        }
    }

    /// Returns whether the page handles inputs.
    pub fn is_awake(&self) -> bool {
        self.life == Life::Running && !self.hangs
    }

    pub fn is_live(&self) -> bool {
        self.life == Life::Running
    }

    /// Returns whether there is work for a leader.
    pub fn has_to_lead(&self) -> bool {
        self.session.is_on() && (self.open || self.session.conversation_id().is_some())
    }

    /// Returns whether the tab leads, and can poll or has a message in flight that visible tabs must wait
    /// for.
    pub fn leads_for_all(&self) -> bool {
        let sends = || self.outstanding.iter().any(|waiting| waiting.endpoint == Endpoint::Send);
        self.session.leads() && (self.visible || sends())
    }

    /// Returns the number of entries, and of delivered ones. After a change of either, the tab may poll
    /// early.
    pub fn known(&self) -> (usize, usize) {
        let entries = self.session.entries();
        (entries.len(), entries.iter().filter(|entry| entry.delivery == Delivery::Delivered).count())
    }

    /// Returns whether two tabs have the same visitor. If storage fails, a tab may start another visitor, and
    /// keeps it if both visitors have messages.
    pub fn shares_visitor(&self, other: &Self) -> bool {
        self.session.channel() == other.session.channel()
            && self.session.visitor_id() == other.session.visitor_id()
    }

    pub fn poll_state(&mut self, endpoint: Endpoint) -> Option<&mut PollState> {
        match endpoint {
            Endpoint::Messages => Some(&mut self.messages),
            Endpoint::Presence => Some(&mut self.presence),
            _ => None,
        }
    }

    /// Ends a request. Returns `None` if the page no longer waits for it.
    pub fn take_outstanding(&mut self, id: RequestId) -> Option<Outstanding> {
        let index = self.outstanding.iter().position(|outstanding| outstanding.id == id)?;
        Some(self.outstanding.swap_remove(index))
    }
}
