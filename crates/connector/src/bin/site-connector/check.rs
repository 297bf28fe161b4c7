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
/// Requests the proxy's five paths like a browser, and prints for each requirement of the contract whether
/// the proxy meets it. Without --read-only, the check starts one conversation and sends 50 events.
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
    if let Some(summary) = summary(&results) {
        return Err(Failure::new(summary));
    }
    if !flags.json {
        print(&format!("All {} checks hold.", results.len()));
    }
    Ok(())
}

/// Returns what is wrong and what to do about it, in one line; `None` if all checks hold.
fn summary(results: &[CheckResult]) -> Option<String> {
    let failed = results.iter().filter(|result| result.problem.is_some()).count();
    let (requirement, problem) =
        results.iter().find_map(|result| Some((result.requirement, result.problem.as_deref()?)))?;
    let what_to_do = match status(problem) {
        // The first check requests the config.
        Some(401 | 403) if failed > 1 => {
            "the service refuses the proxy: give the proxy the token of this site".to_owned()
        }
        Some(402) if problem.contains("INSUFFICIENT_QUOTA") => {
            "the account's quota is exhausted: raise it at the service".to_owned()
        }
        Some(402) if problem.contains("STORAGE_FULL") => {
            "the site has stored as much as it may: delete something, or raise its limit at the service"
                .to_owned()
        }
        Some(404 | 405) if failed > 1 => {
            "no proxy responds at this address: check the address, and the prefix that the proxy serves"
                .to_owned()
        }
        Some(502..=504) => {
            "the proxy cannot reach the service: check the service's origin in the proxy's settings, \
             and that the service runs"
                .to_owned()
        }
        _ => format!(
            "first, {requirement}: {}; docs/server.md has the rules of a proxy, and recipes",
            Printable(problem)
        ),
    };
    Some(format!("{failed} of {} checks failed: {what_to_do}", results.len()))
}

/// Returns the status that a check got in place of a success.
fn status(problem: &str) -> Option<u16> {
    problem.strip_prefix("got ")?.get(..3)?.parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn summary_of(problems: &[Option<&str>]) -> Option<String> {
        let result = |problem: Option<&str>| CheckResult {
            requirement: "responses are not cached",
            problem: problem.map(str::to_owned),
        };
        summary(&problems.iter().copied().map(result).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_line_tells_what_is_wrong_and_what_to_do() {
        assert_eq!(summary_of(&[None, None]), None);
        for (problems, expected) in [
            (
                [Some("got 404 : the response has no envelope"), Some("x"), None],
                "2 of 3 checks failed: no proxy responds",
            ),
            ([Some("got 401 INVALID_TOKEN: no"), Some("x"), None], "give the proxy the token of this site"),
            ([Some("got 402 INSUFFICIENT_QUOTA: no"), None, None], "the account's quota is exhausted"),
            ([Some("got 402 STORAGE_FULL: no"), None, None], "the site has stored as much as it may"),
            ([Some("got 502 SERVICE_UNAVAILABLE: no"), Some("x"), None], "cannot reach the service"),
            (
                [None, None, Some("got max-age=60")],
                "1 of 3 checks failed: first, responses are not cached: got max-age=60; docs/server.md",
            ),
        ] {
            let summary = summary_of(&problems).expect("a failure");
            assert!(summary.contains(expected) && !summary.contains('\n'), "{summary}");
        }
    }
}
