//! The log of received requests, in memory, for tests and developers.

use std::collections::VecDeque;

use crate::text::truncate_bytes;

/// Maximum logged requests; the oldest are removed first.
const MAX_REQUESTS: usize = 10_000;

/// Maximum bytes of a path.
const MAX_PATH_BYTES: usize = 2048;
/// Maximum bytes of an idempotency key.
const MAX_KEY_BYTES: usize = 256;
/// Maximum bytes of a method.
const MAX_METHOD_BYTES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct RequestLog {
    requests: VecDeque<LoggedRequest>,
    last_number: u64,
}

/// A request to the connector API. `status` is `None` until the response, and when the connection was broken.
#[derive(Debug)]
pub(super) struct LoggedRequest {
    number: u64,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) key: Option<String>,
    pub(super) status: Option<u16>,
}

impl RequestLog {
    /// Logs a request, and returns its number for [`Self::record_status`].
    pub(super) fn record(&mut self, method: &str, path: &str, key: Option<&str>) -> u64 {
        if self.requests.len() == MAX_REQUESTS {
            self.requests.pop_front();
        }
        self.last_number += 1;
        let number = self.last_number;
        self.requests.push_back(LoggedRequest {
            number,
            method: truncate_bytes(method, MAX_METHOD_BYTES).to_owned(),
            path: truncate_bytes(path, MAX_PATH_BYTES).to_owned(),
            key: key.map(|key| truncate_bytes(key, MAX_KEY_BYTES).to_owned()),
            status: None,
        });
        number
    }

    pub(super) fn record_status(&mut self, number: u64, status: u16) {
        // Numbers are consecutive.
        let first = self.requests.front().map_or(0, |request| request.number);
        let index = number.checked_sub(first).and_then(|offset| usize::try_from(offset).ok());
        if let Some(request) = index.and_then(|index| self.requests.get_mut(index)) {
            request.status = Some(status);
        }
    }

    /// Returns the requests, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LoggedRequest> {
        self.requests.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_the_number_and_size_of_logged_requests() {
        let mut log = RequestLog::default();
        let text = "x".repeat(100_000);
        for _ in 0..=MAX_REQUESTS {
            log.record(&text, &text, Some(&text));
        }
        assert_eq!(log.iter().count(), MAX_REQUESTS);
        let request = log.iter().next().expect("a request");
        let bytes = request.method.len() + request.path.len() + request.key.as_ref().map_or(0, String::len);
        assert_eq!(bytes, MAX_METHOD_BYTES + MAX_PATH_BYTES + MAX_KEY_BYTES);
    }

    #[test]
    fn records_the_status_of_the_right_request() {
        let mut log = RequestLog::default();
        let first = log.record("GET", "/first", None);
        for _ in 0..MAX_REQUESTS {
            log.record("GET", "/more", None);
        }
        let last = log.record("GET", "/last", None);
        log.record_status(first, 500);
        log.record_status(last, 200);
        let answered: Vec<_> = log.iter().filter(|request| request.status.is_some()).collect();
        assert_eq!((answered.len(), answered[0].path.as_str()), (1, "/last"));
    }
}
