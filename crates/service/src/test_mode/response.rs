//! Changes responses after the routes have made them.

use std::io;

use axum::body::{Body, Bytes, to_bytes};
use axum::response::Response;
use chat_protocol::Value;

/// Maximum bytes of a response that is changed.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// Changes members of a response's `data`.
pub(super) async fn change(response: Response, changes: &[(&[&str], Value)]) -> Response {
    let (parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_RESPONSE_BYTES).await else { return broken_connection() };
    let Ok(mut envelope) = serde_json::from_slice::<Value>(&body) else {
        return Response::from_parts(parts, Body::from(body));
    };
    for (path, value) in changes {
        let path: Vec<&str> = std::iter::once("data").chain(path.iter().copied()).collect();
        set(&mut envelope, &path, value.clone());
    }
    Response::from_parts(parts, Body::from(envelope.to_string()))
}

/// Replaces or adds the member at a path.
fn set(object: &mut Value, path: &[&str], value: Value) {
    let (Value::Object(members), [name, rest @ ..]) = (object, path) else { return };
    let index = members.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        members.push(((*name).to_owned(), Value::Null));
        members.len() - 1
    });
    match rest {
        [] => members[index].1 = value,
        rest => set(&mut members[index].1, rest, value),
    }
}

/// Returns a response whose body fails at once, which makes the server close the connection.
pub(super) fn broken_connection() -> Response {
    let broken = io::Error::new(io::ErrorKind::ConnectionAborted, "fault injection is on");
    Response::new(Body::from_stream(tokio_stream::once(Err::<Bytes, _>(broken))))
}
