//! `BrowserWidgetClient`: the five paths of the site's proxy (4.13), and nothing else.

pub mod json;

use std::cell::Cell;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use chat_protocol::{
    ChatConfig, ConversationId, Endpoint, EventBatch, FieldError, History, IdempotencyKey, MessageId, Method,
    Presence, SendMessage, SendResult, ServiceError, Tracking, Value, VisitorEvent, open_envelope,
};
use chat_session::{Answer, Request};
use gloo_timers::callback::Timeout;
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal, Headers, Response};

use crate::browser::dictionary::Dictionary;
use crate::browser::{self, page};

/// How long a typed call waits for its answer. Milliseconds.
const TIMEOUT_MS: u32 = 30_000;

/// Why a call of the client came to nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientError {
    /// The service said so, or answered with something that cannot be used.
    Service(ServiceError),
    /// No connection to the proxy, or it broke.
    Network,
    /// The proxy did not answer in time.
    TimedOut,
}

impl Display for ClientError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(error) => error.fmt(out),
            Self::Network => out.write_str("no connection to the proxy"),
            Self::TimedOut => out.write_str("the proxy did not answer in time"),
        }
    }
}

impl std::error::Error for ClientError {}

/// Talks to the proxy on the customer's site. It never holds a token and never calls anything but the proxy's paths.
///
/// Each call waits 30 seconds for its answer, and is made once: who retries, repeats body and key to the byte.
///
/// ```
/// use chat_widget::{BrowserWidgetClient, ClientError};
///
/// async fn is_open(client: &BrowserWidgetClient) -> Result<bool, ClientError> {
///     Ok(client.get_chat_config(Some("en-US")).await?.shows_widget())
/// }
///
/// let client = BrowserWidgetClient::new("/connector");
/// ```
///
/// # Errors
/// All calls: [`ClientError::Service`] when the service refused, or gave an answer that cannot be used;
/// [`ClientError::Network`] and [`ClientError::TimedOut`] when there was none.
#[derive(Clone, Debug)]
pub struct BrowserWidgetClient {
    proxy: Rc<str>,
}

impl BrowserWidgetClient {
    /// A client of the proxy under this prefix, such as `/connector`. It is of the page's own origin, whatever the page's
    /// `<base>` says, unless it is written in full: `https://api.example/connector`.
    pub fn new(proxy: &str) -> Self {
        Self { proxy: proxy.trim_end_matches('/').into() }
    }

    /// `GET /chat/config` (4.4).
    pub async fn get_chat_config(&self, locale: Option<&str>) -> Result<ChatConfig, ClientError> {
        let query = locale.map(|locale| ("locale", locale.to_owned())).into_iter().collect();
        self.call(Endpoint::Config, query, None).await
    }

    /// `POST /chat/messages` (4.5). A retry must repeat both arguments.
    pub async fn send_message(
        &self,
        body: &SendMessage,
        key: &IdempotencyKey,
    ) -> Result<SendResult, ClientError> {
        self.call(Endpoint::Send, Vec::new(), Some((Value::from(body).to_json(), key.clone()))).await
    }

    /// `GET /chat/messages` (4.6).
    pub async fn list_messages(
        &self,
        conversation: &ConversationId,
        after: Option<&MessageId>,
    ) -> Result<History, ClientError> {
        let mut query = vec![("conversationId", conversation.as_str().to_owned())];
        query.extend(after.map(|id| ("after", id.as_str().to_owned())));
        self.call(Endpoint::Messages, query, None).await
    }

    /// `GET /chat/presence` (4.7).
    pub async fn get_presence(&self, conversation: &ConversationId) -> Result<Presence, ClientError> {
        self.call(Endpoint::Presence, vec![("conversationId", conversation.as_str().to_owned())], None).await
    }

    /// `POST /events` (4.8), of 1 to 50 events. A retry must repeat both arguments.
    pub async fn track(
        &self,
        events: &[VisitorEvent],
        key: &IdempotencyKey,
    ) -> Result<Tracking, ClientError> {
        let body = Value::object([("events", events.iter().collect())]);
        EventBatch::try_from(body.clone()).map_err(|unusable| ClientError::Service(unusable.into()))?;
        self.call(Endpoint::Events, Vec::new(), Some((body.to_json(), key.clone()))).await
    }

