//! Visitors who are online: they poll at the intervals that the service suggests, some write, and all look at
//! pages.
//!
//! Requests are due at times that do not depend on the service. Latencies count from then, so that a service
//! which stalls is charged for every request that had to wait (no coordinated omission).

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::http::Connection;
use crate::report::{Measured, print};
use crate::target::{Target, data, messages_path, next_after, presence_path};

/// The number of visitors who arrive at the same time.
const ARRIVALS: usize = 64;
/// The interval at which a visitor looks at another page, which is reported as an event.
const PAGE_INTERVAL: Duration = Duration::from_mins(1);
/// The time between the arrival of all visitors and the measurement.
const SETTLE: Duration = Duration::from_secs(3);

struct Load {
    target: Target,
    run: u64,
    writing: f64,
    message_interval: Option<Duration>,
    presence_interval: Option<Duration>,
    measured: RefCell<Option<Measured>>,
}

pub(crate) async fn run(mut arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let target = Target::from_arguments(&mut arguments)?;
    let visitors: u32 = arguments.parsed("visitors", 10_000)?;
    let connections: u32 = arguments.parsed("connections", visitors)?;
    let duration = Duration::from_secs(arguments.parsed("seconds", 30)?);
    let writing = arguments.parsed("writing", 0.01)?;
    let interval = |millis: u64| (millis > 0).then(|| Duration::from_millis(millis));
    let message_interval = interval(arguments.parsed("message-interval-ms", 0)?);
    let presence_interval = interval(arguments.parsed("presence-interval-ms", 0)?);
    let pids = arguments.all("pid");
    let json = arguments.optional("json").is_some();
    arguments.finish()?;

    let measured = RefCell::new(None);
    let run = fastrand::u64(..);
    let load = Rc::new(Load { target, run, writing, message_interval, presence_interval, measured });
    let arrivals = Rc::new(Semaphore::new(ARRIVALS));
    let arriving: Vec<JoinHandle<_>> = (0..connections.clamp(1, visitors))
        .map(|first| {
            let mine = (first..visitors).step_by(connections.max(1) as usize).collect();
            tokio::task::spawn_local(arrive(load.clone(), mine, arrivals.clone()))
        })
        .collect();
    let mut staying = Vec::new();
    for arrived in arriving {
        staying.push(arrived.await?.map_err(|error| format!("a visitor cannot arrive: {error}"))?);
    }
    let begin = Instant::now();
    for (connection, visitors) in staying {
        tokio::task::spawn_local(stay(load.clone(), connection, visitors, begin));
    }
    tokio::time::sleep(SETTLE).await;
    *load.measured.borrow_mut() = Some(Measured::begin(&["messages", "presence", "send", "events"], pids));
    tokio::time::sleep(duration).await;
    let outcome = load.measured.borrow_mut().take().map(|measured| measured.finish());
    print(&outcome.unwrap_or_default(), json);
    Ok(())
}

/// A visitor with an open conversation, and the requests that poll it.
struct Visitor {
    number: u32,
    conversation: String,
    messages: Vec<u8>,
    presence: Vec<u8>,
    message_interval: Duration,
    presence_interval: Duration,
    /// Makes each idempotency key another one.
    sent: u32,
}

/// Begins the conversations of a connection's visitors.
async fn arrive(
    load: Rc<Load>,
    numbers: Vec<u32>,
    arrivals: Rc<Semaphore>,
) -> Result<(Connection, Vec<Visitor>), String> {
    let _turn = arrivals.acquire().await.map_err(|error| error.to_string())?;
    let mut connection = load.target.connection(numbers.first().map_or(0, |number| *number as usize));
    let mut visitors = Vec::new();
    for number in numbers {
        let visitor =
            Visitor::begin(&load, &mut connection, number).await.map_err(|error| error.to_string())?;
        visitors.push(visitor);
    }
    Ok((connection, visitors))
}

