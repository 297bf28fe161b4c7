//! Tests every requirement of the contract that is observable from outside.
//!
//! By default it tests the service's test mode and the program `site-connector serve`: on SQLite, on
//! PostgreSQL, and as two nodes of one database, where consecutive requests go to different nodes. The names
//! of the trials begin with the server's.
//!
//! Any other server is tested by its address: `CONFORMANCE_ORIGIN=https://service.example
//! CONFORMANCE_TOKEN_FILE=token cargo test -p chat-connector --test conformance`. It gets conversations,
//! events and small snapshots of content; jobs are claimed from it only with `CONFORMANCE_JOBS=1`, and are
//! reported as failed. Requirements that are not checked are reported as ignored, with the reason.

/// Lists the checks of a module. Those after `[administered]` change the settings of a site, which only
/// `serve` allows.
macro_rules! sentences {
    ($($sentence:ident,)* $([administered] $($administered:ident,)*)?) => {
        pub fn sentences() -> Vec<crate::Sentence> {
            vec![
                $(crate::sentence(module_path!(), stringify!($sentence), false, $sentence),)*
                $($(crate::sentence(module_path!(), stringify!($administered), true, $administered),)*)?
            ]
        }
    };
}

mod activation;
mod api;
mod authentication;
mod chat;
mod config;
mod content;
mod envelope;
mod events;
mod idempotency;
mod jobs;
mod leases;
mod limits;
mod messages;
mod operator;
mod presence;
mod proxy_paths;
mod quota;
mod serve;
mod servers;
mod unchecked;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use api::{Api, Checked, Unchecked};
use libtest_mimic::{Arguments, Completion, Trial};
use servers::{Kind, Server};

/// A requirement, and how it is checked.
pub struct Sentence {
    /// Its module and its name.
    name: String,
    /// Whether it changes the settings of the site.
    is_administered: bool,
    check: Arc<dyn Fn(Api) -> Check + Send + Sync>,
}

type Check = Pin<Box<dyn Future<Output = Checked>>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let sentences = [
        activation::sentences(),
        authentication::sentences(),
        chat::sentences(),
        config::sentences(),
        content::sentences(),
        envelope::sentences(),
        events::sentences(),
        idempotency::sentences(),
        jobs::sentences(),
        limits::sentences(),
        messages::sentences(),
        presence::sentences(),
        proxy_paths::sentences(),
        quota::sentences(),
        // Last, because a lease has to expire.
        leases::sentences(),
    ];
    let servers = Server::all();
    let mut trials: Vec<Trial> = Vec::new();
    for sentence in sentences.iter().flatten() {
        let of_server = servers.iter().filter(|server| sentence.applies_to(server));
        trials.extend(of_server.map(|server| trial(server, sentence)));
    }
    if servers.iter().all(|server| server.kind != Kind::Address) {
        trials.push(unchecked::trial());
    }
    // The servers are stopped at the end of this function, also when a trial has failed.
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The result of a check that did not panic.
trait Outcome {
    fn checked(self) -> Checked;
}

impl Outcome for () {
    fn checked(self) -> Checked {
        Ok(())
    }
}

impl Outcome for Checked {
    fn checked(self) -> Checked {
        self
    }
}

fn sentence<F>(module: &str, name: &str, is_administered: bool, check: fn(Api) -> F) -> Sentence
where
    F: Future<Output: Outcome> + 'static,
{
    let module = module.trim_start_matches("conformance::");
    let check = move |api| -> Check { Box::pin(async move { check(api).await.checked() }) };
    Sentence { name: format!("{module}::{name}"), is_administered, check: Arc::new(check) }
}

impl Sentence {
    /// Returns whether a server has trials of this sentence. The only site of the test mode has no settings.
    fn applies_to(&self, server: &Server) -> bool {
        !self.is_administered || server.kind != Kind::TestMode
    }
}

fn trial(server: &Arc<Server>, sentence: &Sentence) -> Trial {
    let (server, check, is_administered) =
        (Arc::clone(server), Arc::clone(&sentence.check), sentence.is_administered);
    Trial::ignorable_test(format!("{}::{}", server.name, sentence.name), move || {
        if is_administered && server.kind == Kind::Address {
            return Ok(Completion::ignored_with("the settings of the site would have to be changed"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let checked = runtime.block_on(async { check(Api::connect(&server).await).await });
        Ok(match checked {
            Ok(()) => Completion::Completed,
            Err(Unchecked(reason)) => Completion::ignored_with(reason),
        })
    })
}
