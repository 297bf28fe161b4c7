//! A fake service with a configurable response, which records its requests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Returns a runtime for one thread.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The state of the service.
#[derive(Clone, Debug, Default)]
struct State {
    /// The bytes of the response; `None` sends an empty envelope.
    answer: Option<Vec<u8>>,
    /// The heads of the requests.
    heads: Vec<String>,
}

/// A service on a free port.
#[derive(Clone, Debug)]
pub struct Service {
    state: Arc<Mutex<State>>,
    origin: String,
}

impl Service {
    /// Starts a service that runs until the process ends.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let service = Self { state: Arc::default(), origin };
        let accepting = service.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = accepting.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        service
    }

    /// Returns the origin of the service.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Sets the response to these bytes, after which the connection is closed.
    pub fn answer_with(&self, bytes: Vec<u8>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).answer = Some(bytes);
    }

    /// Returns the heads of the requests since the last call.
    pub fn take_heads(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).heads)
    }

    fn serve(&self, mut stream: TcpStream) {
        // A silent connection ends after a while.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        while let Some(head) = read_request(&mut stream) {
            let answer = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.heads.push(head);
                state.answer.clone()
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

/// Reads a whole request, and returns its head.
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
