//! One task for each tenant and node, while consoles of the tenant are open here.
//!
//! It hears of each change, reads what has changed once, and hands the same bytes to all consoles. It also
//! renews the consoles' rows, and ends the streams of sessions that have ended.

mod changes;
mod tell;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use chat_protocol::admin::{Hello, TeamMember, Typing};
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use self::changes::Changes;
use super::frames::{Frame, Ring, json};
use crate::Service;
use crate::accounts::{self, Operator, Session};
use crate::db::Wake;
use crate::fingerprint::Fingerprint;
use crate::presence::{RENEWAL_INTERVAL, close_consoles, renew_consoles};
use crate::supervisor::supervise;

/// Maximum events that wait for a slow browser; it is then told to load everything again.
const MAX_WAITING: usize = 128;
/// The time for which a hub goes on without a console, so that one that connects again gets what it missed.
const LINGER: Duration = Duration::from_mins(2);
/// The interval at which changes of sites are told. Every page view of a visitor is one.
const SITES_INTERVAL: Duration = Duration::from_secs(2);

/// The hubs of a node, by tenant.
#[derive(Debug, Default)]
pub(crate) struct Hubs(Mutex<HashMap<String, Arc<Hub>>>);

/// The hub of a tenant.
#[derive(Debug)]
pub(super) struct Hub {
    tenant_id: String,
    state: Mutex<State>,
    /// Wakes the task when a console has left.
    left: Notify,
}

#[derive(Debug)]
struct State {
    ring: Ring,
    frames: broadcast::Sender<Frame>,
    consoles: HashMap<String, Console>,
    /// Consoles whose browser has left, and that are still open in the database.
    gone: Vec<String>,
    /// When the last console left.
    empty_since: Instant,
    typing: HashMap<(String, String), (Typing, Instant)>,
    team: Vec<TeamMember>,
    /// The hash of the last event of each conversation.
    last: HashMap<String, Fingerprint>,
}

/// An open console.
#[derive(Debug)]
struct Console {
    session_id: String,
    ended: CancellationToken,
}

/// What a console follows. It leaves the hub when this is dropped.
#[derive(Debug)]
pub(super) struct Following {
    hub: Arc<Hub>,
    console_id: String,
    operator_id: String,
    /// The first events, before those of `frames`.
    pub(super) greeting: VecDeque<Bytes>,
    frames: broadcast::Receiver<Frame>,
    ended: CancellationToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.hub.leave(&self.console_id);
    }
}

