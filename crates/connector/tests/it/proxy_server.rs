//! The proxy as a standalone server.

mod any_bytes;
mod attacks;
mod command;
mod configs;
mod slow;
mod traffic;

use std::net::SocketAddr;
use std::time::Duration;

use chat_connector::proxy::{ProxyOptions, ProxyServer, ServerError, ServerOptions};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service::{Service, TOKEN, http};

struct Running {
    address: SocketAddr,
    metrics: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Result<(), ServerError>>,
}

async fn serve(service: &Service, change: impl FnOnce(&mut ServerOptions)) -> Running {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut options = ServerOptions {
        proxy: ProxyOptions::new(service.origin(), TOKEN.into()),
        listen: any,
        prefix: "/connector".to_owned(),
        metrics_listen: Some(any),
        connection_timeout: Duration::from_secs(5),
        connections: 10_000,
        connections_per_address: 256,
        grace: Duration::from_secs(5),
    };
    change(&mut options);
    let server = ProxyServer::bind(options).await.expect("two ports");
    let (address, metrics) =
        (server.address().expect("an address"), server.metrics_address().expect("an address"));
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(server.serve(async {
        let _ = stopped.await;
    }));
    Running { address, metrics, stop: Some(stop), ended }
}

impl Running {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Opens a raw connection.
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    async fn get(&self, path: &str) -> reqwest::Response {
        http().get(self.url(path)).send().await.expect("an answer")
    }

    async fn assistant(&self) -> Value {
        let config: Value = self.get("/connector/chat/config?locale=en").await.json().await.expect("JSON");
        config["data"]["config"]["assistantName"].clone()
    }
}
