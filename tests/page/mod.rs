//! A page for a widget, and a fake network.

use chat_protocol::Value;
use chat_widget::api::Handle;
use chat_widget::client::json;
use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement, Window};

pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// Waits until pending work has run: effects run in microtasks, browser events in the next task.
pub async fn tick() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        window().set_timeout_with_callback(&resolve).expect("a timer");
    });
    JsFuture::from(promise).await.expect("resolves");
}

/// Replaces the page's `fetch` until it is dropped.
pub struct Network {
    real: JsValue,
    /// The `[url, init]` of each call.
    calls: Array,
}

impl Network {
    /// Responds to every call with this status, body and `Retry-After`.
    pub fn answers(status: u16, body: &str, retry_after: &str) -> Self {
        let source =
            "calls.push([url, init]); return Promise.resolve(new Response(body, { status, headers }));";
        let headers = Object::new();
        if !retry_after.is_empty() {
            set(&headers, "Retry-After", &retry_after.into());
        }
        Self::patched(
            source,
            &[("body", body.into()), ("status", status.into()), ("headers", headers.into())],
        )
    }

    /// Rejects every call with this value.
    pub fn rejects(thrown: &JsValue) -> Self {
        Self::patched("return Promise.reject(thrown);", &[("thrown", thrown.clone())])
    }

    /// Runs this body of a JavaScript function of `url` and `init` on every call.
    pub fn does(source: &str) -> Self {
        Self::patched(source, &[])
    }

    /// Never responds to a call.
    pub fn hangs() -> Self {
        Self::patched("calls.push([url, init]); return new Promise(() => {});", &[])
    }

    fn patched(source: &str, given: &[(&str, JsValue)]) -> Self {
        let calls = Array::new();
        let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        let maker = Function::new_with_args(
            &format!("calls,{}", names.join(",")),
            &format!("return (url, init) => {{ {source} }};"),
        );
        let arguments = Array::of1(&calls);
        for (_, value) in given {
            arguments.push(value);
        }
        let fetch = maker.apply(&JsValue::UNDEFINED, &arguments).expect("a function");
        let real = Reflect::get(&window(), &"fetch".into()).expect("fetch");
        set(&window(), "fetch", &fetch);
        Self { real, calls }
    }

    pub fn count(&self) -> u32 {
        self.calls.length()
    }

    /// Returns the URL of the last call, or a member of its options; empty without one.
    pub fn last(&self, what: &str) -> String {
        let call: Array = self.calls.get(self.calls.length().wrapping_sub(1)).unchecked_into();
        if call.is_undefined() {
            return String::new();
        }
        let value = if what == "url" { call.get(0) } else { get(&call.get(1), what) };
        value.as_string().unwrap_or_default()
    }

    /// Returns a header of the last call; empty without it.
    pub fn header(&self, name: &str) -> String {
        let call: Array = self.calls.get(self.calls.length() - 1).unchecked_into();
        get(&get(&call.get(1), "headers"), name).as_string().unwrap_or_default()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        set(&window(), "fetch", &self.real);
    }
}

fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).expect("a property")
}

fn set(object: &JsValue, name: &str, value: &JsValue) {
    Reflect::set(object, &name.into(), value).expect("a property");
}

/// Appends a host element to an otherwise empty page, and clears the storage.
pub struct Page {
    pub host: HtmlElement,
}

impl Page {
    pub fn new() -> Self {
        window().local_storage().expect("storage").expect("storage").clear().expect("cleared");
        let document = window().document().expect("a document");
        let host: HtmlElement = document.create_element("div").expect("an element").unchecked_into();
        document.body().expect("a body").append_child(&host).expect("appended");
        Self { host }
    }

    pub fn mount(&self) -> Handle {
        let options = json::to_js(&Value::object([("proxy", "/connector".into())]));
        let handle = Handle::new(&options, &JsValue::UNDEFINED, Function::new_no_args(""));
        handle.show(&self.host, "").expect("rendered");
        handle
    }

    /// Returns the element of this part.
    pub fn find(&self, part: &str) -> Option<Element> {
        let root = self.host.shadow_root().expect("an open shadow root");
        root.query_selector(&format!("[part~={part}]")).expect("a valid selector")
    }

    pub fn attribute(&self, part: &str, name: &str) -> String {
        self.find(part).expect(part).get_attribute(name).unwrap_or_default()
    }

    /// Waits until a condition is met. The runner's timeout ends a wait in vain.
    pub async fn until(&self, so: impl Fn() -> bool) {
        while !so() {
            tick().await;
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.host.remove();
    }
}
