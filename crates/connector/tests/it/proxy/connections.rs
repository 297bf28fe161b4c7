//! Connections to the service are reused, unless that would mix up or lose a response.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

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
    status_of(site, get("/connector/chat/presence")).await
}

async fn status_of(site: &Router, request: Request<Body>) -> u16 {
    let response = site.clone().oneshot(request).await.expect("an answer");
    let status = response.status().as_u16();
    response.into_body().collect().await.expect("a whole body");
    status
}

fn site(options: ProxyOptions) -> Router {
    Router::new().nest("/connector", proxy::router(options).expect("a proxy"))
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
    let end = tokio::time::timeout(Duration::from_secs(10), seen.recv()).await;
    assert_eq!(end.expect("the proxy closes its end"), Some(Some(0)));
}

#[test]
fn a_request_after_the_runtime_of_an_earlier_one_has_ended_is_answered() {
    let (address, mut seen, _) = service_of(&[OK, OK]);
    let site = site(options(address));
    for connection in 0..2 {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        assert_eq!(runtime.block_on(status(&site)), 200);
        assert_eq!(seen.blocking_recv(), Some(Event::Request { connection }));
        drop(runtime);
        assert_eq!(seen.blocking_recv(), Some(Event::Closed { connection }));
    }
}

#[tokio::test]
async fn a_refused_response_is_not_taken_for_that_of_the_next_request() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    for (status, header, body) in
        [(200, JSON, "{ }"), (302, ("location", "/"), "{}"), (200, ("content-encoding", "br"), "{}")]
    {
        let count = Arc::new(AtomicUsize::new(0));
        let (address, _) = service(move || {
            let is_refused = count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            let (status, (name, value), body) =
                if is_refused { (status, header, body) } else { (200, JSON, "{}") };
            Response::builder().status(status).header(name, value).body(Body::from(body)).expect("a response")
        })
        .await;
        let site = site(ProxyOptions { answer_limit: 2, ..options(address) });
        for expected in [502, 200, 502, 200] {
            assert_eq!(self::status(&site).await, expected, "{status} {header:?} {body}");
        }
    }
}

#[tokio::test]
async fn a_request_that_reached_the_service_is_not_repeated() {
    for request in [get("/connector/chat/presence"), post("/connector/chat/messages", "{}")] {
        let (address, mut seen, _) = service_of(&[OK, ""]);
        let site = site(options(address));
        assert_eq!((status(&site).await, status_of(&site, request).await), (200, 502));
        for event in [
            Event::Request { connection: 0 },
            Event::Request { connection: 0 },
            Event::Closed { connection: 0 },
        ] {
            assert_eq!(seen.recv().await, Some(event));
        }
        assert!(seen.try_recv().is_err(), "no other request was sent");
    }
}
