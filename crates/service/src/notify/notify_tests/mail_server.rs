//! The SMTP server: failures, encryption, and e-mails of the service.

use std::net::TcpListener;

use super::mail::{converse, open_to, send_due, tell};
use super::smtp::{Behaviour, Identity, SmtpServer};
use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::email_queue::send;
use crate::notify::mail::{MailQueue, NoticeKind};
use crate::{SmtpOptions, SmtpTls, check_smtp};

const MINUTE_MS: i64 = 60_000;

on_both_databases! {
    async fn nothing_is_lost_while_the_server_is_down_or_the_service_is_killed(database: &TestDatabase) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut smtp = SmtpOptions::new("127.0.0.1", "chat@service.example");
        (smtp.port, smtp.tls) = (port, SmtpTls::None);
        let service = open_to(database, smtp.clone()).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        let mut now_ms = service.now_ms();
        tell(&service, "a", "conv_1", NoticeKind::Lead, now_ms).await;
        send(&service, "new@a.example", "Welcome", "https://chat.example/console/#setup=secret-of-link").await.expect("queued");
        let stored = rows(&service, "SELECT content FROM emails").await[0].bytes(0).expect("bytes");
        assert!(!stored.windows(14).any(|window| window == b"secret-of-link"), "stored encrypted");
        now_ms += MINUTE_MS;
        let mut sender = worker::<MailQueue>(&service);
        for _ in 0..10 {
            let next_ms = drain(&mut sender, now_ms).await.expect("a retry");
            assert!(next_ms > now_ms && next_ms - now_ms <= 6 * MINUTE_MS, "{}", next_ms - now_ms);
            now_ms = next_ms;
        }
        // The process dies in the middle of an attempt: the lease ends, and another one sends.
        execute(&service, "UPDATE emails SET attempts = attempts + 1, next_ms = $1", args![now_ms + 2 * MINUTE_MS]).await;
        drop(sender);
        let server = SmtpServer::listen(TcpListener::bind(("127.0.0.1", port)).expect("the port"), None);
        let next_ms = send_due(&service, now_ms).await.expect("the end of the lease");
        assert!(server.mails().is_empty());
        assert_eq!(send_due(&service, next_ms).await, None);
        assert_eq!(server.mails().len(), 3);
        let ids: std::collections::HashSet<_> =
            server.mails().iter().map(|mail| mail.header("Message-ID")).collect();
        assert_eq!(ids.len(), 3);
        let mails = server.mails();
        let direct = mails.iter().find(|mail| mail.recipients == ["<new@a.example>"]).expect("the invitation");
        assert!(direct.text().contains("secret-of-link") && direct.header("List-Id").is_empty());
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 0);
    }

    async fn an_email_is_sent_once_to_a_server_that_never_says_goodbye(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        send(&service, "new@a.example", "Welcome", "Hello").await.expect("queued");
        server.behave(Behaviour { ignore_quit: true, ..Behaviour::default() });
        assert_eq!(send_due(&service, service.now_ms()).await, None);
        assert_eq!(server.mails().len(), 1);
        assert_eq!(number(&service, "SELECT count(*) FROM emails").await, 0);
    }

    async fn an_email_keeps_its_id_when_it_is_postponed(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open_to(database, server.options()).await;
        send(&service, "new@a.example", "Welcome", "Hello").await.expect("queued");
        let id = rows(&service, "SELECT id FROM emails").await[0].text(0).expect("text");
        server.behave(Behaviour { data: Some("451 later"), ..Behaviour::default() });
        let next_ms = send_due(&service, service.now_ms()).await.expect("a retry");
        server.behave(Behaviour::default());
        assert_eq!(send_due(&service, next_ms).await, None);
        assert_eq!(server.mails()[0].header("Message-ID"), format!("<{id}@service.example>"));
    }

    async fn a_refused_recipient_is_given_up_and_holds_up_nobody(database: &TestDatabase) {
        let server = SmtpServer::start();
        server.behave(Behaviour { refuse: Some(("gone@", "550 no such user")), ..Behaviour::default() });
        let service = open_to(database, server.options()).await;
        send(&service, "gone@a.example", "Welcome", "Hello").await.expect("queued");
        send(&service, "here@a.example", "Welcome", "Hello").await.expect("queued");
        let mut next_ms = Some(service.now_ms());
        let mut attempts = 0;
        while let Some(now_ms) = next_ms {
            next_ms = send_due(&service, now_ms).await;
            attempts += 1;
            assert_eq!(server.mails().len(), 1, "the other one is sent at once");
        }
        assert_eq!(attempts, 5);
        let failed = rows(&service, "SELECT status, error, content FROM emails").await;
        assert_eq!((failed.len(), failed[0].text(0).expect("text").as_str()), (1, "failed"));
        assert!(failed[0].text(1).expect("text").contains("550"));
        assert!(failed[0].is_null(2).expect("a column"), "the text is not kept");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_addresses_and_subjects_inject_no_header() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let server = SmtpServer::start();
    let service = open_to(&database, server.options()).await;
    for to in ["", "a", "a@b.example\r\nBcc: x@x.example", "a@b.example, x@x.example", "<a@b.example>\0"] {
        send(&service, to, "Welcome", "Hello").await.expect_err("no address");
    }
    let subject = format!("Welcome\r\nBcc: x@x.example\r\n\r\n{}\u{0}\u{85}ü", "long ".repeat(1000));
    send(&service, "a@b.example", &subject, "Hello\r\n.\r\nMAIL FROM:<x@x.example>\r\n")
        .await
        .expect("queued");
    send_due(&service, service.now_ms()).await;
    let mails = server.mails();
    assert_eq!(mails.len(), 1, "a line with a dot does not end the text");
    assert_eq!((mails[0].header("Bcc"), mails[0].header("To")), (String::new(), "a@b.example".to_owned()));
    assert!(mails[0].header("Subject").len() < 1000);
    assert!(mails[0].text().contains("MAIL FROM:<x@x.example>"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accounts_send_their_links_by_email() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let server = SmtpServer::start();
    let service = open_to(&database, server.options()).await;
    let link = crate::owner_link(&service, "a").await.expect("a link").url;
    let (_, token) = link.split_once("#setup=").expect("a secret in the fragment");
    let owner = serde_json::json!({
        "token": token, "name": "Ada", "email": "ada@a.example", "password": "a long and secret phrase",
    });
    let forgotten = serde_json::json!({ "email": "ada@a.example" });
    for (path, body) in [("/setup", owner), ("/password/forgot", forgotten)] {
        let (status, json) =
            fixture::call(&service, crate::accounts::routes(), None, "POST", path, Some(body)).await;
        assert!(status.is_success(), "{status} {json}");
    }
    // It is queued after the response.
    while number(&service, "SELECT count(*) FROM emails").await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send_due(&service, service.now_ms()).await;
    let mails = server.mails();
    assert_eq!(mails[0].recipients, ["<ada@a.example>"]);
    assert!(mails[0].text().contains("https://chat.example/console/#"), "{}", mails[0].text());
}

/// Returns settings for STARTTLS with user and password.
fn encrypted(server: &SmtpServer, identity: &Identity) -> SmtpOptions {
    let mut smtp = server.options();
    smtp.host = "localhost".to_owned();
    smtp.tls = SmtpTls::StartTls;
    smtp.root_certificate = Some(identity.certificate.clone().into_bytes());
    (smtp.user, smtp.password) = (Some("user".to_owned()), Some("pass".to_owned().into()));
    smtp
}

#[tokio::test]
async fn the_service_introduces_itself_by_its_public_name() {
    let server = SmtpServer::start();
    let names = [
        ("chat.shop.example", "EHLO chat.shop.example"),
        ("192.0.2.1", "EHLO [192.0.2.1]"),
        ("[2001:db8::1]", "EHLO [IPv6:2001:db8::1]"),
    ];
    for (index, (hello, expected)) in names.into_iter().enumerate() {
        let smtp = SmtpOptions { hello: Some(hello.to_owned()), ..server.options() };
        check_smtp(&smtp).await.expect("the server answers");
        let database = TestDatabase::new(Kind::Sqlite).await;
        let service = open_to(&database, smtp).await;
        send(&service, "a@b.example", "Welcome", "Hello").await.expect("queued");
        assert_eq!(send_due(&service, service.now_ms()).await, None);
        let said = server.plain_commands();
        let greetings: Vec<&String> =
            said.iter().filter(|line| line.starts_with("EHLO")).skip(2 * index).collect();
        assert_eq!(greetings, [expected, expected], "the check, and then the e-mail");
    }
    assert_eq!(server.mails().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn says_nothing_before_starttls_and_signs_in_after_it() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let identity = Identity::generate();
    let server = SmtpServer::start_with(&identity);
    let smtp = encrypted(&server, &identity);
    check_smtp(&smtp).await.expect("the server accepts the credentials");
    let service = open_to(&database, smtp).await;
    send(&service, "a@b.example", "Welcome", "Hello").await.expect("queued");
    assert_eq!(send_due(&service, service.now_ms()).await, None);
    assert!(server.mails()[0].encrypted);
    let plain = server.plain_commands();
    assert!(plain.iter().all(|line| line.starts_with("EHLO") || line == "STARTTLS"), "{plain:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_encryption_or_with_another_certificate_gets_nothing() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let identity = Identity::generate();
    let server = SmtpServer::start_with(&identity);
    let mut distrustful = encrypted(&server, &Identity::generate());
    check_smtp(&distrustful).await.expect_err("an unknown certificate");
    distrustful.password = None;
    check_smtp(&distrustful).await.expect_err("a user without a password");
    let smtp = encrypted(&server, &identity);
    server.behave(Behaviour { hide_tls: true, ..Behaviour::default() });
    let service = open_to(&database, smtp).await;
    send(&service, "a@b.example", "Welcome", "Hello").await.expect("queued");
    assert!(send_due(&service, service.now_ms()).await.is_some(), "it is tried again");
    server.behave(Behaviour::default());
    let mut wrong = encrypted(&server, &identity);
    wrong.password = Some("wrong".to_owned().into());
    assert!(check_smtp(&wrong).await.expect_err("refused").contains("535"));
    assert!(server.mails().is_empty());
    assert!(
        server.plain_commands().iter().all(|line| !line.starts_with("AUTH") && !line.starts_with("MAIL"))
    );
}

#[test]
fn refuses_settings_that_cannot_work() {
    let valid = SmtpOptions::new("mail.example", "Chat <chat@shop.example>");
    valid.validate().expect("valid");
    let with = |change: fn(&mut SmtpOptions)| {
        let mut options = valid.clone();
        change(&mut options);
        options.validate().expect_err("invalid").to_string()
    };
    assert!(with(|options| options.from = "nobody".to_owned()).contains("invalid SMTP sender"));
    assert!(with(|options| options.reply_to = Some("a@b\r\nBcc: c@d".to_owned())).contains("reply-to"));
    assert!(with(|options| options.tls = SmtpTls::None).contains("on this machine only"));
    assert!(with(|options| options.user = Some("user".to_owned())).contains("credentials"));
    assert!(with(|options| options.root_certificate = Some(b"no PEM".to_vec())).contains("root certificate"));
}
