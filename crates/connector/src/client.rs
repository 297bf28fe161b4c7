//! A client of the connector API for the site's own server: every call of the contract, authenticated by the
//! site token.
//!
//! ```no_run
//! # async fn run() -> Result<(), chat_connector::client::ConnectorError> {
//! use chat_connector::client::{ClientOptions, ServerConnectorClient};
//!
//! let token = std::env::var("SITE_TOKEN").unwrap_or_default().into();
//! let client = ServerConnectorClient::new(ClientOptions::new("https://service.example"), &token)?;
//! println!("{:?}", client.get_site_status().await?.site_name);
//! # Ok(())
//! # }
//! ```

mod back_off;
mod error;
mod exchange;
mod keys;
mod options;
mod sync;
mod sync_record;

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use chat_protocol::{
    Activated, Activation, ChatConfig, Claim, Completion, ContentPage, ConversationId, Endpoint, EventBatch,
    History, Job, JobId, OverlayList, Presence, SendMessage, SendResult, ServerEndpoint, SiteStatus,
    SyncReceipt, Tracking, Value, VisitorEvent, limits,
};
use secrecy::SecretString;
use tokio::sync::OnceCell;
use uuid::Uuid;

pub use back_off::BackOff;
pub use error::{ConnectorError, ErrorKind};
pub use options::ClientOptions;
pub use sync::{SyncProgress, SyncRun, SyncStopped};
pub use sync_record::{ItemName, SyncPlan, SyncRecord, SyncRecordError, TooManyRemovals};

use exchange::{Call, Exchange};

/// The result of an activation. Keep it on the server (5). `Debug` redacts the token.
#[derive(Clone, Debug)]
pub struct ActivatedSite {
    /// The site token.
    pub token: SecretString,
    /// `siteId`, if the service returned one.
    pub site_id: Option<String>,
    /// `tenantId`, if the service returned one.
    pub tenant_id: Option<String>,
}

/// The filter of an overlay list (4.10).
#[derive(Clone, Debug, Default)]
pub struct OverlayQuery {
    /// The path of a page; `None` lists all pages.
    pub path: Option<String>,
    /// A locale; `None` lists all locales.
    pub locale: Option<String>,
}

/// A client of the connector API that holds the site token.
///
/// A call with a transient failure is retried after a random, growing delay, or after the time that
/// `Retry-After` names. A call that changes something carries an idempotency key, the same in each attempt,
/// so that it is executed once. Clones share connections.
#[derive(Clone)]
pub struct ServerConnectorClient {
    exchange: Arc<Exchange>,
    site_id: Arc<OnceCell<String>>,
}

impl Debug for ServerConnectorClient {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("ServerConnectorClient").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

impl ServerConnectorClient {
    /// Creates a client. Fails if the origin or the token is invalid, or if the system's certificates cannot
    /// be loaded.
    pub fn new(options: ClientOptions, token: &SecretString) -> Result<Self, ConnectorError> {
        let exchange = Exchange::new(&options, Some(token))?;
        Ok(Self { exchange: Arc::new(exchange), site_id: Arc::new(OnceCell::new_with(options.site_id)) })
    }

    /// Exchanges a license code for the site token (4.2). The only call without a token.
    pub async fn activate(
        options: &ClientOptions,
        body: &Activation,
    ) -> Result<ActivatedSite, ConnectorError> {
        let exchange = Exchange::new(options, None)?;
        let key = keys::random_key("activate")?;
        let call = Call::server(ServerEndpoint::Activate).keyed(key).body(&Value::from(body));
        let activated: Activated = exchange.call(call).await?;
        Ok(ActivatedSite {
            token: activated.site_token.into_exposed().into(),
            site_id: activated.site_id,
            tenant_id: activated.tenant_id,
        })
    }

    /// Returns the site's status (4.3).
    pub async fn get_site_status(&self) -> Result<SiteStatus, ConnectorError> {
        self.exchange.call(Call::server(ServerEndpoint::SiteStatus)).await
    }

    /// Returns the chat's config for a locale (4.4).
    pub async fn get_chat_config(&self, locale: Option<&str>) -> Result<ChatConfig, ConnectorError> {
        self.exchange.call(Call::chat(Endpoint::Config).query("locale", locale)).await
    }

    /// Sends a visitor's message and returns the reply (4.5). Each call has a new key: two calls are two
    /// messages.
    pub async fn send_message(&self, body: &SendMessage) -> Result<SendResult, ConnectorError> {
        self.send_message_as(body, &Uuid::new_v4().simple().to_string()).await
    }

