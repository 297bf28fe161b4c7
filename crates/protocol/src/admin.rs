//! The admin API's types of the account, the inbox and publishing, shared by the service and the operators'
//! console.
//!
//! Member names are in camelCase. Times are texts in RFC 3339, in UTC with milliseconds. Members that are
//! missing or null are `None`. The console ignores members of a response that it does not know, so that one
//! that was opened before an upgrade of the service goes on. The service refuses them in a request.

mod account;
mod conversation;
mod operator;
mod outcome;
pub mod publishing;
mod push;
mod report;
pub mod settings;
mod stream;
mod visitor;

use serde::{Deserialize, Serialize};

pub use account::{
    LinkKind, LinkToken, Me, PasswordChange, PasswordForgotten, PasswordMail, PasswordProof, QrCode,
    RecoveryCodes, Secret, Setup, SetupLink, SignIn, SignedIn, SwitchWorkspace, Tenant, TotpConfirmation,
    TotpEnrolment, Workspace,
};
pub use conversation::{
    Activity, Conversation, ConversationChange, ConversationCounts, ConversationPage, ConversationSummary,
    ConversationView, LastMessage, LeadView, Message, MessagePage, NewMessage, NewNote, Note, Source, State,
    TakeOver,
};
pub use operator::{
    Availability, CannedReply, CannedReplyText, Label, LabelChange, Preferences, QuietHours, TeamMember,
    WorkingState,
};
pub use outcome::{AnswerOutcome, UnansweredQuestion, UnansweredQuestions};
pub use push::{PushDevice, PushState, PushSubscription};
pub use report::{HourCount, OutcomeCounts, PageCount, Report, ReportDay, ReportTotals};
pub use stream::{ConsoleState, ConversationEvent, Hello, Typing, TypingState};
pub use visitor::{
    EmailAddress, Erased, Erasure, LeadReason, ProfileChange, TimelineEntry, TimelinePage, Visitor,
};

/// An empty object: `data` of a change that has nothing more to tell, and the body of a request that needs
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Empty {}
