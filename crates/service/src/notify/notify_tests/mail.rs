//! E-mails about conversations: when, to whom, and what they say.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::smtp::{Mail, SmtpServer};
use super::*;
use crate::SmtpOptions;
use crate::databases::{Kind, on_both_databases};
use crate::db::transaction;
use crate::notify::mail::{MailQueue, Notice, NoticeKind, answered, collect, notify};

const MINUTE_MS: i64 = 60_000;

/// Opens a service that sends through a server.
pub(super) async fn open_to(database: &TestDatabase, smtp: SmtpOptions) -> Service {
    let mut options = options(database);
    options.smtp = Some(smtp);
    open_with(options).await
}

/// Creates a conversation whose visitor waits.
pub(super) async fn converse(service: &Service, tenant: &str, id: &str, text: &str) {
    let sql = "INSERT INTO conversations (id, site_id, status, created_ms, updated_ms, waiting_since_ms) \
               VALUES ($1, $2, 'open', 1, 1, 1)";
    execute(service, sql, args![id, format!("site_{tenant}")]).await;
    let sql = "INSERT INTO messages (conversation_no, seq, role, content, created_ms) \
               SELECT no, 1, 'visitor', CAST($2 AS TEXT), 1 FROM conversations WHERE id = $1";
    execute(service, sql, args![id, text]).await;
}

/// Notifies of a conversation, as the conversations do.
pub(super) async fn tell(service: &Service, tenant: &str, id: &str, kind: NoticeKind, now_ms: i64) {
    let (node, tenant, id) = (service.clone(), tenant.to_owned(), id.to_owned());
    let site = format!("site_{tenant}");
    let written: Result<(), DbError> = transaction!(service.db(), |tx| {
        let notice = Notice { tenant_id: &tenant, site_id: &site, conversation_id: &id, kind };
        notify(tx, &node, now_ms, notice).await
    })
    .await;
    written.expect("stored");
}

/// Sends what is due at a time, and returns when something is due again.
pub(super) async fn send_due(service: &Service, now_ms: i64) -> Option<i64> {
    drain(&mut worker::<MailQueue>(service), now_ms).await
}

fn recipients(mails: &[Mail]) -> BTreeSet<String> {
    mails.iter().flat_map(|mail| mail.recipients.clone()).collect()
}

