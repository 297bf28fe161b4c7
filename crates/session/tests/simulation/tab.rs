//! A page in a tab of the visitor's browser: the driver of one session.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use chat_protocol::Endpoint;
use chat_session::{Answer, Delivery, Input, RequestId, Session};

use super::network::Flight;
use super::watch::Lasting;
use super::written::Tag;

/// Pages are numbered in the order in which they are loaded; a reload is a page of its own.
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

/// A request that the page waits for.
pub struct Outstanding {
    pub id: RequestId,
    pub endpoint: Endpoint,
    pub deadline_ms: u64,
    pub tag: Option<Tag>,
    /// The page has lost the lead since: it may still take the answer in, but another tab may send the same.
    pub abandoned: bool,
}

/// What a tab's reads of one kind have to keep to.
#[derive(Default)]
pub struct Reading {
    pub last_ms: Option<u64>,
    /// How much later the next one was to be, by then.
    pub paced_ms: u64,
    pub failed: bool,
    /// A reply was awaited by then.
    pub awaited: bool,
    /// The service said not to come back before this time.
    pub not_before_ms: u64,
}

pub struct Tab {
    pub id: TabId,
    pub session: Session,
    pub life: Life,
    pub visible: bool,
    pub open: bool,
    /// What the page was told of the network.
    pub told_online: bool,
    /// While a page hangs, what happens to it waits.
    pub hangs: bool,
    pub backlog: VecDeque<Late>,
    pub wake_ms: Option<u64>,
    pub outstanding: Vec<Outstanding>,
    /// It was told that it is left.
    pub leaving: bool,
    /// Counts the times that the page was frozen: what was under way to it by then never comes.
    pub frozen_times: u32,
    /// Storage and service when it was frozen, to see whether there was something to catch up with.
    pub left_at: (u64, u32),
    pub lasting: Lasting,
    pub led: bool,
    /// Counts the times that it took the lead.
    pub term: u32,
    /// When something last happened that is an occasion to read out of turn.
    pub stirred_ms: u64,
    /// It heard from the service how often to ask.
    pub hinted: bool,
    pub messages: Reading,
    pub presence: Reading,
    /// The service told this page that it wants no events.
    pub untracked: bool,
}

/// What a page takes in when it does not hang any more.
pub enum Late {
    Input(Box<Input>, Stirs),
    Answer(Rc<Flight>, Option<Answer>),
}

/// Whether an input is an occasion to ask the service out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stirs {
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
            told_online: online,
            hangs: false,
            backlog: VecDeque::new(),
            wake_ms: None,
            outstanding: Vec::new(),
            leaving: false,
            frozen_times: 0,
            left_at: (0, 0),
            lasting: Lasting::default(),
            led: false,
            term: 0,
            stirred_ms: 0,
            hinted: false,
            messages: Reading::default(),
            presence: Reading::default(),
            untracked: false,
        }
    }

    /// It takes in what happens.
    pub fn is_awake(&self) -> bool {
        self.life == Life::Running && !self.hangs
    }

    pub fn is_live(&self) -> bool {
        self.life == Life::Running
    }

    /// There is something that a leader would do for it.
    pub fn has_to_lead(&self) -> bool {
        self.session.is_on() && (self.open || self.session.conversation_id().is_some())
    }

    /// It leads, and can poll; or it has a message on its way, for which a tab that can be seen has to wait.
    pub fn leads_for_all(&self) -> bool {
        let sends = || self.outstanding.iter().any(|waiting| waiting.endpoint == Endpoint::Send);
        self.session.leads() && (self.visible || sends())
    }

    /// How many messages it shows, and how many of them as delivered. More of either is an occasion to read on.
    pub fn known(&self) -> (usize, usize) {
        let entries = self.session.entries();
        (entries.len(), entries.iter().filter(|entry| entry.delivery == Delivery::Delivered).count())
    }

    /// The tabs of one visitor on one storage. Where storage fails, a tab that finds nothing begins another visitor, and
    /// what both of them have said keeps them apart.
    pub fn is_kin_of(&self, other: &Self) -> bool {
        self.session.channel() == other.session.channel()
            && self.session.visitor_id() == other.session.visitor_id()
    }

    pub fn reading(&mut self, endpoint: Endpoint) -> Option<&mut Reading> {
        match endpoint {
            Endpoint::Messages => Some(&mut self.messages),
            Endpoint::Presence => Some(&mut self.presence),
            _ => None,
        }
    }

    /// Nobody waits for this request any more. Gives what it was; `None` when nobody did before.
    pub fn land(&mut self, id: RequestId) -> Option<Outstanding> {
        let index = self.outstanding.iter().position(|outstanding| outstanding.id == id)?;
        Some(self.outstanding.swap_remove(index))
    }
}
