//! `site-connector check`

use std::io::{self, Write};
use std::time::Duration;

use chat_connector::check::{CheckOptions, Checked, check};
use chat_connector::printable::{Printable, printable_json};
use chat_protocol::Value;
use clap::Args;

use crate::failure::Failure;

/// Check a site's proxy, whoever wrote it
///
/// Asks its five paths as a browser would, and says of each sentence of the contract whether it holds. Unless --read-only
/// is said, it begins one conversation, and reports 50 events.
#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// The proxy's address, such as https://shop.example/connector
    #[arg(value_name = "URL")]
    prefix: String,
    /// Write no message and no event
    #[arg(long)]
    read_only: bool,
    /// Seconds that an answer may take
    #[arg(long, default_value_t = 40, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Say each outcome as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: CheckFlags) -> Result<(), Failure> {
    let options = CheckOptions {
        read_only: flags.read_only,
        timeout: Duration::from_secs(flags.timeout),
        ..CheckOptions::new(flags.prefix)
    };
    // Who reads along may have read enough: the outcome is in the code.
    let tell = |line: &str| drop(writeln!(io::stdout(), "{line}"));
    let checked = check(&options, |one| tell(&shown(one, flags.json))).await?;
    let failed = checked.iter().filter(|one| one.problem.is_some()).count();
    if failed > 0 {
        return Err(Failure::new(format!("{failed} of {} checks failed", checked.len())));
    }
    if !flags.json {
        tell(&format!("All {} checks hold.", checked.len()));
    }
    Ok(())
}

fn shown(one: &Checked, json: bool) -> String {
    if json {
        let outcome = [
            ("sentence", one.sentence.into()),
            ("ok", one.problem.is_none().into()),
            ("problem", one.problem.clone().into()),
        ];
        return printable_json(&Value::object(outcome).to_string());
    }
    match &one.problem {
        None => format!("ok      {}", one.sentence),
        Some(problem) => format!("FAILED  {}: {}", one.sentence, Printable(problem)),
    }
}
