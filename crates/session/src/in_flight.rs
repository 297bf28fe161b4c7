//! Requests in flight.

use chat_protocol::Endpoint;

use crate::{EntryKey, RequestId};

/// Maximum time to wait for a response. Milliseconds. An AI needs longer than the other endpoints.
const SEND_TIMEOUT_MS: u64 = 30_000;
const READ_TIMEOUT_MS: u64 = 15_000;

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) id: RequestId,
    pub(crate) endpoint: Endpoint,
    /// The entry of the message that it sends.
    pub(crate) message: Option<EntryKey>,
    deadline_ms: u64,
}

/// All requests in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlightRequests {
    requests: Vec<InFlight>,
    last: u32,
}

impl InFlightRequests {
    /// Adds a request. Returns its id and its deadline.
    pub(crate) fn start(
        &mut self,
        now_ms: u64,
        endpoint: Endpoint,
        message: Option<EntryKey>,
    ) -> (RequestId, u64) {
        self.last += 1;
        let id = RequestId(self.last);
        let within_ms = if endpoint == Endpoint::Send { SEND_TIMEOUT_MS } else { READ_TIMEOUT_MS };
        let deadline_ms = now_ms + within_ms;
        self.requests.push(InFlight { id, endpoint, message, deadline_ms });
        (id, deadline_ms)
    }

    /// Removes the request of a response. Returns `None` if it was cancelled.
    pub(crate) fn complete(&mut self, id: RequestId) -> Option<InFlight> {
        let index = self.requests.iter().position(|request| request.id == id)?;
        Some(self.requests.remove(index))
    }

    /// Returns whether the response to a request to this endpoint is awaited.
    pub(crate) fn awaits(&self, id: RequestId, endpoint: Endpoint) -> bool {
        self.requests.iter().any(|request| request.id == id && request.endpoint == endpoint)
    }

    /// Returns a request whose deadline has passed.
    pub(crate) fn expired(&mut self, now_ms: u64) -> Option<InFlight> {
        let index = self.requests.iter().position(|request| now_ms >= request.deadline_ms)?;
        Some(self.requests.remove(index))
    }

    /// Removes the requests to the endpoints for which `which` is true. Returns their ids.
    pub(crate) fn cancel_where(&mut self, which: impl Fn(Endpoint) -> bool) -> Vec<InFlight> {
        let mut cancelled = Vec::new();
        while let Some(index) = self.requests.iter().position(|request| which(request.endpoint)) {
            cancelled.push(self.requests.remove(index));
        }
        cancelled
    }

    /// Returns the message in flight: there is at most one.
    pub(crate) fn message(&self) -> Option<EntryKey> {
        self.requests.iter().find_map(|request| request.message)
    }

    pub(crate) fn any(&self, endpoint: Endpoint) -> bool {
        self.requests.iter().any(|request| request.endpoint == endpoint)
    }

    /// Returns the earliest deadline.
    pub(crate) fn deadline_ms(&self) -> Option<u64> {
        self.requests.iter().map(|request| request.deadline_ms).min()
    }
}
