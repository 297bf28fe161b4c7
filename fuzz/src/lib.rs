//! Fuzz targets: one function for each parser of bytes from outside.
//!
//! A target takes any bytes, and panics when an invariant is violated. `fuzz/corpus/<target>/` contains its
//! inputs: real ones, hostile ones and interesting ones that fuzzing found. `tests/corpus.rs` replays and
//! mutates them natively; `src/bin/guided.rs` runs the same functions under libFuzzer.

// A target's purpose is to panic.
#![allow(clippy::unwrap_used)]

mod markdown;
mod protocol;
mod proxy;
mod service;
mod session;
mod site;

/// A function whose invariants must hold for any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target and of its folder in `corpus/`.
    pub name: &'static str,
    /// Panics when this input violates an invariant.
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

/// Returns the target with this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
