//! The work after each input: starts everything that is due, and sets a timer for what is due next.

use chat_protocol::{Endpoint, IdempotencyKey};

use super::Session;
use crate::timeline::EntryKey;
use crate::{Effect, Request, RequestId};

impl Session {
    /// Starts everything that is due, and sets a timer for what is due next.
    pub(super) fn decide(&mut self, now_ms: u64) -> Vec<Effect> {
        while let Some(request) = self.in_flight.expired(now_ms) {
            self.effects.push(Effect::Cancel(request.id));
            self.on_no_response(now_ms, &request, "TIMEOUT", "the proxy did not answer in time");
        }
        self.elect(now_ms);
        if self.leads() {
            self.end_wait_for_reply(now_ms);
        }
        if self.online && !self.page_hidden {
            self.request_config(now_ms);
            if self.leads() && self.is_on() {
                self.send_due(now_ms);
                self.poll(now_ms);
                self.send_events(now_ms);
            }
            if self.is_on() {
                self.send_leftover(now_ms);
            }
        }
        self.update_deferred(now_ms);
        self.update_wait(now_ms);
        if self.tab_sync.take_retry(now_ms) {
            self.retry_persist();
        }
        if self.view_dirty {
            self.wait_for_network();
            self.update_seen();
        }
        if self.tab_sync.is_dirty() && self.leads() {
            self.publish();
        }
        self.plan_wake(now_ms);
        if std::mem::take(&mut self.view_dirty) {
            self.effects.push(Effect::Show);
        }
        std::mem::take(&mut self.effects)
    }

    fn request_config(&mut self, now_ms: u64) {
        if !self.in_flight.any(Endpoint::Config) && self.config.take_due(now_ms) {
            let mut query = Vec::new();
            if let Some(locale) = &self.locale {
                query.push(("locale", locale.clone()));
            }
            self.request(now_ms, Endpoint::Config, query, None, None, false);
        }
    }

    /// Sends a request, with a body and its key for `POST`, and with the message that it sends: without one,
    /// it sends that of a previous visitor. Returns its id.
    pub(super) fn request(
        &mut self,
        now_ms: u64,
        endpoint: Endpoint,
        query: Vec<(&'static str, String)>,
        body: Option<(String, IdempotencyKey)>,
        message: Option<EntryKey>,
        keepalive: bool,
    ) -> RequestId {
        let (id, deadline_ms) = self.in_flight.start(now_ms, endpoint, message);
        let (body, key) = body.unzip();
        self.effects.push(Effect::Request(Request {
            id,
            endpoint,
            query,
            body,
            key,
            deadline_ms,
            keepalive,
            is_unproved: endpoint == Endpoint::Send && message.is_none(),
        }));
        id
    }

    /// Cancels requests to the endpoints for which `which` is true.
    pub(super) fn cancel(&mut self, which: impl Fn(Endpoint) -> bool) {
        for request in self.in_flight.cancel_where(which) {
            self.effects.push(Effect::Cancel(request.id));
        }
    }

    fn plan_wake(&mut self, now_ms: u64) {
        let mut due = vec![
            self.in_flight.deadline_ms(),
            self.tab_sync.retry_persist_ms(),
            self.election.due_ms(),
            self.waiting.due_ms(),
            self.typing.as_ref().map(|(_, until_ms)| *until_ms),
        ];
        if self.online && !self.page_hidden && !self.in_flight.any(Endpoint::Config) {
            due.push(self.config.due_ms());
        }
        if self.online && self.is_on() {
            due.push(self.next_leftover_ms());
        }
        if self.leads() {
            due.push(self.poller.reply_due_ms());
            if self.online && self.is_on() {
                due.push(self.next_attempt_ms());
                due.push(self.next_events_ms());
            }
            due.extend(self.next_polls_ms());
            due.push(self.next_look_up_ms());
        }
        let next = due.into_iter().flatten().min().map(|due| due.max(now_ms + 1));
        if let Some(at) = next.filter(|_| !self.page_hidden)
            && self.wake_ms != next
        {
            self.wake_ms = next;
            self.effects.push(Effect::WakeAt(at));
        }
    }
}
