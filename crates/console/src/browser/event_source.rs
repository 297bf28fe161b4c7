//! Server-sent events.

use wasm_bindgen::JsCast;
use web_sys::MessageEvent;

use super::listener::Listener;

/// An open stream of events. Dropping it closes it.
pub struct EventSource {
    source: web_sys::EventSource,
    listeners: Vec<Listener>,
}

impl EventSource {
    /// Opens a stream; `None` if the browser refuses.
    pub fn open(address: &str) -> Option<Self> {
        let source = web_sys::EventSource::new(address).ok()?;
        Some(Self { source, listeners: Vec::new() })
    }

    /// Calls a function with the data of each event of a name.
    pub fn on(&mut self, name: &'static str, mut callback: impl FnMut(String) + 'static) {
        self.listeners.push(Listener::new(&self.source, name, move |event| {
            let event = event.dyn_into::<MessageEvent>().ok();
            callback(event.and_then(|event| event.data().as_string()).unwrap_or_default());
        }));
    }

    /// Returns whether the browser has given up.
    pub fn is_closed(&self) -> bool {
        self.source.ready_state() == web_sys::EventSource::CLOSED
    }

    /// Calls a function when the connection is lost. `true`: the browser does not try again.
    pub fn on_error(&mut self, mut callback: impl FnMut(bool) + 'static) {
        let source = self.source.clone();
        self.listeners.push(Listener::new(&self.source, "error", move |_| {
            callback(source.ready_state() == web_sys::EventSource::CLOSED);
        }));
    }
}

impl Drop for EventSource {
    fn drop(&mut self) {
        self.listeners.clear();
        self.source.close();
    }
}
