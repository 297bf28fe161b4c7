//! `BrowserWidgetClient`: the five requests of the site's proxy (4.13), for applications with a chat window
//! of their own. It shares visitor and conversation with the widget on the same site, and behaves as
//! `www/client.ts` does.

mod error;
mod identity;
pub mod json;
mod promise;
mod proof;
mod queue;
mod retry;
pub(crate) mod transport;

pub use error::{ClientError, ErrorKind};
pub use proof::VisitorToken;
pub(crate) use proof::{Proof, Source};

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_protocol::{
    ChatConfig, ConversationId, Endpoint, EventBatch, FieldError, History, IdempotencyKey, MessageId,
    Presence, SendMessage, SendResult, Tracking, Value, VisitorEvent, VisitorId, VisitorProfile,
    is_language_tag, limits, open_envelope,
};

use crate::browser::page;
use identity::Identity;
use queue::Queue;
use transport::{Call, Limit, Transport};

/// Default timeout of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Default maximum number of retries.
const MAX_RETRIES: u32 = 3;
/// Maximum UTF-16 units of a body that outlives its page: browsers allow 64 KiB, and a unit has up to three
/// bytes.
const MAX_KEEPALIVE_LENGTH: usize = 20_000;
/// `channel` of events.
const CHANNEL: &str = "webchat";
/// The event that does not belong to a conversation.
const PAGE_VIEW: &str = "page_view";

/// Sends the requests of a chat to the proxy on the customer's site. It never holds the site's token, and
/// calls the proxy's paths only.
///
/// A request that fails for a transient reason is repeated, with the same body and idempotency key, after a
/// back-off with jitter or after `Retry-After`. Visitor and conversation are kept in `localStorage`, or in
/// memory where it is blocked. Clones share both.
///
/// ```
/// use chat_widget::{BrowserWidgetClient, ClientError, SendOptions};
///
/// async fn ask(client: &BrowserWidgetClient) -> Result<Option<String>, ClientError> {
///     let result = client.send_message("How long does delivery take?", SendOptions::default()).await?;
///     Ok(result.message.map(|reply| reply.content))
/// }
///
/// let client = BrowserWidgetClient::new("/connector");
/// ```
///
/// # Errors
/// Every call returns [`ClientError`] if the last attempt failed.
#[derive(Clone, Debug)]
pub struct BrowserWidgetClient {
    transport: Transport,
    identity: Rc<Identity>,
    timeout: Duration,
    max_retries: u32,
    queue: Rc<Queue>,
    /// The bodies of messages without a final response, by their idempotency keys.
    bodies: Rc<RefCell<Vec<(IdempotencyKey, String)>>>,
}

/// Options of a message. The default suits most messages.
#[derive(Clone, Debug, Default)]
pub struct SendOptions {
    /// Language of the message, BCP 47.
    pub locale: Option<String>,
    /// Path of the page; the current one if `None`.
    pub source_page: Option<String>,
    /// Profile of the visitor. The client sets `visitor_id`.
    pub visitor: VisitorProfile,
    /// [`ClientError::idempotency_key`] of a failed call: repeats that message with the same body.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl BrowserWidgetClient {
    /// Creates a client of the proxy under a prefix such as `/connector`. It belongs to the page's own
    /// origin, whatever the page's `<base>` says; a proxy on another origin needs the full address,
    /// `https://api.example/connector`.
    pub fn new(proxy: &str) -> Self {
        Self {
            transport: Transport::new(proxy),
            identity: Rc::default(),
            timeout: ATTEMPT_TIMEOUT,
            max_retries: MAX_RETRIES,
            queue: Rc::default(),
            bodies: Rc::default(),
        }
    }

    /// Sets the site's own identifier of the visitor. Each has a separate conversation.
    #[must_use]
    pub fn with_customer_id(mut self, customer_id: &str) -> Self {
        self.identity = Rc::new(Identity::of_customer(customer_id));
        self.follow_person();
        self
    }

    /// Sets the token by which the site proves who the visitor is. Without it, the visitor is unverified,
    /// unless the proxy signs a token.
    #[must_use]
    pub fn with_visitor_token(self, token: VisitorToken) -> Self {
        self.transport.prover().set(Some(Source::Token(token)));
        self.follow_person();
        self
    }

    fn follow_person(&self) {
        let identity = self.identity.clone();
        self.transport.prover().on_person(Box::new(move |person| identity.set_person(person)));
    }

    /// Sets the timeout of one attempt; 30 seconds by default.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of retries of a call; 3 by default.
    #[must_use]
    pub fn with_max_retries(mut self, max_retries: u32) -> Self {
        self.max_retries = max_retries;
        self
    }

    /// Returns the visitor's stable id, which the widget uses as well. Creates one on first use.
    pub fn visitor_id(&self) -> VisitorId {
        self.identity.visitor_id()
    }