impl Following {
    /// Returns the next event; `None` when the session has ended or the service stops.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let received = tokio::select! {
                biased;
                () = self.ended.cancelled() => return None,
                received = self.frames.recv() => received,
            };
            match received {
                Ok(frame) if frame.except.as_ref() == Some(&self.operator_id) => {}
                Ok(frame) => return Some(frame.bytes),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.frames = self.frames.resubscribe();
                    return Some(self.hub.state().ring.lagged());
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl Hubs {
    fn hubs(&self) -> MutexGuard<'_, HashMap<String, Arc<Hub>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a console to the hub of its tenant, which is started if there is none.
    pub(super) fn follow(
        &self,
        service: &Service,
        operator: &Operator,
        session: &Session,
        console_id: String,
        team: Vec<TeamMember>,
        last_id: Option<&str>,
    ) -> Following {
        let mut hubs = self.hubs();
        let hub = hubs.entry(operator.tenant_id.clone()).or_insert_with(|| {
            let hub = Arc::new(Hub::new(&operator.tenant_id, team.clone()));
            // From here on, no change is missed.
            let wakes = service.db().wakes();
            service.0.tasks.spawn(keep_running(service.clone(), Arc::clone(&hub), wakes));
            hub
        });
        let ended = service.0.closing.child_token();
        let mut state = hub.state();
        let console = Console { session_id: session.id.clone(), ended: ended.clone() };
        state.consoles.insert(console_id.clone(), console);
        let hello = json(&Hello { console_id: console_id.clone(), team });
        Following {
            hub: Arc::clone(hub),
            console_id,
            operator_id: operator.id.clone(),
            greeting: state.ring.greeting(&hello, last_id),
            frames: state.frames.subscribe(),
            ended,
        }
    }

    /// Returns the other operators who are typing in a conversation, as far as this node knows.
    pub(crate) fn typing(&self, tenant_id: &str, conversation_id: &str, operator_id: &str) -> Vec<Typing> {
        let Some(hub) = self.hubs().get(tenant_id).cloned() else { return Vec::new() };
        let state = hub.state();
        let typing = state.typing.values().filter(|(typing, until)| {
            *until > Instant::now()
                && typing.conversation_id == conversation_id
                && typing.operator_id != operator_id
        });
        typing.map(|(typing, _)| typing.clone()).collect()
    }

    /// Removes a hub that nobody follows any more. Returns whether it is gone.
    fn remove_unused(&self, hub: &Hub) -> bool {
        let mut hubs = self.hubs();
        let state = hub.state();
        let is_unused =
            state.consoles.is_empty() && state.gone.is_empty() && state.empty_since.elapsed() >= LINGER;
        if is_unused {
            hubs.remove(&hub.tenant_id);
        }
        is_unused
    }
}

/// Runs the task of a hub. After a panic it starts again, and the consoles load everything again, because
/// changes may have been missed.
async fn keep_running(service: Service, hub: Arc<Hub>, wakes: broadcast::Receiver<Wake>) {
    let mut first = Some(wakes);
    supervise("the hub of a tenant", || {
        let wakes = first.take().unwrap_or_else(|| {
            let wakes = service.db().wakes();
            hub.state().reset();
            wakes
        });
        run(&service, &hub, wakes)
    })
    .await;
}

/// Tells the consoles of a tenant of changes, until nobody listens or the service stops.
async fn run(service: &Service, hub: &Hub, mut wakes: broadcast::Receiver<Wake>) {
    let mut renewal = interval(RENEWAL_INTERVAL);
    let mut site_tick = interval(SITES_INTERVAL);
    let mut sites = HashSet::new();
    loop {
        tokio::select! {
            () = service.0.closing.cancelled() => break,
            () = hub.left.notified() => hub.close_gone(service).await,
            _ = renewal.tick() => {
                if service.0.hubs.remove_unused(hub) {
                    return;
                }
                hub.renew(service).await;
            }
            _ = site_tick.tick() => hub.tell_sites(&mut sites),
            wake = wakes.recv() => {
                let mut changes = Changes::of(wake, &mut wakes, &hub.tenant_id);
                sites.extend(std::mem::take(&mut changes.sites));
                hub.tell(service, changes).await;
            }
        }
    }
    hub.close_all(service).await;
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

impl Hub {
    fn new(tenant_id: &str, team: Vec<TeamMember>) -> Self {
        let state = State {
            ring: Ring::new(),
            frames: broadcast::Sender::new(MAX_WAITING),
            consoles: HashMap::new(),
            gone: Vec::new(),
            empty_since: Instant::now(),
            typing: HashMap::new(),
            team,
            last: HashMap::new(),
        };
        Self { tenant_id: tenant_id.to_owned(), state: Mutex::new(state), left: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, console_id: &str) {
        let mut state = self.state();
        if state.consoles.remove(console_id).is_some() {
            state.gone.push(console_id.to_owned());
            state.empty_since = Instant::now();
            self.left.notify_one();
        }
    }

    /// Closes the consoles whose browsers have left.
    async fn close_gone(&self, service: &Service) {
        let gone = std::mem::take(&mut self.state().gone);
        if gone.is_empty() {
            return;
        }
        if let Err(error) = close_consoles(service, &self.tenant_id, gone.clone()).await {
            warn!("the presence of operators is not renewed: {error}");
            // They are closed at the next renewal, or offline when their time is over.
            self.state().gone.extend(gone);
        }
    }

    async fn close_all(&self, service: &Service) {
        {
            let mut state = self.state();
            let consoles: Vec<String> = state.consoles.drain().map(|(id, _)| id).collect();
            state.gone.extend(consoles);
        }
        self.close_gone(service).await;
    }

    /// Renews the rows of the open consoles, and ends the streams of sessions that have ended.
    async fn renew(&self, service: &Service) {
        self.close_gone(service).await;
        self.check_sessions(service).await;
        let consoles: Vec<String> = self.state().consoles.keys().cloned().collect();
        if !consoles.is_empty()
            && let Err(error) = renew_consoles(service, &self.tenant_id, consoles).await
        {
            warn!("the presence of operators is not renewed: {error}");
        }
        // Consoles of a node that was killed end without an announcement.
        self.tell_team(service).await;
        let now = Instant::now();
        self.state().typing.retain(|_, (_, until)| *until > now);
    }

    /// Ends the streams of sessions that have ended, and those of operators who were disabled. What cannot be
    /// checked ends as well.
    async fn check_sessions(&self, service: &Service) {
        let valid = match accounts::valid_sessions(service, &self.tenant_id).await {
            Ok(valid) => valid,
            Err(error) => {
                warn!("the sessions of open consoles cannot be checked: {error}");
                HashSet::new()
            }
        };
        for console in self.state().consoles.values() {
            if !valid.contains(&console.session_id) {
                console.ended.cancel();
            }
        }
    }
}

impl State {
    /// Tells all consoles to load everything again. Whatever they were told before may be told again.
    fn reset(&mut self) {
        self.last.clear();
        let frame = self.ring.reset();
        self.send(frame);
    }

    fn send(&self, frame: Frame) {
        // Fails when nobody listens: the ring has the event for those who come back.
        let _ = self.frames.send(frame);
    }
}
