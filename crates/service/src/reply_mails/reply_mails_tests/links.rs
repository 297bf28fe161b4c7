//! The links of an e-mail: the one that opens the conversation, and the one that ends the e-mails.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::notify::notify_tests::number;
use crate::notify::notify_tests::smtp::Mail;

async fn request(service: &Service, method: &str, path: &str, token: Option<&str>) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(path).header("origin", "https://shop.example");
    if let Some(token) = token {
        request = request.header("visitor-token", token);
    }
    let request = request.body(Body::empty()).expect("a request");
    let response = service.router().oneshot(request).await.expect("a response");
    let status = response.status();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens the link of an e-mail as a widget on a page of a site does.
async fn open_link(service: &Service, site: &str, token: &str) -> (StatusCode, String) {
    request(service, "GET", &format!("/connector/{site}/chat/messages"), Some(token)).await
}

/// Returns the proof in the link of an e-mail.
fn proof(mail: &Mail) -> String {
    let text = mail.text();
    let (_, rest) = text.split_once("#chat-widget-mail=").expect("a link");
    rest.split(|letter: char| letter.is_whitespace() || letter == '"').next().expect("a proof").to_owned()
}

/// Returns the path of the page that ends the e-mails.
fn stop_path(mail: &Mail) -> String {
    let header = mail.header("List-Unsubscribe");
    let address = header.trim_matches(['<', '>']);
    address.strip_prefix("https://chat.example").expect("the public origin").to_owned()
}

on_both_databases! {
    async fn a_link_opens_its_conversation_on_any_device_however_often_it_is_tried(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let (id, other) = (CLARA.writes(&service).await, Visitor { email: "bob@home.example", ..CLARA }.writes(&service).await);
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "We do.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let token = proof(&server.mails()[0]);
        for _ in 0..3 {
            let (status, body) = open_link(&service, "site_a", &token).await;
            assert_eq!(status, StatusCode::OK, "{body}");
            assert!(body.contains(id.as_str()) && body.contains("We do.") && !body.contains(other.as_str()), "{body}");
        }
        assert_eq!(told_names(&service, &id).await, ["mailed", "mail_opened"]);
        // It names its own conversation only, and says nothing of who writes.
        let path = format!("/connector/site_a/chat/messages?conversationId={}", other.as_str());
        let (_, body) = request(&service, "GET", &path, Some(&token)).await;
        assert!(body.contains(other.as_str()) && !body.contains(id.as_str()), "{body}");
        // The mailbox is proved now.
        reply(&service, "site_a", &id, "Until Friday.", now_ms + WAIT_MS).await;
        send_due(&service, now_ms + 2 * WAIT_MS).await;
        let mails = server.mails();
        assert!(mails[1].text().contains("celadon"), "{}", mails[1].text());
    }

    async fn a_forged_foreign_or_expired_link_opens_nothing(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "We do.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let token = proof(&server.mails()[0]);
        let stop = stop_path(&server.mails()[0]);
        let sealed = stop.rsplit('/').next().expect("a token");
        let changed = format!("{}A{}", &token[..20], &token[21..]);
        for forged in ["mail.", "mail.x", &format!("mail.{id}", id = id.as_str()), &format!("mail.{sealed}"), &changed, &format!("{token}{token}")] {
            assert_eq!(open_link(&service, "site_a", forged).await.0, StatusCode::UNAUTHORIZED, "{forged}");
        }
        assert_eq!(open_link(&service, "site_b", &token).await.0, StatusCode::UNAUTHORIZED, "another site");
        assert_eq!(told_names(&service, &id).await, ["mailed"]);
        let sql = "UPDATE reply_mails SET created_ms = created_ms - $1";
        execute(&service, sql, args![31 * 24 * 60 * MINUTE_MS]).await;
        assert_eq!(open_link(&service, "site_a", &token).await.0, StatusCode::UNAUTHORIZED, "expired");
        execute(&service, "DELETE FROM conversations", args![]).await;
        assert_eq!(open_link(&service, "site_a", &token).await.0, StatusCode::UNAUTHORIZED, "erased");
    }

    async fn one_click_ends_the_emails_of_a_site_and_a_scanner_does_not(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "We do.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let mail = server.mails().remove(0);
        assert_eq!(mail.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        let path = stop_path(&mail);
        for method in ["GET", "HEAD", "GET"] {
            assert_eq!(request(&service, method, &path, None).await.0, StatusCode::OK);
        }
        assert_eq!(number(&service, "SELECT count(*) FROM mail_stops").await, 0);
        // Also after the conversation is gone.
        execute(&service, "DELETE FROM conversations", args![]).await;
        for _ in 0..2 {
            let (status, page) = request(&service, "POST", &path, None).await;
            assert!(status.is_success() && page.contains("You will receive no more e-mails"), "{page}");
        }
        let stored = fixture::everything(database, service.db()).await;
        assert_eq!(fixture::occurrences(&stored, "Clara@home.example"), 0);
        let again = Visitor { email: "Clara@home.example", proved: true, ..CLARA }.writes(&service).await;
        reply(&service, "site_a", &again, "Hello.", now_ms).await;
        let elsewhere = Visitor { site: "site_b", ..CLARA }.writes(&service).await;
        reply(&service, "site_b", &elsewhere, "Hello.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        assert_eq!(told_names(&service, &again).await, ["mail_stopped"]);
        assert_eq!(told_names(&service, &elsewhere).await, ["mailed"], "another site");
        let changed = format!("{}A{}", &path[..30], &path[31..]);
        for forged in ["/mail/stop/x", "/mail/stop/", &changed, &format!("/mail/stop/{}", "x".repeat(5000))] {
            assert_eq!(request(&service, "POST", forged, None).await.0, StatusCode::NOT_FOUND, "{forged}");
        }
    }
}
