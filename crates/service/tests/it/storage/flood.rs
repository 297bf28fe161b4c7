//! A visitor who stores as much as possible.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Answer, Caller, Client};

/// Returns an event of a visitor with as much text as is stored, about 2.4 KB.
fn event(visitor: &str) -> Value {
    let text = |length: usize| "x".repeat(length);
    json!({
        "eventType": "page_view", "visitorId": visitor, "path": format!("/{}", text(500)),
        "url": text(1000), "title": text(300), "eventData": { "label": text(300) },
    })
}

/// Returns a batch of 50 events of one visitor, about 120 KB.
pub fn batch(visitor: &str) -> Value {
    json!({ "events": vec![event(visitor); 50] })
}

/// Sends a batch of 50 events of as many new visitors from an address.
pub async fn send_from(caller: &Caller, address: &str, visitors: &str) -> Answer {
    let events: Vec<Value> = (0..50).map(|number| event(&format!("{visitors}-{number}"))).collect();
    let body = json!({ "events": events });
    let mut request = caller.api("POST", "/events", Body::from(body.to_string()));
    request.headers_mut().insert("x-forwarded-for", address.parse().expect("a header value"));
    caller.send(request).await
}

/// Sends batches of a visitor until one is refused. Returns how many were accepted, and the refusal.
pub async fn fill(caller: &Caller, visitor: &str) -> (usize, Answer) {
    for accepted in 0..5000 {
        let answer = caller.post("/events", None, &batch(visitor)).await;
        if answer.status != 200 {
            return (accepted, answer);
        }
        assert_eq!(answer.data()["accepted"], 50);
    }
    panic!("nothing bounds the events of a site");
}

/// Returns the metrics of a client's service.
pub async fn metrics(client: &Client) -> String {
    let request = Request::get("/metrics").body(Body::empty()).expect("a request");
    let response = client.service.metrics_router().oneshot(request).await.expect("an answer");
    String::from_utf8_lossy(&response.into_body().collect().await.expect("a body").to_bytes()).into_owned()
}

/// Returns the number of requests that a limit has refused.
pub async fn refused_by(client: &Client, limit: &str) -> u64 {
    let name = format!("storage_refused_total{{limit=\"{limit}\"}} ");
    let metrics = metrics(client).await;
    let line = metrics.lines().find_map(|line| line.split_once(&name));
    line.map_or(0, |(_, count)| count.parse().expect("a number"))
}

/// Repeats a request until it is accepted: a node measures the disk and reads the counts now and then.
pub async fn accepted_soon(request: impl AsyncFn() -> Answer) {
    let accepted = async {
        while request().await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), accepted).await.expect("accepted in the end");
}
