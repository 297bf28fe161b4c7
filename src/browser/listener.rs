//! An event listener that is removed when it is dropped.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventTarget};

/// Calls a function on each event of one kind, until it is dropped.
pub struct Listener {
    target: EventTarget,
    kind: &'static str,
    closure: Closure<dyn FnMut(Event)>,
}

impl Listener {
    /// Adds the listener.
    pub fn new(target: &EventTarget, kind: &'static str, on_event: impl FnMut(Event) + 'static) -> Self {
        let closure = Closure::<dyn FnMut(Event)>::new(on_event);
        let listener = Self { target: target.clone(), kind, closure };
        // Fails only for an object that is not an event target.
        _ = listener.target.add_event_listener_with_callback(kind, listener.closure.as_ref().unchecked_ref());
        listener
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let function = self.closure.as_ref().unchecked_ref();
        _ = self.target.remove_event_listener_with_callback(self.kind, function);
    }
}
