//! HTTP/1.1 over a connection that stays open, with as little work for a request as possible: requests are
//! bytes that were written once, and of a response only the status, the length and the body are read.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The time after which a response is given up.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum bytes of a response.
const MAX_RESPONSE: usize = 1 << 24;

/// A connection to a service. It is opened again after it broke.
#[derive(Debug)]
pub(crate) struct Connection {
    address: String,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Connection {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None, buffer: Vec::with_capacity(2048) }
    }

    /// Sends a request and reads its response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        let outcome = tokio::time::timeout(TIMEOUT, self.try_exchange(request)).await;
        let head = match outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(head) => head,
            Err(error) => {
                self.stream = None;
                return Err(error);
            }
        };
        Ok(Response { status: head.status, body: &self.buffer[head.len..head.len + head.body] })
    }

    async fn try_exchange(&mut self, request: &[u8]) -> io::Result<Head> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(stream);
        }
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            read_more(stream, &mut self.buffer).await?;
            if let Some(head) = Head::parse(&self.buffer)? {
                break head;
            }
        };
        while self.buffer.len() < head.len + head.body {
            read_more(stream, &mut self.buffer).await?;
        }
        Ok(head)
    }
}

async fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<()> {
    if buffer.len() > MAX_RESPONSE {
        return Err(invalid("the response is too long"));
    }
    match stream.read_buf(buffer).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    /// The length of the head.
    len: usize,
    /// The length of the body.
    body: usize,
}

impl Head {
    /// Parses a head; `None` if it is not complete.
    fn parse(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let head = &bytes[..end + 2];
        let status = head.get(9..12).and_then(parse_number);
        let status = status.and_then(|status| u16::try_from(status).ok());
        let status = status.ok_or_else(|| invalid("invalid status line"))?;
        Ok(Some(Self { status, len: end + 4, body: content_length(head)? }))
    }
}

/// Returns the length of the body. The service announces it in every response that the load asks for.
fn content_length(head: &[u8]) -> io::Result<usize> {
    const NAME: &[u8] = b"content-length:";
    let mut lines = head.split(|&byte| byte == b'\n');
    let line = lines.find(|line| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)));
    let value = line.map(|line| line[NAME.len()..].trim_ascii());
    value.and_then(parse_number).ok_or_else(|| invalid("the response has no content-length"))
}

fn parse_number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns the position of a text.
pub(crate) fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

fn invalid(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}