    /// Returns the conversation, once there is one.
    pub fn conversation_id(&self) -> Option<ConversationId> {
        self.identity.conversation_id()
    }

    /// Returns the site's chat config (4.4). An invalid locale is left out.
    pub async fn get_chat_config(&self, locale: Option<&str>) -> Result<ChatConfig, ClientError> {
        let query = language_tag(locale).map(|locale| ("locale", locale)).into_iter().collect();
        self.get(Endpoint::Config, query).await
    }

    /// Sends a message of 1 to 4,000 characters (4.5) and returns the response, with the reply if there is
    /// one already.
    ///
    /// Messages are sent one after the other, so that the second belongs to the conversation of the first. To
    /// repeat a message whose last retry failed, pass the error's `idempotency_key` to this client: the
    /// service accepts the message once, whatever happened to the earlier attempts.
    pub async fn send_message(&self, text: &str, options: SendOptions) -> Result<SendResult, ClientError> {
        let _turn = self.queue.wait().await;
        // The conversation is that of the person whom it names.
        self.transport.prover().proof().await;
        let SendOptions { locale, source_page, mut visitor, idempotency_key } = options;
        let visitor_id = self.visitor_id();
        let key = idempotency_key.unwrap_or_else(|| identity::new_key("chat", &visitor_id));
        visitor.visitor_id = Some(visitor_id.clone());
        let body = self.body(&key).unwrap_or_else(|| {
            let message = SendMessage {
                conversation_id: self.conversation_id(),
                message: text.to_owned(),
                locale: language_tag(locale.as_deref()),
                source_page: source_page.or_else(|| Some(page::current().path)),
                visitor,
            };
            let body = Value::from(&message).to_json();
            self.bodies.borrow_mut().push((key.clone(), body.clone()));
            body
        });
        let sent = self.post(Endpoint::Send, &body, &key, false).await;
        if sent.as_ref().err().is_none_or(|error: &ClientError| !error.is_transient()) {
            self.bodies.borrow_mut().retain(|(sent, _)| *sent != key);
        }
        let result: SendResult = sent?;
        self.identity.set_conversation(&visitor_id, &result.conversation_id);
        Ok(result)
    }

    /// Returns the messages of the conversation (4.6), or those after one of them. Without a conversation in
    /// this browser, a visitor with a token continues the one of another device; for others it sends no
    /// request.
    pub async fn list_messages(&self, after: Option<&MessageId>) -> Result<History, ClientError> {
        let proof = self.transport.prover().proof().await;
        let conversation = self.conversation_id();
        if conversation.is_none() && !matches!(proof, Proof::Token(_)) {
            return Ok(History {
                conversation_id: None,
                messages: Vec::new(),
                next_after: None,
                operator_typing: None,
            });
        }
        let mut query = Vec::new();
        query.extend(conversation.map(|id| ("conversationId", id.as_str().to_owned())));
        query.extend(after.map(|id| ("after", id.as_str().to_owned())));
        let history: History = self.get(Endpoint::Messages, query).await?;
        if let Some(id) = history.conversation_id.as_ref().filter(|id| !id.as_str().is_empty()) {
            self.identity.set_conversation(&self.visitor_id(), id);
        }
        Ok(history)
    }

    /// Returns whether an operator is online, and the suggested polling intervals (4.7).
    pub async fn get_presence(&self) -> Result<Presence, ClientError> {
        // The conversation is that of the person whom the proof names.
        _ = self.transport.prover().proof().await;
        let query = self.conversation_id().map(|id| ("conversationId", id.as_str().to_owned()));
        self.get(Endpoint::Presence, query.into_iter().collect()).await
    }

    /// Reports an action of the visitor (4.8), with an object of data or [`Value::Null`].
    pub async fn track(
        &self,
        event_type: impl Into<String>,
        event_data: Value,
    ) -> Result<Tracking, ClientError> {
        self.track_batch(vec![VisitorEvent {
            event_type: event_type.into(),
            visitor_id: None,
            customer_id: None,
            channel: None,
            path: None,
            url: None,
            title: None,
            referrer: None,
            event_data,
            created_at: None,
        }])
        .await
    }

