//! The admin API's types of the settings.
//!
//! Responses are read leniently: unknown members are ignored, and missing ones have their default, except
//! those of types with a schema. Requests leave out what they do not change.

mod access;
mod audit;
mod hours;
mod knowledge;
mod people;
mod provider;
mod proxy;
mod quota;
mod setup;
mod site;
mod source;
mod test_question;
mod webhook;

pub use access::{
    License, LicenseRequest, NewLicense, NewToken, NewVisitorSecret, Rotation, Token, TokenRequest,
    VisitorSecretRotation,
};
pub use audit::{AuditEntry, AuditPage};
pub use hours::{BusinessHours, OpenInterval};
pub use knowledge::{
    Answer, AnswerChange, AnswerPage, AnswerText, AskedAnswer, ContentItem, ContentPage, KnowledgeQuestion,
    Passage, Passages,
};
pub use people::{
    EmailChoice, EmailPreferences, EndedSessions, Invitation, InvitationRequest, Invitations, NewInvitation,
    OneTimeLink, OperatorAccount, OperatorChange, OperatorChanged, OperatorRole, Operators, SessionInfo,
    Sessions,
};
pub use provider::{AI_PROVIDERS, AiProvider, CUSTOM_AI_PROVIDER};
pub use proxy::{CheckedPart, ProxyCheck, ProxyChecked, ProxyProblem};
pub use quota::{Quota, SiteQuota};
pub use setup::{RefusedOrigin, SiteSetup};
pub use site::{AiChange, AiOptions, AiSettings, NewSite, Patch, Site, SiteChange};
pub use source::{
    NewSource, Refresh, SkipReason, SkippedPage, Source, SourceChange, SourceShown, SourceState, Sources,
};
pub use test_question::{
    Expectation, TestChange, TestQuestion, TestQuestionList, TestQuestionText, TestQuestions, TestResult,
    TestRun, TestSource,
};
pub use webhook::{
    Delivery, DeliveryAttempt, DeliveryPage, DeliveryShown, NewWebhook, Webhook, WebhookChange,
    WebhookSecret, WebhookShown, Webhooks,
};
