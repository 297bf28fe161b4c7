//! The wire contract between the widget, the site's proxy and the service behind it, written once for both sides.
//!
//! Every type reads itself from a [`Value`], so that one reader of JSON serves all of them: small in WebAssembly,
//! and every refusal names the field that it is about. What the service may leave out may be missing, null or of an
//! unexpected type; what nothing can be done without is an error. Requests are read strictly, as a server must.
//!
//! Section numbers in these docs are those of the connector API's specification.

mod config;
mod endpoint;
mod envelope;
mod event;
mod fields;
mod id;
pub mod limits;
mod message;
mod presence;
mod value;
mod visitor;

pub use config::ChatConfig;
pub use endpoint::{Endpoint, Method};
pub use envelope::{ErrorCode, ServiceError, failure, open, success};
pub use event::{EventBatch, Tracking, VisitorEvent};
pub use fields::{Fields, Unusable};
pub use id::{ConversationId, IdempotencyKey, MessageId, VisitorId};
pub use message::{AiStatus, ChatMessage, History, Lead, Role, SendMessage, SendResult};
pub use presence::Presence;
pub use value::{Value, decimal};
pub use visitor::VisitorProfile;
