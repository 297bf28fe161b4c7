//! A page for a widget, and a network with the responses of a test.

use chat_protocol::Value;
use chat_widget::api::Handle;
use chat_widget::client::json;
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement, Window};

pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// Returns a token that names a person.
pub fn token_of(person: &str) -> String {
    let claims = window().btoa(&format!(r#"{{"sub":"{person}"}}"#)).expect("ASCII");
    ["x.", claims.trim_end_matches('='), ".x"].concat()
}

/// Waits for the next task. Effects run in microtasks before it.
pub async fn tick() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        window().set_timeout_with_callback(&resolve).expect("a timer");
    });
    JsFuture::from(promise).await.expect("resolves");
}

/// Replaces the page's `fetch` until it is dropped.
pub struct Network {
    real: JsValue,
    /// `[url, init]` of each call.
    calls: Array,
}

impl Network {
    /// Answers every call with this status, body and `Retry-After`.
    pub fn answers(status: u16, body: &str, retry_after: &str) -> Self {
        Self::answers_in_turn(&[(status, body, retry_after)])
    }

    /// Answers the calls in this order with a status, a body and `Retry-After`; the last response repeats.
    pub fn answers_in_turn(responses: &[(u16, &str, &str)]) -> Self {
        let given = Array::new();
        for (status, body, retry_after) in responses {
            given.push(&Array::of3(&(*status).into(), &(*body).into(), &(*retry_after).into()).into());
        }
        let source = "calls.push([url, init]);
            const [status, body, retryAfter] = given.length > 1 ? given.shift() : given[0];
            const headers = retryAfter ? { 'Retry-After': retryAfter } : {};
            return Promise.resolve(new Response(body, { status, headers }));";
        Self::patched(source, &[("given", given.into())])
    }

    /// Rejects every call with this value.
    pub fn rejects(thrown: &JsValue) -> Self {
        Self::patched("return Promise.reject(thrown);", &[("thrown", thrown.clone())])
    }

    /// Runs the body of a JavaScript function of `url` and `init` for every call.
    pub fn does(source: &str) -> Self {
        Self::patched(source, &[])
    }

    /// Never answers a call.
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

    /// Returns the address (`url`) or a member of the options of the last call; empty if it is missing.
    pub fn last(&self, what: &str) -> String {
        self.nth(self.count().wrapping_sub(1), what)
    }

    /// Returns the address (`url`) or a member of the options of the call with this index.
    pub fn nth(&self, index: u32, what: &str) -> String {
        let call: Array = self.calls.get(index).unchecked_into();
        if call.is_undefined() {
            return String::new();
        }
        let value = if what == "url" { call.get(0) } else { get(&call.get(1), what) };
        value.as_string().unwrap_or_default()
    }

    /// Returns a header of the last call; empty if it is missing.
    pub fn header(&self, name: &str) -> String {
        self.nth_header(self.count() - 1, name)
    }

    /// Returns a header of the call with this index; empty if it is missing.
    pub fn nth_header(&self, index: u32, name: &str) -> String {
        let call: Array = self.calls.get(index).unchecked_into();
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

/// Removes the jitter of retries until it is dropped, so that they follow at once.
pub struct NoJitter(JsValue);

impl NoJitter {
    pub fn new() -> Self {
        let math = get(&window(), "Math");
        let real = get(&math, "random");
        set(&math, "random", &Function::new_no_args("return 0"));
        Self(real)
    }
}

impl Drop for NoJitter {
    fn drop(&mut self) {
        set(&get(&window(), "Math"), "random", &self.0);
    }
}

/// Empties the storage of the page and of its tab.
pub fn clear_storage() {
    for storage in [window().local_storage(), window().session_storage()] {
        storage.expect("storage").expect("storage").clear().expect("cleared");
    }
}

/// A host element on an empty page with an empty storage.
pub struct Page {
    pub host: HtmlElement,
}

impl Page {
    pub fn new() -> Self {
        clear_storage();
        let document = window().document().expect("a document");
        let host: HtmlElement = document.create_element("div").expect("an element").unchecked_into();
        document.body().expect("a body").append_child(&host).expect("appended");
        Self { host }
    }

    pub fn mount(&self) -> Handle {
        let options = json::to_js(&Value::object([("proxy", "/connector".into())]));
        let handle =
            Handle::new(&options, &JsValue::UNDEFINED, &JsValue::UNDEFINED, Function::new_no_args(""));
        handle.show(&self.host, "").expect("rendered");
        handle
    }

    /// Returns the element of a part.
    pub fn find(&self, part: &str) -> Option<Element> {
        let root = self.host.shadow_root().expect("an open shadow root");
        root.query_selector(&format!("[part~={part}]")).expect("a valid selector")
    }

    pub fn attribute(&self, part: &str, name: &str) -> String {
        self.find(part).expect(part).get_attribute(name).unwrap_or_default()
    }

    /// Waits for a condition. The runner's timeout ends a test whose condition is never met.
    pub async fn until(&self, condition: impl Fn() -> bool) {
        while !condition() {
            tick().await;
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.host.remove();
    }
}
