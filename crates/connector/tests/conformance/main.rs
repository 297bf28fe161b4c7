//! Tests every requirement of the contract that is observable from outside.
//!
//! By default the server is a sandbox, over HTTP. Any other is tested by its address:
//! `CONFORMANCE_ORIGIN=https://service.example CONFORMANCE_TOKEN_FILE=token cargo test -p chat-connector
//! --test conformance`. It gets conversations, events and one small snapshot of content; jobs are claimed
//! from it only with `CONFORMANCE_JOBS=1`, and are reported as failed. Requirements that are not checked are
//! reported as ignored, with the reason.

/// Lists the tests of a module by their names.
macro_rules! sentences {
    ($($sentence:ident,)*) => {
        pub fn sentences() -> Vec<libtest_mimic::Trial> {
            vec![$(crate::trial(module_path!(), stringify!($sentence), $sentence)),*]
        }
    };
}

mod api;
mod authentication;
mod chat;
mod elsewhere;
mod envelope;
mod events;
mod idempotency;
mod jobs;
mod site;

use std::future::Future;
use std::process::ExitCode;

use api::{Checked, Unchecked};
use libtest_mimic::{Arguments, Completion, Trial};

fn main() -> ExitCode {
    let sentences = [
        authentication::sentences(),
        chat::sentences(),
        elsewhere::sentences(),
        envelope::sentences(),
        events::sentences(),
        idempotency::sentences(),
        jobs::sentences(),
        site::sentences(),
    ];
    libtest_mimic::run(&Arguments::from_args(), sentences.into_iter().flatten().collect()).exit_code()
}

/// The result of a check that did not panic.
trait Outcome {
    fn completion(self) -> Completion;
}

impl Outcome for () {
    fn completion(self) -> Completion {
        Completion::Completed
    }
}

impl Outcome for Checked {
    fn completion(self) -> Completion {
        match self {
            Ok(()) => Completion::Completed,
            Err(Unchecked(reason)) => Completion::ignored_with(reason),
        }
    }
}

fn trial<F>(module: &str, sentence: &str, check: fn() -> F) -> Trial
where
    F: Future<Output: Outcome> + 'static,
{
    let module = module.trim_start_matches("conformance::");
    Trial::ignorable_test(format!("{module}::{sentence}"), move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Ok(runtime.block_on(check()).completion())
    })
}