    /// Reports any number of events (4.8), at most 50 in a request. Fields that are `None` get the visitor,
    /// the page and the time. Every event but `page_view` gets the conversation.
    pub async fn track_batch(&self, events: Vec<VisitorEvent>) -> Result<Tracking, ClientError> {
        _ = self.transport.prover().proof().await;
        let visitor_id = self.visitor_id();
        let mut total = Tracking { accepted: 0, rejected: 0, enabled: true };
        let events: Vec<Value> =
            events.into_iter().map(|event| Value::from(&self.completed(event, &visitor_id))).collect();
        for batch in events.chunks(*limits::EVENTS.end()) {
            let body = Value::object([("events", Value::List(batch.to_vec()))]);
            let refused = EventBatch::try_from(body.clone()).map(|batch| batch.refused.into_iter().next());
            if let Some(invalid) = refused.unwrap_or_else(Some) {
                return Err(ClientError::of(ErrorKind::InvalidEvent(invalid)));
            }
            let key = identity::new_key("events", &visitor_id);
            let body = body.to_json();
            let keepalive = body.encode_utf16().count() < MAX_KEEPALIVE_LENGTH;
            let tracked: Tracking = self.post(Endpoint::Events, &body, &key, keepalive).await?;
            total.accepted += tracked.accepted;
            total.rejected += tracked.rejected;
            total.enabled = tracked.enabled;
        }
        Ok(total)
    }

    /// Returns an event with the fields that its caller left out.
    fn completed(&self, event: VisitorEvent, visitor_id: &VisitorId) -> VisitorEvent {
        let page = page::current();
        let event_data = match (self.conversation_id(), event.event_data) {
            (Some(id), data) if event.event_type != PAGE_VIEW => with_conversation(&id, data),
            (_, data) => data,
        };
        VisitorEvent {
            event_type: event.event_type,
            visitor_id: event.visitor_id.or_else(|| Some(visitor_id.clone())),
            customer_id: event.customer_id.or_else(|| self.identity.customer_id()),
            channel: event.channel.or_else(|| Some(CHANNEL.to_owned())),
            path: event.path.or(Some(page.path)),
            url: event.url.or(Some(page.url)),
            title: event.title.or(Some(page.title)),
            referrer: event.referrer.or_else(|| Some(page.referrer).filter(|referrer| !referrer.is_empty())),
            event_data,
            created_at: event.created_at.or(Some(page.now_iso)),
        }
    }

    /// Returns the body that was sent with a key.
    fn body(&self, key: &IdempotencyKey) -> Option<String> {
        self.bodies.borrow().iter().find(|(sent, _)| sent == key).map(|(_, body)| body.clone())
    }

    async fn get<T: TryFrom<Value, Error = FieldError>>(
        &self,
        endpoint: Endpoint,
        query: Vec<(&'static str, String)>,
    ) -> Result<T, ClientError> {
        self.call(&Call { endpoint, query: &query, body: None, key: None, keepalive: false, reload: false })
            .await
    }

    async fn post<T: TryFrom<Value, Error = FieldError>>(
        &self,
        endpoint: Endpoint,
        body: &str,
        key: &IdempotencyKey,
        keepalive: bool,
    ) -> Result<T, ClientError> {
        let call = Call { endpoint, query: &[], body: Some(body), key: Some(key), keepalive, reload: false };
        self.call(&call).await
    }

    /// Sends a request, and repeats it after a transient error.
    async fn call<T: TryFrom<Value, Error = FieldError>>(&self, call: &Call<'_>) -> Result<T, ClientError> {
        let mut failures = 0;
        loop {
            match self.attempt(call).await {
                Err(error) if error.is_transient() && failures < self.max_retries => {
                    failures += 1;
                    retry::wait(failures, error.retry_after).await;
                }
                Err(error) => return Err(ClientError { idempotency_key: call.key.cloned(), ..error }),
                done => return done,
            }
        }
    }

    async fn attempt<T: TryFrom<Value, Error = FieldError>>(
        &self,
        call: &Call<'_>,
    ) -> Result<T, ClientError> {
        let limit = Limit::new(self.timeout).ok_or(ErrorKind::Network)?;
        let proxy = page::absolute(self.transport.proxy());
        let answer = self.transport.fetch(call, &proxy, &limit.signal(), false).await;
        let Ok(answer) = answer else {
            return Err(if limit.is_over() { ErrorKind::Timeout } else { ErrorKind::Network }.into());
        };
        let answer = answer.answer();
        let retry_after = answer.retry_after_ms.map(Duration::from_millis);
        let failed = |error| ClientError { retry_after, ..ErrorKind::Service(error).into() };
        let data = open_envelope(answer.status, answer.body).map_err(failed)?;
        T::try_from(data).map_err(|unusable| failed(unusable.into()))
    }
}

/// Returns a locale that the service accepts. Java writes `_` in place of `-`.
fn language_tag(locale: Option<&str>) -> Option<String> {
    locale.map(|locale| locale.replace('_', "-")).filter(|tag| is_language_tag(tag))
}

/// Returns the data of an event with its conversation, unless it names one itself.
fn with_conversation(id: &ConversationId, data: Value) -> Value {
    let mut members = match data {
        Value::Object(members) => members,
        Value::Null => Vec::new(),
        // An invalid event, which the check of the batch reports.
        other => return other,
    };
    if members.iter().all(|(name, _)| name != "conversationId") {
        members.insert(0, ("conversationId".to_owned(), id.into()));
    }
    Value::Object(members)
}
