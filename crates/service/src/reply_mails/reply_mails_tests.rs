//! Replies by e-mail on both databases, with a real SMTP server on loopback.

mod hostile;
mod links;
mod once;
mod words;

use chat_protocol::{ConversationId, Role, SendMessage, VisitorProfile};

use super::worker::ReplyQueue;
use crate::conversations::desk::{OperatorMessage, answer};
use crate::conversations::{Author, NewMessage, add_message, lock, receive};
use crate::databases::TestDatabase;
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::notify::notify_tests::smtp::SmtpServer;
use crate::notify::notify_tests::{drain, execute, open_with, options, worker};
use crate::sites::find;
use crate::visitors::fixture;
use crate::visitors::identity::Identity;
use crate::{Service, SmtpOptions};

const MINUTE_MS: i64 = 60_000;
const WAIT_MS: i64 = 2 * MINUTE_MS;

/// Opens a service that mails the replies of the sites `site_a` and `site_b`.
async fn open(database: &TestDatabase, smtp: SmtpOptions) -> Service {
    let mut options = options(database);
    options.smtp = Some(smtp);
    let service = open_with(options).await;
    let sql = "UPDATE sites SET mail_replies = 1, domain = $1, allowed_origins = $2";
    execute(&service, sql, args!["https://shop.example", r#"["https://shop.example"]"#]).await;
    service
}

/// A visitor who has left an address.
#[derive(Clone, Copy, Debug)]
struct Visitor<'a> {
    site: &'a str,
    email: &'a str,
    locale: &'a str,
    page: &'a str,
    text: &'a str,
    proved: bool,
}

const CLARA: Visitor<'static> = Visitor {
    site: "site_a",
    email: "clara@home.example",
    locale: "en",
    page: "/shoes?size=42",
    text: "Do you ship to Norway? My secret is celadon.",
    proved: false,
};

impl Visitor<'_> {
    /// Writes, and returns the conversation.
    async fn writes(self, service: &Service) -> ConversationId {
        let (site, now_ms) =
            (find(service.db(), self.site).await.expect("read").expect("a site"), service.now_ms());
        let profile = VisitorProfile { email: Some(self.email.to_owned()), ..VisitorProfile::default() };
        let identity = self.proved.then(|| Identity::new(self.email, profile.clone()));
        let body = SendMessage {
            conversation_id: None,
            message: self.text.to_owned(),
            locale: Some(self.locale.to_owned()),
            source_page: Some(self.page.to_owned()),
            visitor: profile,
        };
        let node = service.clone();
        let (conversation, ..) = transaction!(service.db(), |tx| {
            let message = NewMessage::new(Role::Visitor, body.message.clone());
            receive(tx, &node, now_ms, &site, &body, identity.as_ref(), message).await
        })
        .await
        .expect("stored");
        conversation.id
    }
}

/// Replies as an operator named Mara.
async fn reply(service: &Service, site: &str, id: &ConversationId, text: &str, now_ms: i64) {
    let site = find(service.db(), site).await.expect("read").expect("a site");
    let author = Author { id: "owner_a".to_owned(), name: "Mara".to_owned() };
    let message = OperatorMessage { text: text.to_owned(), key: None, close: false };
    let id = id.clone();
    let stored: Result<_, ApiError> =
        transaction!(service.db(), |tx| answer(tx, now_ms, &site, &id, author, message).await).await;
    stored.expect("stored");
}

/// Stores an answer of the AI.
async fn answer_by_ai(service: &Service, site: &str, id: &ConversationId, text: &str, now_ms: i64) {
    let site = find(service.db(), site).await.expect("read").expect("a site");
    let (id, text) = (id.clone(), text.to_owned());
    let stored: Result<(), ApiError> = transaction!(service.db(), |tx| {
        let mut conversation = lock(tx, &site.id, &id).await?;
        let outcome = Some(crate::ai::Outcome::Answered);
        let new = NewMessage { outcome, ..NewMessage::new(Role::Assistant, text) };
        add_message(tx, now_ms, &site, &mut conversation, new).await?;
        Ok(())
    })
    .await;
    stored.expect("stored");
}

/// Reports that the visitor's widget has polled past a message.
async fn see(service: &Service, id: &ConversationId, seq: i64) {
    execute(service, "UPDATE conversations SET seen_seq = $2 WHERE id = $1", args![id, seq]).await;
}

/// Sends what is due at a time, and returns when something is due again.
async fn send_due(service: &Service, now_ms: i64) -> Option<i64> {
    drain(&mut worker::<ReplyQueue>(service), now_ms).await
}

/// Returns what the operators are told of the e-mails of a conversation.
async fn told(service: &Service, id: &ConversationId) -> Vec<(String, Option<String>)> {
    let sql = "SELECT n.event, n.detail FROM notes n JOIN conversations c ON c.no = n.conversation_no
               WHERE c.id = $1 AND n.event LIKE 'mail%' ORDER BY n.no";
    let rows = fixture::rows(service.db(), sql, args![id]).await;
    rows.iter().map(|row| (row.text(0).expect("an event"), row.optional_text(1).expect("a column"))).collect()
}

/// Returns the names of what the operators are told.
async fn told_names(service: &Service, id: &ConversationId) -> Vec<String> {
    told(service, id).await.into_iter().map(|(event, _)| event).collect()
}
