//! Slow and idle clients: their connections end after the timeouts.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::proxy_server::{Running, serve};
use crate::service::{self, Service};

const SOON: Duration = Duration::from_millis(50);

/// Starts a proxy with one short timeout; the others are longer than any test.
async fn impatient(timeout: Duration, connection_timeout: Duration) -> Running {
    let service = Service::start().await;
    serve(&service, |options| {
        options.proxy.timeout = timeout;
        options.connection_timeout = connection_timeout;
    })
    .await
}

const LONG: Duration = Duration::from_hours(1);

/// Sends a text, then further bytes one by one until the peer closes the connection. Returns the response.
async fn drip(mut connection: TcpStream, begin: &str, byte: u8) -> String {
    connection.write_all(begin.as_bytes()).await.expect("written");
    let (mut answers, mut says) = connection.split();
    let dripping = async {
        let mut pace = tokio::time::interval(SOON / 5);
        loop {
            pace.tick().await;
            // Bytes after the end are lost; the reader notices the end.
            let _ = says.write_all(&[byte]).await;
        }
    };
    let mut answer = Vec::new();
    let until_its_end = async {
        // The connection may be reset, as there are unread bytes.
        let _ = answers.read_to_end(&mut answer).await;
    };
    tokio::select! {
        () = until_its_end => {}
        () = dripping => {}
        () = tokio::time::sleep(Duration::from_secs(30)) => panic!("the connection is still open"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn closes_a_connection_whose_head_never_ends() {
    let proxy = impatient(LONG, SOON).await;
    drip(proxy.connect().await, "GET /connector/chat/config HTTP/1.1\r\nx-slow: ", b'a').await;
}

#[tokio::test]
async fn closes_an_idle_connection_after_the_timeout() {
    let proxy = impatient(LONG, SOON).await;
    let mut connection = proxy.connect().await;
    let answer = "GET /healthz HTTP/1.1\r\nhost: shop.example\r\n\r\n";
    connection.write_all(answer.as_bytes()).await.expect("written");
    let mut read = String::new();
    let to_its_end = tokio::time::timeout(Duration::from_secs(30), connection.read_to_string(&mut read));
    to_its_end.await.expect("an end").expect("text");
    assert!(read.starts_with("HTTP/1.1 200") && read.ends_with("ok\n"), "{read}");
}

#[tokio::test]
async fn answers_408_to_an_endless_body_and_closes_the_connection() {
    let proxy = impatient(SOON, LONG).await;
    let head = "POST /connector/events HTTP/1.1\r\nhost: shop.example\r\ncontent-type: application/json\r\n";
    for (length, byte) in
        [("content-length: 100000\r\n\r\n", b' '), ("transfer-encoding: chunked\r\n\r\n", b'0')]
    {
        let answer = drip(proxy.connect().await, &format!("{head}{length}"), byte).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{length}: {answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn closes_a_connection_that_does_not_read_its_response() {
    // More than the system's buffers hold.
    const LARGE: usize = 16 * 1024 * 1024;
    let service = service::serve(Router::new().fallback(|| async { "x".repeat(LARGE) })).await;
    let sandbox = Service::start().await;
    let mut proxy = serve(&sandbox, |options| {
        options.proxy.origin = format!("http://{service}");
        options.proxy.answer_limit = 2 * LARGE;
        options.connection_timeout = SOON;
        options.grace = LONG;
    })
    .await;
    let mut connection = connect_with_little_room(proxy.address).await;
    let request = "GET /connector/chat/presence HTTP/1.1\r\nhost: shop.example\r\n\r\n";
    connection.write_all(request.as_bytes()).await.expect("written");
    let mut begin = [0; 12];
    connection.read_exact(&mut begin).await.expect("the answer has begun");
    assert_eq!(&begin, b"HTTP/1.1 200");
    proxy.stop.take().expect("running").send(()).expect("running");
    // A stopping server waits for requests in progress, so it would not end while the connection is open.
    let ended = tokio::time::timeout(Duration::from_secs(30), proxy.ended).await;
    ended.expect("the connection is closed").expect("no panic").expect("a clean end");
}

async fn connect_with_little_room(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a size");
    socket.connect(address).await.expect("a connection")
}

#[tokio::test]
async fn idle_connections_block_only_their_own_address() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| {
        options.connection_timeout = LONG;
        options.connections_per_address = 3;
    })
    .await;
    let idle = [proxy.connect().await, proxy.connect().await, proxy.connect().await];
    let mut refused = String::new();
    let mut one_more = proxy.connect().await;
    one_more.read_to_string(&mut refused).await.expect("an answer");
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 5"), "{refused}");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).expect("another address of this machine");
    let mut other = socket.connect(proxy.address).await.expect("a connection");
    other
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\n\r\n")
        .await
        .expect("written");
    let mut answer = String::new();
    other.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let health = reqwest::get(format!("http://{}/healthz", proxy.metrics)).await;
    assert_eq!(health.expect("an answer").status(), 200, "the operator's port stays reachable");
    drop(idle);
    let let_in = async {
        while !matches!(reqwest::get(proxy.url("/healthz")).await, Ok(answer) if answer.status() == 200) {}
    };
    tokio::time::timeout(Duration::from_secs(30), let_in).await.expect("room again");
}
