//! One attempt of a request, through the page's `fetch`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use chat_protocol::{Endpoint, IdempotencyKey, Method, VISITOR_TOKEN, Value};
use chat_session::{Answer, Request};
use gloo_timers::callback::Timeout;
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortController, AbortSignal, Headers, Response};

use super::json;
use super::promise::settled;
use super::proof::{Proof, Prover};
use crate::browser;
use crate::browser::dictionary::Dictionary;

/// Sends requests to the proxy under one prefix.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    proxy: Rc<str>,
    prover: Prover,
}

impl Transport {
    /// Creates a transport to a prefix; a slash at its end is ignored.
    pub(crate) fn new(proxy: &str) -> Self {
        Self { proxy: proxy.trim_end_matches('/').into(), prover: Prover::default() }
    }

    /// Returns the source of the visitor's proof.
    pub(crate) fn prover(&self) -> &Prover {
        &self.prover
    }

    /// Returns the prefix.
    pub(crate) fn proxy(&self) -> &str {
        &self.proxy
    }

    /// Sends a request of the session. Returns the reply, with any status, or `None` if there is none. The
    /// session aborts the request when it takes too long. `reload` bypasses the caches of a request for the
    /// config.
    pub(crate) async fn exchange(
        &self,
        request: &Request,
        signal: &AbortSignal,
        reload: bool,
    ) -> Option<Reply> {
        let call = Call {
            endpoint: request.endpoint,
            query: &request.query,
            body: request.body.as_deref(),
            key: request.key.as_ref(),
            keepalive: request.keepalive,
            reload,
        };
        self.fetch(&call, &self.proxy, signal, request.is_unproved).await.ok()
    }

    /// Makes a call with the visitor's proof. After the service has refused it, the same call is repeated
    /// with another proof, and then without one: the body is the same, and its key is not bound to the proof.
    pub(super) async fn fetch(
        &self,
        call: &Call<'_>,
        proxy: &str,
        signal: &AbortSignal,
        is_unproved: bool,
    ) -> Result<Reply, JsValue> {
        let mut proof = Proof::Nobody;
        // The config is the same for everybody, and cached.
        if self.prover.is_set() && !is_unproved && call.endpoint != Endpoint::Config {
            proof = self.prover.proof().await;
        }
        let mut is_repeated = false;
        loop {
            // The proof may be that of another person, for whom the session makes other requests.
            if signal.aborted() {
                return Err(JsValue::UNDEFINED);
            }
            let token = match &proof {
                Proof::Token(token) => token,
                Proof::Nobody | Proof::Unavailable => "",
            };
            let reply = call.fetch(proxy, signal, token).await?;
            if token.is_empty() || !reply.refuses_token() {
                return Ok(reply);
            }
            proof = self.prover.renew(token, is_repeated).await;
            is_repeated = true;
        }
    }
}

/// The code of a response to a token that is invalid or has expired.
const INVALID_TOKEN: &str = "INVALID_VISITOR_TOKEN";

/// A response, with its body as the browser has it.
pub(crate) struct Reply {
    status: u16,
    retry_after_ms: Option<u64>,
    /// The parsed body; null if it is not JSON.
    pub(crate) body: JsValue,
}

impl Reply {
    /// Returns whether the service refuses the visitor's token.
    fn refuses_token(&self) -> bool {
        let member = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).unwrap_or_default();
        self.status == 401 && member(&member(&self.body, "error"), "code") == INVALID_TOKEN
    }

    /// Removes the messages of a history.
    pub(crate) fn remove_messages(&self) {
        let data = Reflect::get(&self.body, &"data".into()).unwrap_or_default();
        // Fails for a body that is no history.
        _ = Reflect::set(&data, &"messages".into(), &Array::new());
    }

    /// Returns the response without its body.
    pub(crate) fn head(&self) -> Answer {
        Answer { status: self.status, retry_after_ms: self.retry_after_ms, ..Answer::default() }
    }

    /// Returns the whole response.
    pub(crate) fn answer(&self) -> Answer {
        Answer { body: json::from_js(&self.body), ..self.head() }
    }
}

/// The timeout of an attempt. Dropping it cancels the timer.
pub(super) struct Limit {
    abort: AbortController,
    is_over: Rc<Cell<bool>>,
    _timer: Timeout,
}

