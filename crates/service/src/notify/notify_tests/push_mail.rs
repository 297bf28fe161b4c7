//! Pushes and e-mails about the same: an operator gets one of them.

use std::collections::BTreeSet;

use super::mail::{self, converse, open_to, send_due};
use super::push::{push_due, subscribe, tell};
use super::smtp::SmtpServer;
use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::notify::mail::NoticeKind;
use crate::notify::push::Cause;
use chat_test_servers::push::PushService;

const MINUTE_MS: i64 = 60_000;

/// Opens a service with a conversation whose visitor asks for a person, of whom the agent has a device.
async fn asked(database: &TestDatabase, server: &SmtpServer, receiver: &PushService) -> (Service, i64) {
    let service = open_to(database, server.options()).await;
    subscribe(&service, "agent_a", &receiver.browser(1)).await;
    converse(&service, "a", "conv_1", "A person, please").await;
    let now_ms = service.now_ms();
    mail::tell(&service, "a", "conv_1", NoticeKind::HandOff, now_ms).await;
    mail::tell(&service, "a", "conv_1", NoticeKind::Unanswered, now_ms).await;
    tell(&service, "conv_1", None, Cause::WantsPerson, now_ms).await;
    (service, now_ms)
}

fn recipients(server: &SmtpServer) -> BTreeSet<String> {
    server.mails().iter().flat_map(|mail| mail.recipients.clone()).collect()
}

on_both_databases! {
    async fn an_operator_who_got_a_push_gets_no_email_about_the_same(database: &TestDatabase) {
        let (server, receiver) = (SmtpServer::start(), PushService::start().await);
        let (service, now_ms) = asked(database, &server, &receiver).await;
        push_due(&service, now_ms).await;
        assert_eq!(receiver.wait_for(1).await.len(), 1);
        for minute in [1, 6] {
            send_due(&service, now_ms + minute * MINUTE_MS).await;
        }
        assert_eq!(recipients(&server), BTreeSet::from(["<owner@a.example>".to_owned()]));
        assert_eq!(server.mails().len(), 2, "both notifications were told to the other operator");
        // Contact details are no event of a push.
        mail::tell(&service, "a", "conv_1", NoticeKind::Lead, now_ms).await;
        send_due(&service, now_ms + 20 * MINUTE_MS).await;
        assert_eq!(recipients(&server).len(), 2);
    }

    async fn a_push_that_did_not_arrive_is_followed_by_the_email(database: &TestDatabase) {
        let (server, receiver) = (SmtpServer::start(), PushService::start().await);
        receiver.answer(500, None);
        let (service, now_ms) = asked(database, &server, &receiver).await;
        push_due(&service, now_ms).await;
        assert_eq!(receiver.received().len(), 1);
        send_due(&service, now_ms + MINUTE_MS).await;
        assert_eq!(recipients(&server).len(), 2);
    }

    async fn an_earlier_push_does_not_replace_the_email_about_a_later_message(database: &TestDatabase) {
        let (server, receiver) = (SmtpServer::start(), PushService::start().await);
        let (service, now_ms) = asked(database, &server, &receiver).await;
        push_due(&service, now_ms).await;
        for minute in [1, 6] {
            send_due(&service, now_ms + minute * MINUTE_MS).await;
        }
        let before = server.mails().len();
        mail::tell(&service, "a", "conv_1", NoticeKind::HandOff, now_ms + 20 * MINUTE_MS).await;
        send_due(&service, now_ms + 21 * MINUTE_MS).await;
        let later: BTreeSet<String> =
            server.mails()[before..].iter().flat_map(|mail| mail.recipients.clone()).collect();
        assert_eq!(later.len(), 2);
    }
}
