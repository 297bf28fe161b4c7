//! The service that is loaded, and the requests to it.

use std::error::Error;
use std::net::Ipv4Addr;

use serde_json::Value;

use crate::arguments::Arguments;
use crate::http::{Connection, find};

/// The service's nodes, and the path and the token of its API.
#[derive(Debug)]
pub(crate) struct Target {
    addresses: Vec<String>,
    base: String,
    token: String,
}

impl Target {
    pub(crate) fn from_arguments(arguments: &mut Arguments) -> Result<Self, String> {
        let urls = arguments.all("url");
        let addresses: Vec<String> = urls
            .iter()
            .map(|url| url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/').to_owned()))
            .collect::<Option<_>>()
            .ok_or("invalid --url: expected http://HOST:PORT")?;
        if addresses.is_empty() {
            return Err("--url is missing".to_owned());
        }
        let base = arguments.optional("base").unwrap_or_else(|| "/api/connector/v1".to_owned());
        Ok(Self { addresses, base, token: arguments.required("token")? })
    }

    /// Returns a new connection; the connections are spread over the nodes.
    pub(crate) fn connection(&self, number: usize) -> Connection {
        Connection::new(&self.addresses[number % self.addresses.len()])
    }

    /// Returns the bytes of a request that reads, for the visitor of a number.
    pub(crate) fn get(&self, path: &str, visitor: u32) -> Vec<u8> {
        let mut request = self.head("GET", path, visitor);
        request.push_str("\r\n");
        request.into_bytes()
    }

    /// Returns the bytes of a request that changes something.
    pub(crate) fn post(&self, path: &str, visitor: u32, key: &str, body: &Value) -> Vec<u8> {
        let body = body.to_string();
        let length = body.len();
        let head = self.head("POST", path, visitor);
        let idempotency = format!("idempotency-key: {key}\r\n");
        let content = format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        [head, idempotency, content, body].concat().into_bytes()
    }

    /// Each visitor has an address of their own, as the site's proxy reports it.
    fn head(&self, method: &str, path: &str, visitor: u32) -> String {
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + visitor);
        let Self { base, token, addresses } = self;
        let host = &addresses[0];
        format!(
            "{method} {base}{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
             x-forwarded-for: {address}\r\n"
        )
    }
}

/// Sends a request that must succeed, and returns its data.
pub(crate) async fn data(connection: &mut Connection, request: &[u8]) -> Result<Value, Box<dyn Error>> {
    let response = connection.exchange(request).await?;
    if response.status != 200 {
        return Err(format!("{}: {}", response.status, String::from_utf8_lossy(response.body)).into());
    }
    let mut body: Value = serde_json::from_slice(response.body)?;
    Ok(body["data"].take())
}

/// Returns the path that polls a conversation's new messages.
pub(crate) fn messages_path(conversation: &str, after: Option<&str>) -> String {
    let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
    format!("/chat/messages?conversationId={conversation}{after}")
}

/// Returns the path that polls presence.
pub(crate) fn presence_path(conversation: &str) -> String {
    format!("/chat/presence?conversationId={conversation}")
}

/// Returns the id after which the next poll reads, if a response contains new messages.
pub(crate) fn next_after(body: &[u8]) -> Option<String> {
    if find(body, b"\"messages\":[]").is_some() {
        return None;
    }
    let body: Value = serde_json::from_slice(body).ok()?;
    body["data"]["nextAfter"].as_str().map(str::to_owned)
}
