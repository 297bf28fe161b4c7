//! `site-connector check`

use std::io::{self, Write};
use std::time::Duration;

use chat_connector::check::{CheckOptions, CheckResult, check};
use chat_connector::printable::{Printable, printable_json};
use chat_protocol::Value;
use clap::Args;

use crate::failure::Failure;

/// Check a site's proxy against the contract
///
/// Requests the proxy's five paths as a browser does, and prints for each requirement of the contract whether
/// it is met. Without --read-only, the check starts one conversation and sends 50 events.
#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// The proxy's address, such as https://shop.example/connector
    #[arg(value_name = "URL")]
    prefix: String,
    /// Send no messages and no events
    #[arg(long)]
    read_only: bool,
    /// Maximum seconds to wait for a response
    #[arg(long, default_value_t = 40, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Print each outcome as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: CheckFlags) -> Result<(), Failure> {
    let options = CheckOptions {
        read_only: flags.read_only,
        timeout: Duration::from_secs(flags.timeout),
        ..CheckOptions::new(flags.prefix)
    };
    // A closed pipe is ignored: the exit code has the outcome.
    let print = |line: &str| drop(writeln!(io::stdout(), "{line}"));
    let results = check(&options, |result| print(&formatted(result, flags.json))).await?;
    let failed = results.iter().filter(|result| result.problem.is_some()).count();
    if failed > 0 {
        return Err(Failure::new(format!("{failed} of {} checks failed", results.len())));
    }
    if !flags.json {
        print(&format!("All {} checks hold.", results.len()));
    }
    Ok(())
}

fn formatted(result: &CheckResult, json: bool) -> String {
    if json {
        let outcome = [
            ("sentence", result.requirement.into()),
            ("ok", result.problem.is_none().into()),
            ("problem", result.problem.clone().into()),
        ];
        return printable_json(&Value::object(outcome).to_string());
    }
    match &result.problem {
        None => format!("ok      {}", result.requirement),
        Some(problem) => format!("FAILED  {}: {}", result.requirement, Printable(problem)),
    }
}
