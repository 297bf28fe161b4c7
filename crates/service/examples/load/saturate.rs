//! As many polls per second as the service responds to.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::report::{Measured, print};
use crate::target::{Target, data, messages_path, presence_path};

/// The number of conversations that are polled, if the service is empty.
const CONVERSATIONS: u32 = 1000;
/// The time before the measurement, in which caches fill.
const WARM_UP: Duration = Duration::from_secs(1);
/// The share of the polls that read presence; the others read messages. Without an operator, clients do so
/// every 15 s and every 10 s.
const PRESENCE_SHARE: f64 = 0.4;

pub(crate) async fn run(mut arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let target = Rc::new(Target::from_arguments(&mut arguments)?);
    let connections: usize = arguments.parsed("connections", 64)?;
    let duration = Duration::from_secs(arguments.parsed("seconds", 10)?);
    let list = arguments.optional("conversations");
    let pids = arguments.all("pid");
    let json = arguments.optional("json").is_some();
    arguments.finish()?;

    let conversations = match list {
        Some(file) => std::fs::read_to_string(file)?.lines().map(str::to_owned).collect(),
        None => create(&target).await?,
    };
    let polls = Rc::new(polls(&target, &conversations).await?);
    let measured = Rc::new(RefCell::new(None));
    let end = Instant::now() + WARM_UP + duration;
    let running: Vec<_> = (0..connections)
        .map(|number| {
            tokio::task::spawn_local(poll(number, end, target.clone(), polls.clone(), measured.clone()))
        })
        .collect();
    tokio::time::sleep(WARM_UP).await;
    *measured.borrow_mut() = Some(Measured::begin(&["messages", "presence"], pids));
    tokio::time::sleep_until(end).await;
    let outcome = measured.borrow_mut().take().map(|measured| measured.finish());
    for task in running {
        task.await?;
    }
    print(&outcome.unwrap_or_default(), json);
    Ok(())
}

/// The two requests that poll a conversation.
struct Polls {
    messages: Vec<u8>,
    presence: Vec<u8>,
}

async fn poll(
    number: usize,
    end: Instant,
    target: Rc<Target>,
    polls: Rc<Vec<Polls>>,
    measured: Rc<RefCell<Option<Measured>>>,
) {
    let mut connection = target.connection(number);
    let mut random = fastrand::Rng::with_seed(number as u64);
    while Instant::now() < end {
        let poll = &polls[random.usize(..polls.len())];
        let is_presence = random.f64() < PRESENCE_SHARE;
        let request = if is_presence { &poll.presence } else { &poll.messages };
        let sent = Instant::now();
        let status = connection.exchange(request).await.ok().map(|response| response.status);
        if let Some(measured) = measured.borrow_mut().as_mut() {
            measured.record(if is_presence { "presence" } else { "messages" }, sent, sent, status);
        }
    }
}

/// Creates conversations of one message each.
async fn create(target: &Target) -> Result<Vec<String>, Box<dyn Error>> {
    let mut connection = target.connection(0);
    let run = fastrand::u64(..);
    let mut conversations = Vec::new();
    for visitor in 0..CONVERSATIONS {
        let profile = json!({ "visitorId": format!("v-{run}-{visitor}") });
        let body = json!({ "message": "How long is the delivery?", "visitor": profile });
        let request = target.post("/chat/messages", visitor, &format!("load-{run}-{visitor}"), &body);
        let result = data(&mut connection, &request).await?;
        conversations.push(result["conversationId"].as_str().unwrap_or_default().to_owned());
    }
    Ok(conversations)
}

/// Returns the requests that poll conversations which have nothing new, as most polls find them.
async fn polls(target: &Target, conversations: &[String]) -> Result<Vec<Polls>, Box<dyn Error>> {
    let mut connection = target.connection(0);
    let mut polls = Vec::new();
    for (visitor, conversation) in (0..).zip(conversations) {
        let history = data(&mut connection, &target.get(&messages_path(conversation, None), visitor)).await?;
        let after = history["nextAfter"].as_str();
        polls.push(Polls {
            messages: target.get(&messages_path(conversation, after), visitor),
            presence: target.get(&presence_path(conversation), visitor),
        });
    }
    Ok(polls)
}