    async fn call<T: TryFrom<Value, Error = FieldError>>(
        &self,
        endpoint: Endpoint,
        query: Vec<(&'static str, String)>,
        body: Option<(String, IdempotencyKey)>,
    ) -> Result<T, ClientError> {
        let (body, key) = body.unzip();
        let call =
            Call { endpoint, query: &query, body: body.as_deref(), key: key.as_ref(), keepalive: false };
        let abort = AbortController::new().map_err(|_| ClientError::Network)?;
        let timed_out = Rc::new(Cell::new(false));
        let timer = Timeout::new(TIMEOUT_MS, {
            let (timed_out, abort) = (timed_out.clone(), abort.clone());
            move || {
                timed_out.set(true);
                abort.abort();
            }
        });
        let answer = call.fetch(&page::absolute(&self.proxy), &abort.signal()).await;
        timer.cancel();
        let failure = || if timed_out.get() { ClientError::TimedOut } else { ClientError::Network };
        let answer = answer.map_err(|_| failure())?;
        let data = open_envelope(answer.status, answer.body).map_err(ClientError::Service)?;
        T::try_from(data).map_err(|unusable| ClientError::Service(unusable.into()))
    }

    /// Carries out a session's request: the answer with whatever status, or nothing when there is none. The session
    /// aborts it when its time is over.
    pub(crate) async fn exchange(&self, request: &Request, signal: &AbortSignal) -> Option<Answer> {
        let call = Call {
            endpoint: request.endpoint,
            query: &request.query,
            body: request.body.as_deref(),
            key: request.key.as_ref(),
            keepalive: request.keepalive,
        };
        call.fetch(&self.proxy, signal).await.ok()
    }
}

struct Call<'a> {
    endpoint: Endpoint,
    query: &'a [(&'static str, String)],
    body: Option<&'a str>,
    key: Option<&'a IdempotencyKey>,
    keepalive: bool,
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

    fn init(&self, signal: &AbortSignal) -> Dictionary {
        let headers = Dictionary::new();
        headers.set("Accept", "application/json");
        if let Some(key) = self.key {
            headers.set("Idempotency-Key", key.as_str());
        }
        let init = Dictionary::new();
        if let Some(body) = self.body {
            headers.set("Content-Type", "application/json");
            init.set("body", body);
        }
        init.set("cache", "no-store");
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

    /// Calls the page's `fetch`, which another script may have replaced. One that throws, that gives no promise or no
    /// response, or whose response throws, is a failed request like any other.
    async fn fetch(&self, proxy: &str, signal: &AbortSignal) -> Result<Answer, JsValue> {
        let window = browser::window();
        let fetch: Function = Reflect::get(&window, &"fetch".into())?.unchecked_into();
        let response = fetch.call2(&window, &self.url(proxy).into(), &self.init(signal))?;
        let response: Response = settled(&response).await?.unchecked_into();
        let status = Reflect::get(&response, &"status".into())?.as_f64().ok_or(JsValue::UNDEFINED)?;
        let headers: Headers = Reflect::get(&response, &"headers".into())?.unchecked_into();
        let retry_after = headers.get("Retry-After")?;
        let text = settled(&response.text()?.into()).await?;
        Ok(Answer {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates"
            )]
            status: status as u16,
            retry_after_ms: retry_after.and_then(|text| retry_after_ms(&text)),
            body: text.as_string().map(|text| json::parse(&text)).unwrap_or_default(),
        })
    }
}

/// The value that a promise is fulfilled with, or the value itself where it is no promise. `Promise.all` catches what
/// `then` of a promise throws, which a promise of the page's own may have.
async fn settled(value: &JsValue) -> Result<JsValue, JsValue> {
    let settled = JsFuture::from(Promise::all(&Array::of2(value, &JsValue::UNDEFINED))).await?;
    Reflect::get_u32(&settled, 0)
}

/// `Retry-After`, a number of seconds or an HTTP date, as milliseconds from now. A number below zero is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, as meant")]
fn retry_after_ms(text: &str) -> Option<u64> {
    let wait_ms = match json::parse(text) {
        #[expect(clippy::cast_precision_loss, reason = "a wait that long is bounded")]
        Value::Integer(seconds) => seconds as f64 * 1000.0,
        Value::Number(seconds) => seconds * 1000.0,
        _ => match js_sys::Date::parse(text) - js_sys::Date::now() {
            ..0.0 => 0.0,
            wait_ms => wait_ms,
        },
    };
    (wait_ms >= 0.0).then_some(wait_ms as u64)
}
