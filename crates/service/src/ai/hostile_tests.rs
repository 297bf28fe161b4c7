//! A hostile or broken AI endpoint: its responses are bounded, and the key is sent to no other address.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chat_protocol::admin::settings::AiOptions;
use chat_protocol::{AiStatus, Role};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::{Ai, Answer, Endpoint, Phrases, Question, Said, Turn};
use crate::knowledge::Passage;

mod completions;

const KEY: &str = "an-ai-key-that-nobody-may-see";

/// Starts a server that passes each connection to `answer` after the request. Returns its address and a
/// connection count.
async fn server<F, A>(answer: F) -> (String, Arc<AtomicUsize>)
where
    F: Fn(TcpStream) -> A + Send + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut read = Vec::new();
            while !read.windows(4).any(|end| end == b"\r\n\r\n") {
                if peer.read_buf(&mut read).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            tokio::spawn(answer(peer));
        }
    });
    (address, connections)
}

/// Starts a server that sends the same bytes to every request.
async fn server_sending(text: String) -> (String, Arc<AtomicUsize>) {
    server(move |mut peer| {
        let text = text.clone();
        async move {
            let _ = peer.write_all(text.as_bytes()).await;
        }
    })
    .await
}

/// Starts a server that sends the same bytes to every request, and returns its address.
pub(super) async fn answering(text: &str) -> String {
    server_sending(text.to_owned()).await.0
}

fn endpoint(address: &str, timeout: Duration) -> Endpoint {
    Endpoint {
        base: format!("http://{address}/v1/"),
        key: Some(KEY.into()),
        model: "a-model".to_owned(),
        timeout,
        options: AiOptions::default(),
    }
}

fn passage(text: &str) -> Passage {
    Passage {
        id: "content:glaze".to_owned(),
        title: "Glaze".to_owned(),
        location: Some("/glaze".to_owned()),
        text: text.to_owned(),
        shown: String::new(),
        certainty: 1.0,
    }
}

async fn ask_with(ai: &Ai, endpoint: &Endpoint, passages: &[Passage], message: &str) -> Answer {
    let history = [Turn { role: Role::Visitor, content: message.to_owned() }];
    let question = Question {
        site_id: "site_1",
        passages,
        said: &Said::default(),
        visited: Some("- viewed /mugs"),
        history: &history,
        locale: Some("en-GB"),
        ..Question::default()
    };
    ai.answer(Some(endpoint), &question).await
}

async fn ask(address: &str, timeout: Duration) -> Answer {
    ask_with(&Ai::new(true), &endpoint(address, timeout), &[], "How is celadon fired?").await
}

fn assert_is_fallback(answer: &Answer, why: &str) {
    assert_eq!((&answer.status, answer.used_fallback), (&AiStatus::ProviderError, true), "{why}");
    assert_eq!(answer.text.as_deref(), Some(Phrases::of("", Some("en")).fallback), "{why}");
    assert!(answer.sources.is_empty(), "{why}");
}

/// A time longer than any test: a client that waits for it fails the test.
const LONG: Duration = Duration::from_hours(1);

#[tokio::test]
async fn does_not_follow_redirects() {
    let completion = r#"{"choices":[{"message":{"content":"Stolen"}}]}"#;
    let length = completion.len();
    let (elsewhere, connections) =
        server_sending(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{completion}")).await;
    for status in [301, 302, 303, 307, 308] {
        let (address, _) = server_sending(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: http://{elsewhere}/v1/chat/completions\r\ncontent-length: 0\r\n\r\n"
        ))
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "a redirect");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "the key went to another host");
}

