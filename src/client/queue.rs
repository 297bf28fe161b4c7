//! Turns of calls that must not overlap.

use std::cell::RefCell;

use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Gives turns in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Queue(RefCell<Option<Promise>>);

/// A turn, which ends when it is dropped.
pub(super) struct Turn {
    previous: JsValue,
    end: Option<Function>,
}

impl Queue {
    /// Waits until the turns before have ended.
    pub(super) async fn wait(&self) -> Turn {
        let mut end = None;
        let next = Promise::new(&mut |resolve, _| end = Some(resolve));
        let previous = self.0.borrow_mut().replace(next);
        let turn = Turn { previous: previous.clone().into(), end };
        if let Some(previous) = previous {
            // It never rejects.
            _ = JsFuture::from(previous).await;
        }
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(end) = &self.end {
            // A turn that was given up while it waited ends with the previous one.
            _ = end.call1(&JsValue::UNDEFINED, &self.previous);
        }
    }
}
