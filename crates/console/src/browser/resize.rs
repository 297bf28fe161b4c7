//! Changes of an element's size.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

/// Observes an element's size until it is dropped.
pub struct Observer(send_wrapper::SendWrapper<Inner>);

struct Inner {
    observer: Option<ResizeObserver>,
    _callback: Closure<dyn FnMut()>,
}

impl Observer {
    /// Calls a function when the size of an element has changed.
    pub fn new(element: &Element, callback: impl FnMut() + 'static) -> Self {
        let callback = Closure::<dyn FnMut()>::new(callback);
        let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok();
        if let Some(observer) = &observer {
            observer.observe(element);
        }
        Self(send_wrapper::SendWrapper::new(Inner { observer, _callback: callback }))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(observer) = &self.0.observer {
            observer.disconnect();
        }
    }
}
