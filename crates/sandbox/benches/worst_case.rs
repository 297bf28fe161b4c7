//! Measures the most expensive questions and syncs: `cargo bench -p chat-sandbox`.

#[path = "../tests/client/mod.rs"]
mod client;

use std::time::{Duration, Instant};

use chat_sandbox::{RateLimit, SandboxOptions};
use client::{Client, TOKEN};
use serde_json::{Value, json};

/// Returns a text of up to 20,000 distinct ideographs, repeated to the given length.
fn chinese(characters: u32, from: u32) -> String {
    let character = |offset| char::from_u32(0x4e00 + (from + offset) % 20_000).expect("an ideograph");
    (0..characters).map(character).collect()
}

async fn sync(client: &Client, pages: impl Iterator<Item = (String, String)>) -> Duration {
    let items: Vec<Value> = pages
        .enumerate()
        .map(|(id, (title, content))| {
            json!({ "externalId": id.to_string(), "type": "page", "path": format!("/{id}"), "title": title, "content": content })
        })
        .collect();
    let started = Instant::now();
    for (number, items) in items.chunks(100).enumerate() {
        let page = json!({ "snapshotId": "s", "page": number + 1, "items": items });
        client.post("/content/sync", None, &page).await.data();
    }
    started.elapsed()
}

/// Returns the longest of 20 response times to a question.
async fn ask(client: &Client, question: &str) -> Duration {
    let mut longest = Duration::ZERO;
    for _ in 0..20 {
        let started = Instant::now();
        client.post("/chat/messages", None, &json!({ "message": question })).await.data();
        longest = longest.max(started.elapsed());
    }
    longest
}

fn report(what: &str, took: Duration) {
    println!("{what:<72} {:>9.2} ms", took.as_secs_f64() * 1000.0);
}

fn client() -> Client {
    let rate_limit = RateLimit { requests: u32::MAX, ..RateLimit::default() };
    Client::with(SandboxOptions { rate_limit, ..SandboxOptions::new(TOKEN.into()) })
}

#[tokio::main]
async fn main() {
    let question = chinese(4000, 0);
    // Each page must stay below the maximum body size.
    let large = 500_000;

    let five = client();
    report(
        "sync 5 pages of 1.5 MB of Chinese text",
        sync(&five, (0..5).map(|page| (chinese(20, page), chinese(large, page)))).await,
    );
    report("ask 4,000 different characters of 5 pages", ask(&five, &question).await);

    let thousand = client();
    let pages = (0..1000).map(|page| (format!("Page {page}"), chinese(12_000, page * 7)));
    report("sync 1,000 pages of 36 KB of Chinese text", sync(&thousand, pages).await);
    report("ask 4,000 different characters of 1,000 pages", ask(&thousand, &question).await);
    report("ask one word of 1,000 pages", ask(&thousand, "青瓷").await);

    let words = (0..4000).map(|word| word.to_string()).collect::<Vec<_>>().join(" word");
    let english = client();
    let pages = (0..1000).map(|page| (format!("Page {page}"), words.clone()));
    report("sync 1,000 pages of 36 KB of different words", sync(&english, pages).await);
    report("ask 400 different words of 1,000 pages", ask(&english, &words[..4000]).await);

    let hostile = client();
    for (what, html) in [
        ("sync a page of 8 MB of tags that are not closed", "<b>".repeat(2_600_000)),
        (
            "sync a page of 8 MB of tags that were never opened",
            format!("{}{}", "<b>".repeat(4000), "</i>".repeat(1_900_000)),
        ),
        ("sync a page of 8 MB of one tag", format!("<a {}", "x".repeat(7_900_000))),
        ("sync a page of 8 MB of entities", "&amp;".repeat(1_500_000)),
        ("sync a page of 8 MB of accents", format!("a{}", "\u{301}".repeat(3_900_000))),
    ] {
        report(what, sync(&hostile, std::iter::once((String::new(), html))).await);
    }
}
