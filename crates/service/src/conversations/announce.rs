//! Tells webhooks and operators what happens in conversations, in the transaction of the change.

use chat_protocol::{Lead, Value, VisitorId};

use super::Conversation;
use crate::Service;
use crate::db::{DbError, Tx};
use crate::notify::data::{self, MessageData};
use crate::notify::mail::{self, Notice, NoticeKind};
use crate::notify::push::{self, Cause, PushEvent};
use crate::notify::{self, Event, EventName};
use crate::sites::Site;

/// Announces what has happened in a conversation.
pub(super) struct Announcer<'a> {
    now_ms: i64,
    site: &'a Site,
    conversation: &'a Conversation,
}

impl<'a> Announcer<'a> {
    pub(super) fn new(now_ms: i64, site: &'a Site, conversation: &'a Conversation) -> Self {
        Self { now_ms, site, conversation }
    }

    fn id(&self) -> &'a str {
        self.conversation.id.as_str()
    }

    /// Queues an event for the webhooks of the site.
    async fn queue(&self, tx: &mut Tx, name: EventName, data: Value) -> Result<(), DbError> {
        let event = Event {
            tenant_id: self.site.tenant_id.clone(),
            site_id: self.site.id.clone(),
            name,
            data,
            conversation_id: Some(self.id().to_owned()),
        };
        notify::event(tx, self.now_ms, &event).await
    }

    /// Queues an e-mail to the operators.
    async fn mail(&self, tx: &mut Tx, service: &Service, kind: NoticeKind) -> Result<(), DbError> {
        let (tenant_id, site_id) = (&self.site.tenant_id, &self.site.id);
        let notice = Notice { tenant_id, site_id, conversation_id: self.id(), kind };
        mail::notify(tx, service, self.now_ms, notice).await
    }

    /// The conversation has begun.
    pub(super) async fn created(&self, tx: &mut Tx) -> Result<(), DbError> {
        let Conversation { profile, verified, locale, source_page, .. } = self.conversation;
        let visitor = profile.visitor_id.as_ref().map(VisitorId::as_str);
        let (locale, page) = (locale.as_deref(), source_page.as_deref());
        let data = data::conversation_created(self.id(), visitor, verified, locale, page);
        self.queue(tx, EventName::ConversationCreated, data).await
    }

    /// Somebody has written.
    pub(super) async fn message(&self, tx: &mut Tx, message: MessageData<'_>) -> Result<(), DbError> {
        self.queue(tx, EventName::MessageCreated, data::message_created(message)).await
    }

    /// Contact details are known now that were not known before.
    pub(super) async fn lead(&self, tx: &mut Tx, service: &Service, lead: &Lead) -> Result<(), DbError> {
        let Conversation { verified, score, .. } = self.conversation;
        let data = data::lead_updated(self.id(), verified, Value::from(lead), *score);
        self.queue(tx, EventName::LeadUpdated, data).await?;
        self.mail(tx, service, NoticeKind::Lead).await
    }

    /// The visitor asks for a person.
    pub(super) async fn person_requested(&self, tx: &mut Tx, service: &Service) -> Result<(), DbError> {
        let data = data::conversation_changed(self.id());
        self.queue(tx, EventName::HandoffRequested, data).await?;
        self.mail(tx, service, NoticeKind::HandOff).await
    }

    /// The visitor waits for a person.
    pub(super) async fn waiting(&self, tx: &mut Tx, service: &Service) -> Result<(), DbError> {
        self.mail(tx, service, NoticeKind::Unanswered).await
    }

    /// The visitor has written: tells the devices of operators, as the console's own notifications do.
    pub(super) async fn alert(&self, tx: &mut Tx, service: &Service, cause: Cause) -> Result<(), DbError> {
        let assignee_id = self.conversation.assignee_id.as_deref();
        let (tenant_id, conversation_id) = (&self.site.tenant_id, self.id());
        let event = PushEvent { tenant_id, conversation_id, assignee_id, cause };
        push::queue(tx, service, self.now_ms, event).await
    }

    /// An operator has answered, so that nobody waits any more.
    pub(super) async fn answered(&self, tx: &mut Tx) -> Result<(), DbError> {
        mail::answered(tx, self.id()).await?;
        push::answered(tx, self.id()).await
    }

    /// The conversation is closed, or open again.
    pub(super) async fn closed(&self, tx: &mut Tx, is_closed: bool) -> Result<(), DbError> {
        let name = if is_closed { EventName::ConversationClosed } else { EventName::ConversationReopened };
        self.queue(tx, name, data::conversation_changed(self.id())).await
    }

    /// The conversation has another operator, or none.
    pub(super) async fn assigned(&self, tx: &mut Tx, name: Option<&str>) -> Result<(), DbError> {
        let operator = self.conversation.assignee_id.as_deref().zip(name);
        self.queue(tx, EventName::ConversationAssigned, data::conversation_assigned(self.id(), operator))
            .await
    }
}
