//! The wire contract between the widget, the site's proxy and the service behind it, written once for both sides.
//!
//! Every type reads itself from a [`Value`], so that one reader of JSON serves all of them: small in WebAssembly,
//! and every refusal names the field that it is about. What the service may leave out may be missing, null or of an
//! unexpected type; what nothing can be done without is an error. Requests are read strictly, as a server must.
//!
//! Section numbers in these docs are those of the connector API's specification.

mod activation;
mod completion;
mod config;
mod content;
mod endpoint;
mod envelope;
mod event;
mod fields;
mod id;
mod job;
pub mod limits;
mod message;
mod overlay;
mod presence;
mod site;
mod value;
mod visitor;

pub use activation::{Activated, Activation, Credential};
pub use completion::{Completion, Done, Outcome};
pub use config::ChatConfig;
pub use content::{ContentItem, ContentKind, ContentPage, SyncReceipt};
pub use endpoint::{Endpoint, Method, ServerEndpoint};
pub use envelope::{ErrorCode, ServiceError, failure, open, success};
pub use event::{EventBatch, Tracking, VisitorEvent};
pub use fields::{Fields, Unusable};
pub use id::{ClaimToken, ConversationId, IdempotencyKey, JobId, MessageId, VisitorId};
pub use job::{ArticlePayload, Claim, Job, JobStatus, JobType};
pub use message::{AiStatus, ChatMessage, History, Lead, Role, SendMessage, SendResult};
pub use overlay::{Overlay, OverlayList};
pub use presence::Presence;
pub use site::SiteStatus;
pub use value::Value;
pub use visitor::VisitorProfile;
