//! The admin API's types of the inbox, shared by the service and the operators' console.
//!
//! Member names are in camelCase. Times are texts in RFC 3339, in UTC with milliseconds. Members that are
//! missing or null are `None`. The console ignores members of a response that it does not know, so that one
//! that was opened before an upgrade of the service goes on. The service refuses them in a request.

mod conversation;
mod operator;
pub mod publishing;
mod push;
mod report;
pub mod settings;
mod stream;
mod visitor;

pub use conversation::{
    Conversation, ConversationChange, ConversationCounts, ConversationPage, ConversationSummary,
    ConversationView, LastMessage, LeadView, Message, MessagePage, Note, Source, State, TakeOver,
};
pub use operator::{
    Availability, CannedReply, CannedReplyText, Label, LabelChange, Preferences, QuietHours, TeamMember,
    WorkingState,
};
pub use push::{PushDevice, PushState, PushSubscription};
pub use report::{HourCount, PageCount, Report, ReportDay, ReportTotals};
pub use stream::{ConversationEvent, Hello, Typing};
pub use visitor::{LeadReason, ProfileChange, TimelineEntry, TimelinePage, Visitor};
