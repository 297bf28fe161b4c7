//! Responses of the service, and requests without one.

use chat_protocol::{
    Endpoint, ErrorCode, History, Presence, SendResult, ServiceError, Tracking, Value, open_envelope,
};

use crate::back_off::wait_ms;
use crate::error_action::ErrorAction;
use crate::in_flight::InFlight;
use crate::{Answer, RequestId, Session, SessionEvent};

impl Session {
    pub(super) fn on_response(&mut self, now_ms: u64, request: &InFlight, answer: Answer) {
        let Answer { status, retry_after_ms, body, has_more } = answer;
        let endpoint = request.endpoint;
        let outcome = match endpoint {
            Endpoint::Send => {
                usable(status, body).map(|result: SendResult| self.on_sent(now_ms, request, result))
            }
            Endpoint::Messages => {
                usable(status, body).map(|history: History| self.on_messages(now_ms, history, has_more))
            }
            Endpoint::Presence => {
                usable(status, body).map(|presence: Presence| self.on_presence(now_ms, presence))
            }
            Endpoint::Config => open_envelope(status, body).and_then(|data| Ok(self.on_config(data)?)),
            Endpoint::Events => usable(status, body).map(|tracking: Tracking| {
                self.tracking.on_accepted(now_ms, request.id, Some(&tracking));
                self.persist_events();
            }),
        };
        if let Err(error) = outcome {
            self.on_error(now_ms, request, &error, retry_after_ms);
        }
    }

    /// Shows the newest messages of a history before the rest of it is merged.
    #[inline(never)]
    pub(super) fn show_newest(&mut self, id: RequestId, body: Value) {
        if self.in_flight.awaits(id, Endpoint::Messages)
            && let Ok(history) = usable::<History>(200, body)
            && self.timeline.show_newest(history.messages, self.poller.sync())
        {
            self.mark_snapshot_dirty();
        }
    }

    /// Handles a request without a response.
    pub(super) fn on_no_response(&mut self, now_ms: u64, request: &InFlight, code: &str, message: &str) {
        let error = ServiceError {
            status: 0,
            code: ErrorCode::Other(code.to_owned()),
            message: message.to_owned(),
            request_id: None,
        };
        self.on_error(now_ms, request, &error, None);
    }

    fn on_error(
        &mut self,
        now_ms: u64,
        request: &InFlight,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        match request.endpoint {
            Endpoint::Send => self.on_send_error(now_ms, request, error, retry_after_ms),
            Endpoint::Messages | Endpoint::Presence => {
                self.on_poll_error(now_ms, request.endpoint, error, retry_after_ms);
            }
            Endpoint::Config => {
                self.emit_error(request.endpoint, error);
                self.config.on_error(now_ms, retry_after_ms, &mut self.random);
            }
            Endpoint::Events if ErrorAction::of(error) == ErrorAction::Retry => {
                let wait = wait_ms(3, retry_after_ms, &mut self.random);
                self.tracking.on_error(now_ms, request.id, wait.max(MIN_EVENTS_RETRY_MS));
                self.persist_events();
            }
            Endpoint::Events => {
                self.tracking.on_accepted(now_ms, request.id, None);
                self.persist_events();
            }
        }
    }

    fn on_config(&mut self, data: Value) -> Result<(), chat_protocol::FieldError> {
        self.config.on_config(data.clone())?;
        self.persist_config(data);
        self.view_dirty = true;
        Ok(())
    }

    pub(super) fn emit_error(&mut self, endpoint: Endpoint, error: &ServiceError) {
        let code = error.code.as_str().to_owned();
        self.emit(SessionEvent::Error { code, message: [endpoint.path(), " ", &error.sentence()].concat() });
    }
}

/// Minimum time before a batch of events is sent again. Milliseconds.
const MIN_EVENTS_RETRY_MS: u64 = 2_000;

fn usable<T: TryFrom<Value, Error = chat_protocol::FieldError>>(
    status: u16,
    body: Value,
) -> Result<T, ServiceError> {
    Ok(T::try_from(open_envelope(status, body)?)?)
}
