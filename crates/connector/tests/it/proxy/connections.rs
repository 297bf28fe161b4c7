//! Connections to the service are reused, unless that would mix up or lose a response.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};
use std::task::Poll;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::coop;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

/// An event at the service.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Request { connection: usize },
    Closed { connection: usize },
}

/// Starts a service on a thread of its own. Each of its connections sends these responses, and closes when
/// the sender says so, or is dropped.
fn service_of(responses: &'static [&'static str]) -> (SocketAddr, UnboundedReceiver<Event>, Sender<()>) {
    let (close, closing) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (events, seen) = unbounded_channel();
    thread::spawn(move || {
        for (connection, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("a connection");
            for response in responses {
                if !read_head(&mut stream) {
                    break;
                }
                let _ = events.send(Event::Request { connection });
                // The proxy may have closed the connection.
                let _ = stream.write_all(response.as_bytes());
            }
            let _ = closing.recv();
            drop(stream);
            let _ = events.send(Event::Closed { connection });
        }
    });
    (address, seen, close)
}

/// Reads to the end of a request without a body. Returns whether there was one.
fn read_head(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Asks a site for the presence, and returns the status.
async fn status(site: &Router) -> u16 {
    let response = site.clone().oneshot(get("/connector/chat/presence")).await.expect("an answer");
    let status = response.status().as_u16();
    response.into_body().collect().await.expect("a whole body");
    status
}

fn site(options: ProxyOptions) -> Router {
    Router::new().nest("/connector", proxy::router(options).expect("a proxy"))
}

/// Under load, all connections of a pool are in use many times a second.
#[tokio::test]
async fn requests_leave_nothing_behind() {
    const REQUESTS: usize = 50;
    let (address, _seen, _close) = service_of(&[OK; REQUESTS]);
    let site = site(options(address));
    let mut tasks = Vec::new();
    for _ in 0..REQUESTS {
        assert_eq!(status(&site).await, 200);
        tasks.push(Handle::current().metrics().num_alive_tasks());
    }
    assert_eq!(tasks, [tasks[0]; REQUESTS]);
}

/// tokio gives a task a budget for each time that it runs. Whichever step uses it up, the task is woken
/// again. The connection waits for the body's first part to be taken, and for nothing else.
#[tokio::test]
async fn a_response_is_not_missed_when_the_budget_of_the_task_is_used_up() {
    const BUDGET: usize = 128;
    const IN_PARTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
                            1\r\n{\r\n1\r\n \r\n1\r\n}\r\n0\r\n\r\n";
    let (address, _seen, _close) = service_of(&[IN_PARTS; BUDGET]);
    let site = site(options(address));
    for used in 0..BUDGET {
        let site = site.clone();
        // The timeout of the test does not wake the task.
        let task = tokio::spawn(async move {
            let mut status = pin!(status(&site));
            let status = poll_fn(|context| {
                for _ in 0..used {
                    if let Poll::Ready(budget) = coop::poll_proceed(context) {
                        budget.made_progress();
                    }
                }
                status.as_mut().poll(context)
            });
            status.await
        });
        let status = tokio::time::timeout(Duration::from_secs(10), task).await;
        assert_eq!(status.expect("a response").expect("no panic"), 200, "{used} used");
    }
}

#[tokio::test]
async fn sends_the_next_request_on_the_same_connection() {
    let (address, mut seen, _close) = service_of(&[OK, OK, OK]);
    let site = site(options(address));
    for _ in 0..3 {
        assert_eq!(status(&site).await, 200);
        assert_eq!(seen.recv().await, Some(Event::Request { connection: 0 }));
    }
}

#[tokio::test]
async fn a_connection_that_the_service_closed_while_idle_loses_no_request() {
    let (address, mut seen, close) = service_of(&[OK]);
    let site = site(options(address));
    for connection in 0..3 {
        assert_eq!(status(&site).await, 200);
        assert_eq!(seen.recv().await, Some(Event::Request { connection }));
        close.send(()).expect("running");
        assert_eq!(seen.recv().await, Some(Event::Closed { connection }));
        // The runtime asks the system for events before it continues, and so learns of the end.
        tokio::task::yield_now().await;
    }
}

/// Moves the clock forward, and lets tasks run in between.
async fn pass(time: Duration) {
    tokio::time::pause();
    for _ in 0..6 {
        tokio::time::advance(time / 6).await;
    }
    tokio::time::resume();
}

#[tokio::test]
async fn a_connection_that_the_service_closed_while_idle_is_closed_without_a_request() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (close, closing) = channel();
    let (events, mut seen) = unbounded_channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        assert!(read_head(&mut stream));
        stream.write_all(OK.as_bytes()).expect("written");
        closing.recv().expect("the connection is idle");
        stream.shutdown(Shutdown::Write).expect("closed");
        events.send(None).expect("running");
        events.send(stream.read(&mut [0]).ok()).expect("running");
    });
    let site = site(options(address));
    assert_eq!(status(&site).await, 200);
    close.send(()).expect("running");
    assert_eq!(seen.recv().await, Some(None));
    pass(Duration::from_secs(20)).await;
    let end = tokio::time::timeout(Duration::from_secs(10), seen.recv()).await;
    assert_eq!(end.expect("the proxy closes its end"), Some(Some(0)));
}

#[test]
fn idle_connections_expire_after_the_runtime_of_an_earlier_request_has_ended() {
    let (address, mut seen, _) = service_of(&[OK, OK]);
    let site = site(options(address));
    let runtime = || Builder::new_current_thread().enable_all().build().expect("a runtime");
    assert_eq!(runtime().block_on(status(&site)), 200);
    runtime().block_on(async {
        assert_eq!(status(&site).await, 200);
        pass(Duration::from_secs(100)).await;
        for event in [
            Event::Request { connection: 0 },
            Event::Closed { connection: 0 },
            Event::Request { connection: 1 },
            Event::Closed { connection: 1 },
        ] {
            let next = tokio::time::timeout(Duration::from_secs(10), seen.recv()).await;
            assert_eq!(next.expect("an event"), Some(event));
        }
    });
}

#[tokio::test]
async fn a_refused_response_is_not_taken_for_that_of_the_next_request() {
    for refused in [
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n{ }",
        "HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 3\r\n\r\n{ }",
        "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 3\r\n\r\n{ }",
    ] {
        let (address, mut seen, _) = service_of(Box::leak(Box::new([refused, OK])));
        let site = site(ProxyOptions { answer_limit: 2, ..options(address) });
        for connection in 0..2 {
            assert_eq!(status(&site).await, 502, "{refused}");
            assert_eq!(seen.recv().await, Some(Event::Request { connection }));
            assert_eq!(seen.recv().await, Some(Event::Closed { connection }));
        }
    }
}

#[tokio::test]
async fn a_request_that_reached_the_service_is_not_repeated() {
    let (address, mut seen, _) = service_of(&[OK, ""]);
    let site = site(options(address));
    assert_eq!((status(&site).await, status(&site).await), (200, 502));
    for event in
        [Event::Request { connection: 0 }, Event::Request { connection: 0 }, Event::Closed { connection: 0 }]
    {
        assert_eq!(seen.recv().await, Some(event));
    }
    assert!(seen.try_recv().is_err(), "no other connection was opened");
}
