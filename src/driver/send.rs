//! Requests of the session, and their responses.

use std::rc::Rc;

use chat_protocol::Endpoint;
use chat_session::{Answer, Input, Request};
use leptos::task::spawn_local;
use web_sys::{AbortController, AbortSignal};

use super::Inner;
use super::long_history::LongHistory;
use crate::browser::idle::idle;

impl Inner {
    pub(super) fn send(self: &Rc<Self>, request: Request) {
        // Every browser with `fetch` has it.
        let Ok(abort) = AbortController::new() else { return };
        let (inner, signal) = (Rc::downgrade(self), abort.signal());
        let (transport, reload) =
            (self.transport.clone(), request.endpoint == Endpoint::Config && self.reloads_config.take());
        self.in_flight.borrow_mut().push((request.id, abort));
        let known = if request.endpoint == Endpoint::Messages { self.long_history.take() } else { None };
        let known = known.filter(|history| history.continues(&request));
        spawn_local(async move {
            let found = match known {
                Some(history) => Ok(history),
                None => match transport.exchange(&request, &signal, reload).await {
                    // A request without a conversation asks for its id alone.
                    Some(reply) if request.endpoint == Endpoint::Messages && request.query.is_empty() => {
                        reply.remove_messages();
                        Err(Some(reply.answer()))
                    }
                    Some(reply) if request.endpoint == Endpoint::Messages => {
                        LongHistory::of(&request, reply).map_err(|reply| Some(reply.answer()))
                    }
                    reply => Err(reply.map(|reply| reply.answer())),
                },
            };
            if let Ok(history) = &found
                && history.is_whole()
                && let Some(inner) = inner.upgrade()
            {
                inner.handle(Input::Newest(request.id, history.newest()));
            }
            if found.is_ok() {
                idle().await;
            }
            if let Some(inner) = inner.upgrade() {
                inner.in_flight.borrow_mut().retain(|(id, _)| *id != request.id);
                let answer = found.map_or_else(|answer| answer, |history| inner.take_part(history, &signal));
                inner.handle(
                    answer.map_or(Input::Failed(request.id), |answer| Input::Answered(request.id, answer)),
                );
            }
        });
    }

    /// Takes the next part of a long history, and keeps the rest for the next request. Returns `None` if the
    /// session has cancelled the present one.
    #[inline(never)]
    fn take_part(&self, mut history: LongHistory, signal: &AbortSignal) -> Option<Answer> {
        let part = (!signal.aborted()).then(|| history.take_part());
        if !self.stopped.get() && part.as_ref().is_none_or(|part| part.has_more) {
            self.long_history.replace(Some(history));
        }
        part
    }
}
