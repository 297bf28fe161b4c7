//! The wire contract between the widget, the site's proxy and the service behind it, shared by both sides.
//!
//! Every type is parsed from a [`Value`], so that one JSON parser serves all of them: small in WebAssembly,
//! and every error names its field. In responses, optional members may be missing, null or of an unexpected
//! type; a missing required member is an error. Requests are parsed strictly.
//!
//! The types that only a site's server needs are behind the feature `server`, and those of the operators'
//! console behind `admin`: the widget is built without both.
//!
//! Section numbers in these docs are those of the connector API's specification.

#[cfg(any(feature = "server", test))]
mod activation;
#[cfg(any(feature = "admin", test))]
pub mod admin;
pub mod back_off;
#[cfg(any(feature = "server", test))]
mod completion;
mod config;
#[cfg(any(feature = "server", test))]
mod content;
mod endpoint;
mod envelope;
mod event;
mod fields;
mod id;
#[cfg(any(feature = "server", test))]
mod job;
mod language_tag;
pub mod limits;
mod message;
#[cfg(any(feature = "server", test))]
mod overlay;
#[cfg(any(feature = "server", feature = "admin", test))]
mod page_head;
mod presence;
mod send;
#[cfg(any(feature = "server", test))]
mod site;
mod value;
mod visitor;

#[cfg(any(feature = "server", test))]
pub use activation::{Activated, Activation, Credential};
#[cfg(any(feature = "server", test))]
pub use completion::{Completion, Done, Outcome};
pub use config::ChatConfig;
#[cfg(any(feature = "server", test))]
pub use content::{ContentItem, ContentKind, ContentPage, SyncReceipt, TextFormat};
#[cfg(any(feature = "server", test))]
pub use endpoint::ServerEndpoint;
pub use endpoint::{Endpoint, Method};
pub use envelope::{ErrorCode, ServiceError, failure, open_envelope, success};
pub use event::{EventBatch, Tracking, VisitorEvent};
pub use fields::{FieldError, Fields};
#[cfg(any(feature = "server", test))]
pub use id::{ClaimToken, JobId};
pub use id::{ConversationId, IdempotencyKey, MessageId, VisitorId};
#[cfg(any(feature = "server", test))]
pub use job::{ArticlePayload, Claim, Job, JobStatus, JobType};
pub use language_tag::is_language_tag;
pub use message::{ChatMessage, History, Role};
#[cfg(any(feature = "server", test))]
pub use overlay::{Overlay, OverlayList};
#[cfg(any(feature = "server", feature = "admin", test))]
pub use page_head::PageHead;
pub use presence::Presence;
pub use send::{AiStatus, Lead, SendMessage, SendResult};
#[cfg(any(feature = "server", test))]
pub use site::SiteStatus;
pub use value::{Value, decimal};
pub use visitor::{VISITOR_TOKEN, VisitorProfile};