#[tokio::test]
async fn stops_reading_an_endless_response_at_the_limit() {
    for (head, chunk) in [
        ("", vec![b' '; 16 * 1024]),
        ("transfer-encoding: chunked\r\n", [b"4000\r\n".as_slice(), &[b' '; 0x4000], b"\r\n"].concat()),
    ] {
        let (stopped, has_stopped) = oneshot::channel();
        let stopped = Arc::new(std::sync::Mutex::new(Some(stopped)));
        let (address, _) = server(move |mut peer| {
            let (chunk, stopped) = (chunk.clone(), Arc::clone(&stopped));
            async move {
                let mut written = 0_usize;
                let _ = peer.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes()).await;
                while peer.write_all(&chunk).await.is_ok() {
                    written += chunk.len();
                }
                let stopped = stopped.lock().expect("not poisoned").take();
                let _ = stopped.expect("one connection").send(written);
            }
        })
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "an endless answer");
        // Includes the bytes in the buffers of both ends.
        let written = has_stopped.await.expect("the connection is closed");
        assert!(written < 32 * 1024 * 1024, "{written}");
    }
}

#[tokio::test]
async fn refuses_a_declared_length_over_the_limit_at_once() {
    let (closed, is_closed) = oneshot::channel();
    let closed = Arc::new(std::sync::Mutex::new(Some(closed)));
    let (address, _) = server(move |mut peer| {
        let closed = Arc::clone(&closed);
        async move {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 1_500_000_000);
            let _ = peer.write_all(head.as_bytes()).await;
            // The body never arrives, so a client without a timeout would wait for ever.
            let mut rest = Vec::new();
            let _ = peer.read_to_end(&mut rest).await;
            let closed = closed.lock().expect("not poisoned").take();
            let _ = closed.expect("one connection").send(());
        }
    })
    .await;
    assert_is_fallback(&ask(&address, LONG).await, "a declared length");
    is_closed.await.expect("the connection is closed");
}

#[tokio::test]
async fn times_out_on_a_trickling_response() {
    let (address, _) = server(|mut peer| async move {
        let _ = peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n").await;
        // Each byte arrives well within any read timeout.
        while peer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_is_fallback(&ask(&address, Duration::from_secs(1)).await, "a trickle");
}

#[tokio::test]
async fn times_out_on_a_silent_endpoint() {
    let (address, _) = server(|mut peer| async move {
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest).await;
    })
    .await;
    assert_is_fallback(&ask(&address, Duration::from_secs(1)).await, "silence");
}

#[tokio::test]
async fn falls_back_on_a_response_of_another_format() {
    let deep = format!("{}1{}", "[".repeat(60_000), "]".repeat(60_000));
    for body in ["<!doctype html><h1>Welcome</h1>", "", "null", "[]", "{\"choices\":[]}", "\u{0}\u{1}", &deep]
    {
        let length = body.len();
        let (address, _) = server_sending(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "no completion");
    }
    let (address, _) = server_sending("SSH-2.0-OpenSSH_9.2\r\n".to_owned()).await;
    assert_is_fallback(&ask(&address, LONG).await, "no HTTP");
}

#[tokio::test]
async fn reads_a_compressed_response_up_to_the_limit() {
    let compressed = |text: &str| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).expect("written");
        gzip.finish().expect("compressed")
    };
    let hello = r#"{"choices":[{"message":{"content":"Hello"}}]}"#;
    let bomb = compressed(&" ".repeat(100 * 1024 * 1024));
    for (encoding, body, expected) in [
        ("gzip", compressed(hello), Some("Hello")),
        ("identity", hello.as_bytes().to_vec(), Some("Hello")),
        ("gzip", bomb, None),
        ("gzip", hello.as_bytes().to_vec(), None),
        ("br", compressed(hello), None),
    ] {
        let (address, _) = server(move |mut peer| {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let answer = [head.as_bytes(), &body].concat();
            async move {
                let _ = peer.write_all(&answer).await;
            }
        })
        .await;
        let answer = ask(&address, LONG).await;
        match expected {
            Some(text) => assert_eq!(answer.text.as_deref(), Some(text), "{encoding}"),
            None => assert_is_fallback(&answer, encoding),
        }
    }
}