on_both_databases! {
    async fn ten_messages_make_one_email_to_each_operator(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        converse(&service, "a", "conv_1", "Where is my order?\r\nBcc: everybody@x.example").await;
        let now_ms = service.now_ms();
        for second in 0..10 {
            tell(&service, "a", "conv_1", NoticeKind::Unanswered, now_ms + second * 1000).await;
        }
        assert_eq!(send_due(&service, now_ms + 5 * MINUTE_MS - 1).await, Some(now_ms + 5 * MINUTE_MS));
        assert!(server.mails().is_empty());
        assert_eq!(send_due(&service, now_ms + 5 * MINUTE_MS).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 2);
        let expected = ["<agent@a.example>", "<owner@a.example>"].map(str::to_owned);
        assert_eq!(recipients(&mails), BTreeSet::from(expected));
        let mail = &mails[0];
        assert_eq!(mail.header("Subject"), "Shop a: A visitor waits for an answer");
        assert_eq!(mail.header("From"), "Chat <chat@service.example>");
        assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
        assert_eq!(mail.header("List-Id"), "<notifications.service.example>");
        assert!(mail.header("Message-ID").ends_with("@service.example>"));
        assert_eq!(mail.header("Bcc"), "");
        assert!(mail.header("Content-Type").starts_with("multipart/alternative"));
        let text = mail.text();
        assert_eq!(text.matches("https://chat.example/console/inbox/conv_1").count(), 2, "{text}");
        assert!(text.contains("> Where is my order? Bcc: everybody@x.example"), "{text}");
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 0);
    }

    async fn an_answer_cancels_the_email(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        let now_ms = service.now_ms();
        for (id, kind) in [("conv_1", NoticeKind::Unanswered), ("conv_2", NoticeKind::HandOff), ("conv_3", NoticeKind::Unanswered)] {
            converse(&service, "a", id, "Hello?").await;
            tell(&service, "a", id, kind, now_ms).await;
        }
        transaction!(service.db(), |tx| {
            answered(tx, "conv_1").await?;
            answered(tx, "conv_2").await
        })
        .await
        .expect("answered");
        // Answered between the batch and the sending.
        collect(&service, now_ms + 5 * MINUTE_MS).await.expect("collected");
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 2);
        execute(&service, "UPDATE conversations SET waiting_since_ms = NULL", args![]).await;
        assert_eq!(send_due(&service, now_ms + 5 * MINUTE_MS).await, None);
        assert!(server.mails().is_empty());
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 0);
    }

    async fn an_email_gathers_what_is_due_and_nothing_of_another_tenant(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        let now_ms = service.now_ms();
        for number in 0..25 {
            let id = format!("conv_a{number}");
            converse(&service, "a", &id, "Hello?").await;
            tell(&service, "a", &id, if number % 2 == 0 { NoticeKind::Lead } else { NoticeKind::HandOff }, now_ms).await;
        }
        converse(&service, "b", "conv_b", "secret of b").await;
        tell(&service, "b", "conv_b", NoticeKind::Lead, now_ms).await;
        // A notification that names a conversation of another tenant shows nothing of it.
        tell(&service, "a", "conv_b", NoticeKind::Unanswered, now_ms - 5 * MINUTE_MS).await;
        execute(&service, "UPDATE operators SET email_kinds = '[]' WHERE id LIKE 'owner%'", args![]).await;
        assert_eq!(send_due(&service, now_ms + MINUTE_MS).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 2);
        for mail in mails {
            let of_a = mail.recipients == ["<agent@a.example>"];
            assert!(of_a || mail.recipients == ["<agent@b.example>"], "{mail:?}");
            assert_eq!(mail.text().contains("secret of b"), !of_a);
            if of_a {
                assert_eq!(mail.header("Subject"), "Shop a: Conversations that need you: 25");
                assert!(mail.text().contains("and 5 more."), "{}", mail.text());
            }
        }
    }

    async fn an_assigned_conversation_concerns_its_operator_only(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        let now_ms = service.now_ms();
        converse(&service, "a", "conv_1", "Hello?").await;
        execute(&service, "UPDATE conversations SET assignee_id = 'agent_a'", args![]).await;
        tell(&service, "a", "conv_1", NoticeKind::Unanswered, now_ms).await;
        send_due(&service, now_ms + 5 * MINUTE_MS).await;
        assert_eq!(recipients(&server.mails()), BTreeSet::from(["<agent@a.example>".to_owned()]));
        execute(&service, "UPDATE operators SET disabled_ms = 1 WHERE id = 'agent_a'", args![]).await;
        tell(&service, "a", "conv_1", NoticeKind::HandOff, now_ms).await;
        send_due(&service, now_ms + 6 * MINUTE_MS).await;
        assert_eq!(server.mails()[1].recipients, ["<owner@a.example>"]);
    }

    async fn an_operator_gets_no_email_in_their_quiet_hours(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        let now_ms = service.now_ms();
        converse(&service, "a", "conv_1", "Hello?").await;
        // From midnight to midnight, every day.
        let quiet = r#"{"quietHours":{"fromMinute":0,"toMinute":0,"days":[1,2,3,4,5,6,7],"timeZone":"Asia/Kolkata"}}"#;
        execute(&service, "UPDATE operators SET preferences = $1 WHERE id = 'agent_a'", args![quiet]).await;
        tell(&service, "a", "conv_1", NoticeKind::Unanswered, now_ms).await;
        send_due(&service, now_ms + 5 * MINUTE_MS).await;
        assert_eq!(recipients(&server.mails()), BTreeSet::from(["<owner@a.example>".to_owned()]));
    }

    async fn a_conversation_is_told_about_once_in_fifteen_minutes(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        execute(&service, "DELETE FROM operators WHERE role = 'agent'", args![]).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        let start_ms = service.now_ms();
        let mut sent = Vec::new();
        for minute in 0..60 {
            let now_ms = start_ms + minute * MINUTE_MS;
            tell(&service, "a", "conv_1", NoticeKind::Lead, now_ms).await;
            let before = server.mails().len();
            send_due(&service, now_ms).await;
            if server.mails().len() > before {
                sent.push(minute);
            }
        }
        assert_eq!(sent, [1, 16, 31, 46]);
    }

    async fn many_conversations_at_once_make_few_emails(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        execute(&service, "DELETE FROM operators WHERE role = 'agent'", args![]).await;
        let start_ms = service.now_ms();
        // For ten minutes, a conversation begins every five seconds.
        for step in 0..120 {
            let (id, now_ms) = (format!("conv_{step}"), start_ms + step * 5000);
            converse(&service, "a", &id, "Hello?").await;
            tell(&service, "a", &id, NoticeKind::HandOff, now_ms).await;
            send_due(&service, now_ms).await;
        }
        let mut due_ms = Some(start_ms + 10 * MINUTE_MS);
        while let Some(now_ms) = due_ms {
            due_ms = send_due(&service, now_ms).await;
        }
        let mails = server.mails();
        assert!((10..=12).contains(&mails.len()), "{}", mails.len());
        let told: usize = mails.iter().map(|mail| mail.text().matches("/console/inbox/").count() / 2).sum();
        assert_eq!(told, 120, "each conversation is told about once");
    }

    async fn an_operator_who_left_learns_nothing_more(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        let now_ms = service.now_ms();
        converse(&service, "a", "conv_1", "my private words").await;
        tell(&service, "a", "conv_1", NoticeKind::Lead, now_ms).await;
        collect(&service, now_ms + MINUTE_MS).await.expect("collected");
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 2);
        // Between the batch and the sending: one is disabled, the other one has gone to another tenant.
        execute(&service, "UPDATE operators SET disabled_ms = 1 WHERE id = 'agent_a'", args![]).await;
        execute(&service, "UPDATE operators SET tenant_id = 'b' WHERE id = 'owner_a'", args![]).await;
        assert_eq!(send_due(&service, now_ms + MINUTE_MS).await, None);
        assert!(server.mails().is_empty(), "{:?}", server.mails());
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 0);
    }

    async fn an_email_is_in_the_language_of_its_operator_or_of_the_site(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        execute(&service, "UPDATE sites SET primary_locale = 'de-AT'", args![]).await;
        execute(&service, "UPDATE operators SET email_locale = 'he' WHERE id = 'agent_a'", args![]).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "a", "conv_1", NoticeKind::Lead, service.now_ms()).await;
        send_due(&service, service.now_ms() + MINUTE_MS).await;
        let mails = server.mails();
        let to = |name: &str| {
            mails.iter().find(|mail| mail.recipients[0].contains(name)).expect("an e-mail").text()
        };
        assert!(to("owner").contains("<html lang=\"de\" dir=\"ltr\">"), "{}", to("owner"));
        assert!(to("owner").contains("Besucher hat Kontaktdaten hinterlassen"), "{}", to("owner"));
        // Encoded, as are most languages.
        let head = BASE64_STANDARD.encode("<!doctype html><html lang=\"he\" dir=\"rtl\"");
        assert!(to("agent").contains(&head[..48]), "{}", to("agent"));
    }

    async fn words_are_quoted_only_where_the_settings_allow_it(database: &TestDatabase) {
        let server = SmtpServer::start();
        let mut smtp = server.options();
        smtp.excerpts = false;
        smtp.reply_to = Some("help@service.example".to_owned());
        let service = open_to(database, smtp).await;
        converse(&service, "a", "conv_1", "my private words").await;
        execute(&service, "UPDATE sites SET name = $1", args!["Shop\r\nBcc: x@x.example\r\n\r\n<script>"]).await;
        tell(&service, "a", "conv_1", NoticeKind::Lead, service.now_ms()).await;
        send_due(&service, service.now_ms() + MINUTE_MS).await;
        let mails = server.mails();
        let mail = &mails[0];
        assert!(!mail.text().contains("private words"));
        let (_, html) = mail.data.split_once("text/html").expect("HTML");
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(mail.header("Bcc"), "");
        assert_eq!(mail.recipients.len(), 1);
        assert!(mail.header("Subject").contains("Shop"), "{}", mail.header("Subject"));
        assert_eq!(mail.header("Reply-To"), "help@service.example");
    }

    async fn nothing_is_stored_without_a_server_and_erasing_removes_what_waits(database: &TestDatabase) {
        let service = open(database).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "a", "conv_1", NoticeKind::Lead, 1).await;
        assert_eq!(number(&service, "SELECT count(*) FROM notifications").await, 0);
        let sql = "INSERT INTO notifications (tenant_id, site_id, conversation_id, kind, created_ms, due_ms) \
                   VALUES ('a', 'site_a', 'conv_1', 'lead', 1, 1)";
        execute(&service, sql, args![]).await;
        collect(&service, 2).await.expect("collected");
        transaction!(service.db(), |tx| crate::notify::erase(tx, "conv_1").await).await.expect("erased");
        for sql in ["SELECT count(*) FROM notifications", "SELECT count(*) FROM email_notifications"] {
            assert_eq!(number(&service, sql).await, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_send_each_email_once() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let server = SmtpServer::start();
    let nodes = [open_to(&database, server.options()).await, open_to(&database, server.options()).await];
    for number in 0..20 {
        let tenant = format!("t{number}");
        add_tenant(&nodes[0], &tenant).await;
        converse(&nodes[0], &tenant, &format!("conv_{number}"), "Hello?").await;
    }
    let running: Vec<_> = nodes.iter().map(|node| tokio::spawn(crate::notify::run(node.clone()))).collect();
    for number in 0..20 {
        // Long due, so that the workers take them at once.
        let (tenant, id) = (format!("t{number}"), format!("conv_{number}"));
        tell(&nodes[number % 2], &tenant, &id, NoticeKind::Lead, 1).await;
    }
    let told = |mails: &[Mail]| {
        let mut told: Vec<(String, String)> = Vec::new();
        for mail in mails {
            let text = mail.text();
            let links = text.split("/console/inbox/").skip(1).map(|rest| {
                rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
            });
            let links: BTreeSet<String> = links.collect();
            told.extend(links.into_iter().map(|link| (mail.recipients[0].clone(), link)));
        }
        told
    };
    let mut count = 1;
    while told(&server.mails()).len() < 40 {
        server.wait_for(count).await;
        count = server.mails().len() + usize::from(told(&server.mails()).len() < 40);
    }
    for (node, running) in nodes.iter().zip(running) {
        node.0.closing.cancel();
        in_time(running).await.expect("no panic");
    }
    let told = told(&server.mails());
    assert_eq!((told.len(), told.iter().collect::<BTreeSet<_>>().len()), (40, 40));
}