impl Visitor {
    async fn begin(load: &Load, connection: &mut Connection, number: u32) -> Result<Self, Box<dyn Error>> {
        let Load { target, run, .. } = load;
        let profile = json!({ "visitorId": format!("v-{run}-{number}") });
        let body = json!({ "message": "How long is the delivery?", "visitor": profile });
        let result =
            data(connection, &target.post("/chat/messages", number, &format!("load-{run}-{number}"), &body))
                .await?;
        let conversation =
            result["conversationId"].as_str().ok_or("the response has no conversationId")?.to_owned();
        let history = data(connection, &target.get(&messages_path(&conversation, None), number)).await?;
        let presence = target.get(&presence_path(&conversation), number);
        let suggested = data(connection, &presence).await?;
        let interval = |name: &str| Duration::from_millis(suggested[name].as_u64().unwrap_or(10_000));
        Ok(Self {
            number,
            messages: target.get(&messages_path(&conversation, history["nextAfter"].as_str()), number),
            conversation,
            presence,
            message_interval: load.message_interval.unwrap_or_else(|| interval("suggestedMessageIntervalMs")),
            presence_interval: load
                .presence_interval
                .unwrap_or_else(|| interval("suggestedPresenceIntervalMs")),
            sent: 0,
        })
    }

    /// Returns the request of a message.
    fn send(&mut self, load: &Load) -> Vec<u8> {
        let Self { number, conversation, .. } = self;
        self.sent += 1;
        let key = format!("load-{}-{number}-{}", load.run, self.sent);
        let profile = json!({ "visitorId": format!("v-{}-{number}", load.run) });
        let message = "And to another country?";
        let body = json!({ "conversationId": conversation, "message": message, "visitor": profile });
        load.target.post("/chat/messages", *number, &key, &body)
    }

    /// Returns the request that reports a page view.
    fn events(&mut self, load: &Load) -> Vec<u8> {
        self.sent += 1;
        let key = format!("events-{}-{}-{}", load.run, self.number, self.sent);
        let visitor = format!("v-{}-{}", load.run, self.number);
        let event =
            json!({ "eventType": "page_view", "visitorId": visitor, "path": "/pots", "title": "Pots" });
        load.target.post("/events", self.number, &key, &json!({ "events": [event] }))
    }
}

/// The next action of a visitor.
#[derive(Clone, Copy, Debug)]
enum Action {
    Messages,
    Presence,
    Events,
}

/// Executes what is due of a connection's visitors, in the order in which it is due.
async fn stay(load: Rc<Load>, mut connection: Connection, mut visitors: Vec<Visitor>, begin: Instant) {
    let mut random = fastrand::Rng::new();
    let mut schedule = std::collections::BTreeMap::new();
    let mut unique = 0_u64;
    for (index, visitor) in visitors.iter().enumerate() {
        for action in [Action::Messages, Action::Presence, Action::Events] {
            unique += 1;
            let due = begin + visitor.interval(action).mul_f64(random.f64());
            schedule.insert((due, unique), (index, action));
        }
    }
    while let Some(((due, number), (index, action))) = schedule.pop_first() {
        tokio::time::sleep_until(due).await;
        let visitor = &mut visitors[index];
        schedule.insert((due + visitor.interval(action), number), (index, action));
        visitor.execute(&load, &mut connection, action, due, &mut random).await;
    }
}

impl Visitor {
    fn interval(&self, action: Action) -> Duration {
        match action {
            Action::Messages => self.message_interval,
            Action::Presence => self.presence_interval,
            Action::Events => PAGE_INTERVAL,
        }
    }

    async fn execute(
        &mut self,
        load: &Load,
        connection: &mut Connection,
        action: Action,
        due: Instant,
        random: &mut fastrand::Rng,
    ) {
        let writes = matches!(action, Action::Messages) && random.f64() < load.writing;
        let written = match action {
            Action::Messages if writes => Some(self.send(load)),
            Action::Events => Some(self.events(load)),
            Action::Messages | Action::Presence => None,
        };
        let (kind, request) = match (action, &written) {
            (Action::Messages, Some(request)) => ("send", request),
            (Action::Messages, None) => ("messages", &self.messages),
            (Action::Events, Some(request)) => ("events", request),
            (_, _) => ("presence", &self.presence),
        };
        let sent = Instant::now();
        let response = connection.exchange(request).await;
        let status = response.as_ref().ok().map(|response| response.status);
        if let Some(measured) = load.measured.borrow_mut().as_mut() {
            measured.record(kind, due, sent, status);
        }
        if kind == "messages"
            && let Ok(response) = response
            && let Some(after) = next_after(response.body)
        {
            self.messages = load.target.get(&messages_path(&self.conversation, Some(&after)), self.number);
        }
    }
}
