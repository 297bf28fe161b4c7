//! The words and the headers of an e-mail.

use super::*;
use crate::databases::Kind;

/// Returns the parts of an e-mail, decoded.
fn parts(data: &str) -> Vec<String> {
    use base64::Engine;
    let boundary =
        data.split_once("boundary=\"").and_then(|(_, rest)| rest.split_once('"')).expect("a boundary").0;
    let mut parts = Vec::new();
    for part in data.split(&format!("--{boundary}")).skip(1) {
        let Some((head, body)) = part.split_once("\r\n\r\n") else { continue };
        parts.push(if head.contains("base64") {
            let bytes =
                base64::prelude::BASE64_STANDARD.decode(body.replace(['\r', '\n'], "")).expect("base64");
            String::from_utf8(bytes).expect("UTF-8")
        } else if head.contains("quoted-printable") {
            let (mut bytes, joined) = (Vec::new(), body.replace("=\r\n", ""));
            let mut letters = joined.bytes();
            while let Some(letter) = letters.next() {
                if letter == b'=' {
                    let digits = [letters.next().expect("a digit"), letters.next().expect("a digit")];
                    let digits = String::from_utf8_lossy(&digits).into_owned();
                    bytes.push(u8::from_str_radix(&digits, 16).expect("a byte"));
                } else {
                    bytes.push(letter);
                }
            }
            String::from_utf8(bytes).expect("UTF-8")
        } else {
            body.to_owned()
        });
    }
    parts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_email_is_in_the_visitors_language_and_from_the_site() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let server = SmtpServer::start();
    let service = open(&database, server.options()).await;
    let now_ms = service.now_ms();
    for (locale, text, expected, direction) in [
        ("de-AT", "Ja, für 9 €.", "Unterhaltung öffnen und antworten:", "dir=\"ltr\""),
        ("ja", "はい、送料は9ユーロです。", "チャットを開いて返信する:", "dir=\"ltr\""),
        ("ar-EG", "نعم، مقابل 9 يورو.", "فتح المحادثة والرد:", "dir=\"rtl\""),
        ("xx", "Yes.", "Open the conversation and answer:", "dir=\"ltr\""),
    ] {
        let email = format!("visitor-{locale}@home.example");
        let id = Visitor { email: &email, locale, ..CLARA }.writes(&service).await;
        reply(&service, "site_a", &id, text, now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        let mail = server.mails().pop().expect("an e-mail");
        assert_eq!(mail.header("From"), "\"Shop a\" <chat@service.example>");
        assert_eq!(
            (mail.header("Auto-Submitted"), mail.header("Precedence")),
            ("auto-generated".to_owned(), "bulk".to_owned())
        );
        assert!(mail.header("Message-ID").ends_with("@service.example>"));
        let parts = parts(&mail.data);
        println!("{}\n{}\n{}", mail.data.split("\r\n\r\n").next().expect("a head"), parts[0], parts[1]);
        let [plain, html] = [&parts[0], &parts[1]];
        assert!(plain.contains(&format!("Mara:\r\n{text}\r\n")) && plain.contains(expected), "{plain}");
        assert!(html.contains(text) && html.contains(direction), "{html}");
        assert!(plain.contains("\r\nhttps://shop.example/shoes#chat-widget-mail=mail."), "{plain}");
    }
}