    /// Sends a visitor's message under a name that the caller chooses, so that an interrupted call can be
    /// repeated: the same visitor, name and body are the same message for as long as the service stores keys.
    pub async fn send_message_as(
        &self,
        body: &SendMessage,
        message_id: &str,
    ) -> Result<SendResult, ConnectorError> {
        let visitor = body.visitor.visitor_id.as_ref().map_or("anonymous", |id| id.as_str());
        let key = keys::chat(visitor, message_id)?;
        self.exchange.call(Call::chat(Endpoint::Send).keyed(key).body(&Value::from(body))).await
    }

    /// Returns the messages of a conversation, or those after `after` (4.6).
    pub async fn list_messages(
        &self,
        conversation: &ConversationId,
        after: Option<&str>,
    ) -> Result<History, ConnectorError> {
        let call = Call::chat(Endpoint::Messages).query("conversationId", Some(conversation.as_str()));
        self.exchange.call(call.query("after", after)).await
    }

    /// Returns operator presence and the suggested polling intervals (4.7).
    pub async fn get_presence(
        &self,
        conversation: Option<&ConversationId>,
    ) -> Result<Presence, ConnectorError> {
        let id = conversation.map(ConversationId::as_str);
        self.exchange.call(Call::chat(Endpoint::Presence).query("conversationId", id)).await
    }

    /// Sends one visitor event (4.8).
    pub async fn track(&self, event: VisitorEvent) -> Result<Tracking, ConnectorError> {
        self.track_batch(vec![event]).await
    }

    /// Sends visitor events in batches of 50, and returns the totals. Stops when the service reports that
    /// tracking is disabled.
    pub async fn track_batch(&self, events: Vec<VisitorEvent>) -> Result<Tracking, ConnectorError> {
        let mut sum = Tracking { accepted: 0, rejected: 0, enabled: true };
        for batch in events.chunks(*limits::EVENTS.end()) {
            let batch = EventBatch { events: batch.to_vec(), refused: Vec::new() };
            let body = Value::object([("events", batch.events.iter().collect())]);
            let key = keys::random_key("events")?;
            let tracking: Tracking =
                self.exchange.call(Call::chat(Endpoint::Events).keyed(key).body(&body)).await?;
            sum.accepted += tracking.accepted;
            sum.rejected += tracking.rejected;
            sum.enabled = tracking.enabled;
            if !tracking.enabled {
                break;
            }
        }
        Ok(sum)
    }

    /// Pushes one page of content (4.9). The key consists of the site, the snapshot and the page number: a
    /// repeated page must have the same content.
    pub async fn sync_content(&self, page: &ContentPage) -> Result<SyncReceipt, ConnectorError> {
        let key = keys::content_sync(self.site_id().await?, &page.snapshot_id, page.page)?;
        let call = Call::server(ServerEndpoint::SyncContent).keyed(key).body(&Value::from(page));
        self.exchange.call(call).await
    }

    /// Returns the published overlays (4.10).
    pub async fn list_seo_overlays(&self, query: &OverlayQuery) -> Result<OverlayList, ConnectorError> {
        let call = Call::server(ServerEndpoint::Overlays).query("path", query.path.as_deref());
        self.exchange.call(call.query("locale", query.locale.as_deref())).await
    }

    /// Claims the next job, if there is one (4.11). The attempts of one call share a key, so that a claim
    /// whose response was lost is found again.
    pub async fn claim_next_job(&self) -> Result<Claim, ConnectorError> {
        let key = keys::job_next(&Uuid::new_v4().simple().to_string())?;
        let call = Call::server(ServerEndpoint::ClaimJob).keyed(key).body(&Value::object([]));
        self.exchange.call(call).await
    }

    /// Reports the outcome of a job (4.12), and returns the updated job. The key consists of the job and the
    /// claim: a second call repeats the report. `NOT_FOUND` and `RESOURCE_CONFLICT` mean that the claim no
    /// longer holds the job, and that nothing is left to do for it.
    pub async fn complete_job(&self, job: &JobId, body: &Completion) -> Result<Job, ConnectorError> {
        let key = keys::job_complete(job, &body.claim_token)?;
        let call = Call::server(ServerEndpoint::CompleteJob).job(job).keyed(key).body(&Value::from(body));
        self.exchange.call_for(call, Completion::parse_response).await
    }

    /// Returns the configured site id, or else the one in the site's status.
    async fn site_id(&self) -> Result<&str, ConnectorError> {
        let ask = async || {
            let status = self.get_site_status().await?;
            Ok(status.site_id.unwrap_or_else(|| "site".to_owned()))
        };
        self.site_id.get_or_try_init(ask).await.map(String::as_str)
    }
}