impl Limit {
    /// Starts the timeout. Returns `None` in a browser without `AbortController`.
    pub(super) fn new(timeout: Duration) -> Option<Self> {
        let abort = AbortController::new().ok()?;
        let is_over = Rc::new(Cell::new(false));
        // Browsers read a longer time as none.
        let ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).min(i32::MAX as u32);
        let timer = Timeout::new(ms, {
            let (is_over, abort) = (is_over.clone(), abort.clone());
            move || {
                is_over.set(true);
                abort.abort();
            }
        });
        Some(Self { abort, is_over, _timer: timer })
    }

    /// Returns the signal that aborts the attempt.
    pub(super) fn signal(&self) -> AbortSignal {
        self.abort.signal()
    }

    /// Returns whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }
}

/// One attempt of a request.
pub(super) struct Call<'a> {
    pub(super) endpoint: Endpoint,
    pub(super) query: &'a [(&'static str, String)],
    pub(super) body: Option<&'a str>,
    pub(super) key: Option<&'a IdempotencyKey>,
    pub(super) keepalive: bool,
    /// Bypasses the caches of the browser and the proxy, which may serve a config that is a minute old.
    pub(super) reload: bool,
}

impl Call<'_> {
    fn url(&self, proxy: &str) -> String {
        let path = self.endpoint.path();
        let mut url = [proxy, path].concat();
        let mut before = "?";
        for (name, value) in self.query {
            let value: String = js_sys::encode_uri_component(value).into();
            url = [&url, before, name, "=", &value].concat();
            before = "&";
        }
        url
    }

    fn init(&self, signal: &AbortSignal, token: &str) -> Dictionary {
        let headers = Dictionary::new();
        headers.set("Accept", "application/json");
        if !token.is_empty() {
            headers.set(VISITOR_TOKEN, token);
        }
        if let Some(key) = self.key {
            headers.set("Idempotency-Key", key.as_str());
        }
        let init = Dictionary::new();
        if let Some(body) = self.body {
            headers.set("Content-Type", "application/json");
            init.set("body", body);
        }
        if self.reload || self.endpoint != Endpoint::Config {
            init.set("cache", "no-store");
        }
        let method = match self.endpoint.method() {
            Method::Get => "GET",
            Method::Post => "POST",
        };
        init.set("method", method);
        init.set_value("headers", &headers);
        init.set_value("signal", signal);
        init.set_value("keepalive", &self.keepalive.into());
        init
    }

    /// Calls the page's `fetch`, which another script may have replaced. A `fetch` that throws or returns
    /// neither a promise nor a response, and a response that throws, are failed requests like any other.
    async fn fetch(&self, proxy: &str, signal: &AbortSignal, token: &str) -> Result<Reply, JsValue> {
        let window = browser::window();
        let fetch: Function = Reflect::get(&window, &"fetch".into())?.unchecked_into();
        let response = fetch.call2(&window, &self.url(proxy).into(), &self.init(signal, token))?;
        let response: Response = settled(&response).await?.unchecked_into();
        let status = Reflect::get(&response, &"status".into())?.as_f64().ok_or(JsValue::UNDEFINED)?;
        let headers: Headers = Reflect::get(&response, &"headers".into())?.unchecked_into();
        let retry_after = headers.get("Retry-After")?;
        let text = settled(&response.text()?.into()).await?;
        Ok(Reply {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates"
            )]
            status: status as u16,
            retry_after_ms: retry_after.and_then(|text| retry_after_ms(&text)),
            body: json::parse_js(&text),
        })
    }
}

/// Returns `Retry-After`, a number of seconds or an HTTP date, in milliseconds from now; `None` for a
/// negative number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn retry_after_ms(text: &str) -> Option<u64> {
    let wait_ms = match json::parse(text) {
        #[expect(clippy::cast_precision_loss, reason = "so long a wait is limited by the caller")]
        Value::Integer(seconds) => seconds as f64 * 1000.0,
        Value::Number(seconds) => seconds * 1000.0,
        _ => match js_sys::Date::parse(text) - js_sys::Date::now() {
            ..0.0 => 0.0,
            wait_ms => wait_ms,
        },
    };
    (wait_ms >= 0.0).then_some(wait_ms as u64)
}
