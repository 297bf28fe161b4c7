//! A service that answers as it is told, and remembers what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// A runtime for one thread.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The service's end of a connection.
#[derive(Clone, Debug, Default)]
struct Said {
    /// What is sent back, to the byte; without it, an empty envelope.
    answer: Option<Vec<u8>>,
    /// The heads of the requests.
    heads: Vec<String>,
}

/// A service on a port of its own.
#[derive(Clone, Debug)]
pub struct Service {
    said: Arc<Mutex<Said>>,
    origin: String,
}

impl Service {
    /// Starts one, which runs for as long as the process.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let service = Self { said: Arc::default(), origin };
        let accepting = service.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = accepting.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        service
    }

    /// Its origin.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// From now on answers with these bytes, and closes the connection behind them.
    pub fn answer_with(&self, bytes: Vec<u8>) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).answer = Some(bytes);
    }

    /// The heads of the requests since it was last asked.
    pub fn take_heads(&self) -> Vec<String> {
        std::mem::take(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner).heads)
    }

    fn serve(&self, mut stream: TcpStream) {
        // Nobody waits for a connection that nothing comes on.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        while let Some(head) = read_request(&mut stream) {
            let answer = {
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                said.heads.push(head);
                said.answer.clone()
            };
            if let Some(bytes) = answer {
                let _ = stream.write_all(&bytes);
                return;
            }
            let body = r#"{"ok":true,"data":{},"requestId":"r1"}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}",
                body.len()
            );
            if write!(stream, "{head}\r\n\r\n{body}").is_err() {
                return;
            }
        }
    }
}

/// Reads a request to its end, and gives its head.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let mut chunk = [0; 4096];
    let end = loop {
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        let length = stream.read(&mut chunk).ok().filter(|length| *length > 0)?;
        read.extend_from_slice(chunk.get(..length)?);
    };
    let head = String::from_utf8_lossy(read.get(..end)?).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut missing = (end + 4 + length.unwrap_or(0_usize)).saturating_sub(read.len());
    while missing > 0 {
        let length = stream.read(&mut chunk).ok().filter(|length| *length > 0)?;
        missing = missing.saturating_sub(length);
    }
    Some(head)
}
