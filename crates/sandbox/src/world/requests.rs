//! The requests that arrived, in memory: they are for tests, and for the one who watches.

use std::collections::VecDeque;

/// Requests kept; the oldest go first, so that a sandbox may run for weeks.
const KEPT: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    requests: VecDeque<LoggedRequest>,
    so_far: u64,
}

/// A request to the connector API. Without a status its answer is still to come, or its connection was broken.
#[derive(Debug)]
pub(crate) struct LoggedRequest {
    number: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) status: Option<u16>,
}

impl RequestLog {
    /// Writes a request down; the number is for [`Self::answered`].
    pub(crate) fn arrived(&mut self, method: String, path: String, key: Option<String>) -> u64 {
        if self.requests.len() == KEPT {
            self.requests.pop_front();
        }
        self.so_far += 1;
        let number = self.so_far;
        self.requests.push_back(LoggedRequest { number, method, path, key, status: None });
        number
    }

    pub(crate) fn answered(&mut self, number: u64, status: u16) {
        if let Some(request) = self.requests.iter_mut().rev().find(|request| request.number == number) {
            request.status = Some(status);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LoggedRequest> {
        self.requests.iter()
    }
}
