//! Nobody writes to strangers through the service.

use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::notify::notify_tests::number;

on_both_databases! {
    async fn an_address_that_nobody_proved_gets_three_emails_a_day_of_a_tenant(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let now_ms = service.now_ms();
        let mut last = None;
        for number in 0..5 {
            // Another spelling is the same mailbox.
            let email = if number % 2 == 0 { "clara@home.example" } else { "Clara@HOME.example" };
            let id = Visitor { email, ..CLARA }.writes(&service).await;
            reply(&service, "site_a", &id, "Hello.", now_ms).await;
            send_due(&service, now_ms + WAIT_MS).await;
            last = Some(id);
        }
        assert_eq!(server.mails().len(), 3);
        assert_eq!(told_names(&service, &last.expect("five")).await, ["mail_limited"]);
        let other = Visitor { site: "site_b", ..CLARA }.writes(&service).await;
        reply(&service, "site_b", &other, "Hello.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        assert_eq!(server.mails().len(), 4, "another tenant has its own count");
        let proved = Visitor { proved: true, ..CLARA }.writes(&service).await;
        reply(&service, "site_a", &proved, "Hello.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        assert_eq!(server.mails().len(), 5, "the site has proved the address");
    }

    async fn an_address_that_nobody_proved_gets_the_reply_and_no_words_of_whoever_typed_it(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let now_ms = service.now_ms();
        let (claimed, proved) = (CLARA.writes(&service).await, Visitor { proved: true, ..CLARA }.writes(&service).await);
        for id in [&claimed, &proved] {
            answer_by_ai(&service, "site_a", id, "You said: buy pills.", now_ms).await;
        }
        send_due(&service, now_ms + WAIT_MS).await;
        let mails = server.mails();
        assert_eq!(mails.len(), 1, "the AI may repeat what it was told");
        assert!(mails[0].text().contains("buy pills") && mails[0].text().contains("celadon"), "{}", mails[0].text());
        reply(&service, "site_a", &claimed, "We do.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let mails = server.mails();
        assert_eq!(mails.len(), 2);
        let text = mails[1].text();
        assert!(text.contains("We do.") && !text.contains("celadon") && !text.contains("pills"), "{text}");
        assert!(text.contains("https://shop.example/shoes#chat-widget-mail=mail."), "{text}");
        assert!(!text.contains("size=42"), "{text}");
    }

    async fn hostile_names_words_and_addresses_inject_nothing(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let now_ms = service.now_ms();
        let name = "Shop\r\nBcc: x@x.example\r\n\r\n\u{202e}<b>";
        execute(&service, "UPDATE sites SET name = $1 WHERE id = 'site_a'", args![name]).await;
        for email in ["a@b.example\r\nBcc: x@x.example", "a@b.example, x@x.example", "<a@b.example>", "nobody"] {
            let id = Visitor { email, ..CLARA }.writes(&service).await;
            reply(&service, "site_a", &id, "Hello.", now_ms).await;
            send_due(&service, now_ms + WAIT_MS).await;
            assert_eq!(told_names(&service, &id).await, ["mail_failed"], "{email}");
        }
        let id = Visitor { locale: "xx-\r\nBcc: x@x.example", page: "//evil.example/\r\nx", ..CLARA }.writes(&service).await;
        reply(&service, "site_a", &id, "Hello\r\n.\r\nMAIL FROM:<x@x.example>\r\n<script>", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let mails = server.mails();
        assert_eq!(mails.len(), 1);
        let (head, _) = mails[0].data.split_once("\r\n\r\n").expect("a head");
        assert!(!head.to_lowercase().lines().any(|line| line.starts_with("bcc:")), "{head}");
        assert!(mails[0].header("From").ends_with("<chat@service.example>"), "{head}");
        assert!(mails[0].text().contains("MAIL FROM:<x@x.example>"), "{}", mails[0].text());
        assert!(!mails[0].text().contains("evil.example"));
    }

    async fn an_erasure_and_the_end_of_a_conversation_remove_its_emails(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "Hello.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        assert_eq!(number(&service, "SELECT count(*) FROM reply_mails").await, 1);
        execute(&service, "DELETE FROM conversations WHERE id = $1", args![&id]).await;
        assert_eq!(number(&service, "SELECT count(*) FROM reply_mails").await, 0);
        assert_eq!(send_due(&service, now_ms + WAIT_MS).await, None);
    }
}
