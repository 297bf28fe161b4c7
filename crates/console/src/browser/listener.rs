//! Listeners of events, which are removed when they are dropped.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventTarget};

/// A listener. Dropping it removes it.
pub struct Listener {
    target: EventTarget,
    name: &'static str,
    closure: Closure<dyn FnMut(Event)>,
}

impl Listener {
    /// Listens to an event.
    pub fn new(target: &EventTarget, name: &'static str, callback: impl FnMut(Event) + 'static) -> Self {
        let closure = Closure::new(callback);
        _ = target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref());
        Self { target: target.clone(), name, closure }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let callback = self.closure.as_ref().unchecked_ref();
        _ = self.target.remove_event_listener_with_callback(self.name, callback);
    }
}
