//! Every sentence of the contract that can be seen from outside, as a test of that name.
//!
//! By default the server is a sandbox, over HTTP. Any other is tested by its address:
//! `CONFORMANCE_ORIGIN=https://service.example CONFORMANCE_TOKEN_FILE=token cargo test -p chat-connector --test conformance`.
//! It gets conversations, events and one small snapshot of content; jobs are claimed from it only with
//! `CONFORMANCE_JOBS=1`, and are reported as failed.

mod api;
mod authentication;
mod chat;
mod envelope;
mod events;
mod idempotency;
mod jobs;
mod site;
