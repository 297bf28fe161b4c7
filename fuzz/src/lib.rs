//! Fuzz targets: one function for each thing that parses bytes from outside.
//!
//! A target takes any bytes, and panics when what must always hold does not. `fuzz/corpus/<target>/` has its inputs:
//! real ones, hostile ones, and those that fuzzing found worth keeping. `tests/corpus.rs` replays and mutates them
//! natively; `src/bin/guided.rs` is the same functions under libFuzzer.

// A target's purpose is to panic.
#![allow(clippy::unwrap_used)]

#[path = "../../src/text"]
mod text {
    pub mod markup;
}
use text::markup;

mod markdown;
mod protocol;
mod proxy;
mod service;
mod session;
mod site;

/// A function that must hold for any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder in `corpus/`.
    pub name: &'static str,
    /// Panics when something that must always hold does not hold for this input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    Target { name: "proxy_request", run: proxy::request },
    Target { name: "proxy_answer", run: proxy::answer },
    Target { name: "client_answer", run: proxy::client_answer },
    Target { name: "json", run: protocol::json },
    Target { name: "language_tag", run: protocol::language_tag },
    Target { name: "stored_state", run: session::stored_state },
    Target { name: "tab_messages", run: session::tab_messages },
    Target { name: "markdown", run: markdown::message },
    Target { name: "page_html", run: site::page },
    Target { name: "published_job", run: site::job },
    Target { name: "journal", run: site::journal },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