/// Starts an endpoint that answers with this text.
async fn endpoint_answering(content: &str) -> String {
    let body = json!({ "choices": [{ "message": { "content": content } }] }).to_string();
    server_sending(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await.0
}

#[tokio::test]
async fn withholds_an_echoed_prompt() {
    // The endpoint repeats the message of the system role.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let echo = axum::routing::post(|axum::Json(body): axum::Json<Value>| async move {
        let system = body["messages"][0]["content"].clone();
        axum::Json(json!({ "choices": [{ "message": { "content": system } }] }))
    });
    let router = axum::Router::new().route("/v1/chat/completions", echo);
    tokio::spawn(axum::serve(listener, router).into_future());
    assert_is_fallback(&ask(&address, LONG).await, "an echo");
}

#[tokio::test]
async fn withholds_long_parts_of_hidden_text_but_not_a_quoted_sentence() {
    let text = "Every pot is dipped twice, once in the white slip that the studio has mixed since 1987 and once in the \
                glaze that gives it its colour. Celadon is fired at 1280 degrees, in a kiln that burns no oxygen for \
                the last two hours; that is where the green comes from.";
    let quote = "Celadon is fired at 1280 degrees, in a kiln that burns no oxygen.";
    for (content, passes) in [(text, false), (quote, true)] {
        let endpoint = endpoint(&endpoint_answering(content).await, LONG);
        let hidden = Passage { location: None, ..passage(text) };
        let answer = ask_with(&Ai::new(true), &endpoint, &[hidden], "How is celadon fired?").await;
        if passes {
            assert_eq!((answer.text.as_deref(), &answer.status), (Some(content), &AiStatus::Ok));
            assert_eq!(
                (answer.sources[0].id.as_str(), answer.sources.len(), answer.topic.as_deref()),
                ("content:glaze", 1, Some("Glaze"))
            );
        } else {
            assert_is_fallback(&answer, "the site's text");
        }
    }
}

#[tokio::test]
async fn a_week_of_opening_hours_reaches_the_visitor_from_a_page_and_from_an_operators_answer() {
    let hours = "Opening hours: Monday 9:00-18:00, Tuesday 9:00-18:00, Wednesday 9:00-18:00, Thursday 9:00-20:00, \
                 Friday 9:00-18:00, Saturday 10:00-16:00, Sunday closed.";
    let answer = "We are open:\n- Monday 9:00-18:00\n- Tuesday 9:00-18:00\n- Wednesday 9:00-18:00\n\
                  - Thursday 9:00-20:00\n- Friday 9:00-18:00\n- Saturday 10:00-16:00\n- Sunday closed";
    // What the model thinks may quote the hours as well.
    let address = endpoint_answering(&format!("<think>{hours}</think>{answer}")).await;
    let written = Passage { id: "answer:7".to_owned(), location: None, ..passage(hours) };
    for source in [passage(hours), written] {
        let shown =
            ask_with(&Ai::new(true), &endpoint(&address, LONG), &[source], "When are you open?").await;
        assert_eq!((shown.text.as_deref(), &shown.status), (Some(answer), &AiStatus::Ok));
    }
}

#[tokio::test]
async fn a_fallback_links_to_public_pages_and_says_nothing_of_them() {
    let (address, _) = server_sending("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n".to_owned()).await;
    let page = Passage { location: Some("https://shop.example/glaze".to_owned()), ..passage("SECRET") };
    let answer = ask_with(&Ai::new(true), &endpoint(&address, LONG), &[page], "How is celadon fired?").await;
    let fallback = Phrases::of("", Some("en")).fallback;
    let expected = format!("{fallback}\n\n- [Glaze](https://shop.example/glaze)");
    assert_eq!((answer.text.as_deref(), answer.used_fallback), (Some(expected.as_str()), true));
    assert_eq!(answer.problem.as_deref(), Some("the status is 500 Internal Server Error"));
}
