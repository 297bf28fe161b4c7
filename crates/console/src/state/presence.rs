//! Whether the operator uses the console, as the service is told.

use chat_protocol::admin::{ConsoleState, Empty};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api;
use crate::location::encode;

/// The operator's presence. Copies are the same presence.
#[derive(Clone, Copy)]
pub struct Presence {
    is_idle: RwSignal<bool>,
}

impl Presence {
    pub(super) fn new() -> Self {
        Self { is_idle: RwSignal::new(false) }
    }

    /// Sets whether the console was left alone.
    pub fn set_idle(self, is_idle: bool) {
        if self.is_idle.get_untracked() != is_idle {
            self.is_idle.set(is_idle);
        }
    }

    /// Tells the service of each change. `console` is the id that the stream gives this console. A console is
    /// in use when its stream begins. A request that is lost needs no repetition: a stream whose connection
    /// is lost begins again.
    pub fn tell_service(self, console: Signal<Option<String>>) {
        Effect::new(move |before: Option<(Option<String>, bool)>| {
            let (console, is_idle) = (console.get(), self.is_idle.get());
            let was_idle = before.is_some_and(|(known, was_idle)| known == console && was_idle);
            if let Some(console) = &console
                && was_idle != is_idle
            {
                let path = format!("stream/{}", encode(console));
                spawn_local(async move {
                    _ = api::put::<Empty>(&path, &ConsoleState { idle: is_idle }).await;
                });
            }
            (console, is_idle)
        });
    }
}
