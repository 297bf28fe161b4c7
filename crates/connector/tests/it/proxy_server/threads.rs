//! The threads of the server, and their connections to the service.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::extract::ConnectInfo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::proxy_server::{Running, serve};
use crate::service::Service;

/// The proxy's connections that a request arrived on.
type Connections = Arc<Mutex<BTreeSet<SocketAddr>>>;

/// Starts a proxy for a service that records its connections.
async fn counted(allowed_origins: &[&str]) -> (Running, Connections) {
    let connections = Connections::default();
    let recorded = Arc::clone(&connections);
    let router = Router::new().fallback(move |ConnectInfo(peer): ConnectInfo<SocketAddr>| {
        recorded.lock().expect("not poisoned").insert(peer);
        async { "{}" }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let service = listener.local_addr().expect("an address");
    let router = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, router).into_future());
    let sandbox = Service::start().await;
    let proxy = serve(&sandbox, |options| {
        options.proxy.origin = format!("http://{service}");
        options.proxy.allowed_origins = allowed_origins.iter().map(|origin| (*origin).to_owned()).collect();
        options.connections_per_address = usize::MAX;
    })
    .await;
    (proxy, connections)
}

fn count(connections: &Connections) -> usize {
    connections.lock().expect("not poisoned").len()
}

/// Sends a request on an open connection, and reads the response.
async fn ask(connection: &mut TcpStream) {
    let request = "GET /connector/chat/presence HTTP/1.1\r\nhost: shop.example\r\n\r\n";
    connection.write_all(request.as_bytes()).await.expect("written");
    let mut response = Vec::new();
    while !response.ends_with(b"\r\n\r\n{}") {
        assert_ne!(connection.read_buf(&mut response).await.expect("a response"), 0);
    }
    assert!(response.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn each_thread_has_its_own_connections_to_the_service() {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    for allowed_origins in [&[][..], &["https://www.shop.example"]] {
        let (proxy, connections) = counted(allowed_origins).await;
        let mut open = Vec::new();
        // Enough for all threads.
        for _ in 0..4 * threads {
            open.push(proxy.connect().await);
        }
        for connection in &mut open {
            ask(connection).await;
        }
        assert_eq!(count(&connections), threads, "{allowed_origins:?}");
    }
}

/// nginx opens a connection for each request, unless it is told to keep them.
#[tokio::test]
async fn clients_that_connect_for_each_request_share_a_connection_to_the_service() {
    let (proxy, connections) = counted(&[]).await;
    for _ in 0..20 {
        ask(&mut proxy.connect().await).await;
    }
    assert_eq!(count(&connections), 1);
}
