//! `site-connector jobs`

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use chat_connector::jobs::{JobRunner, Journal, RunnerError, RunnerOptions};
use chat_connector::static_site::{StaticSite, StaticSiteOptions};
use chat_protocol::Value;
use clap::Args;

use crate::failure::Failure;
use crate::print::{count, say};
use crate::service::{ServiceFlags, folder, site_origin};
use crate::shutdown::shutdown_signal;

/// Execute the service's jobs in a folder of static HTML
///
/// Publishes, deletes and rolls back articles, applies overlays to the heads of pages, and pushes the
/// content. Ctrl-C stops after the current job.
#[derive(Debug, Args)]
pub(crate) struct JobsFlags {
    #[command(flatten)]
    service: ServiceFlags,
    /// The folder that the web server serves
    #[arg(long, value_name = "FOLDER")]
    site: PathBuf,
    /// The site's public origin, such as https://shop.example
    #[arg(long, value_name = "URL", value_parser = site_origin)]
    site_origin: String,
    /// The folder for the journal, versions and overlays; must be outside of the site's folder
    #[arg(long, default_value = ".site-connector", value_name = "FOLDER")]
    state: PathBuf,
    /// The HTML template of articles, with {{title}}, {{content}} and {{locale}}
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Seconds between claims while there are no jobs
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
    /// Stop when there are no more jobs, or when a claim gets an invalid response
    #[arg(long)]
    once: bool,
    /// Print the outcome as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: JobsFlags) -> Result<(), Failure> {
    let client = flags.service.client()?;
    folder(&flags.site)?;
    let template = match &flags.template {
        Some(file) => Some(
            std::fs::read_to_string(file)
                .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?,
        ),
        None => None,
    };
    let journal =
        Journal::open(&flags.state.join("journal.jsonl")).map_err(|error| Failure::new(error.to_string()))?;
    let site = StaticSite::new(StaticSiteOptions {
        root: flags.site,
        state: flags.state,
        origin: flags.site_origin,
        template,
    });
    let options = RunnerOptions {
        interval: Duration::from_secs(flags.interval),
        until_empty: flags.once,
        ..RunnerOptions::default()
    };
    let runner = JobRunner::new(client.clone(), site.syncing(client), journal, options);
    let stop = shutdown_signal().map_err(|error| Failure::new(error.to_string()))?;
    if !flags.once {
        let interval = flags.interval;
        let _ =
            writeln!(io::stderr(), "Claiming jobs every {interval} s. Ctrl-C stops after the current job.");
    }
    let summary = runner.run(stop).await.map_err(|error| match error {
        RunnerError::Refused(error) => Failure::from(error),
        error @ RunnerError::InvalidResponse(_) => Failure::new(error.to_string()),
        RunnerError::Journal(error) => Failure::new(error.to_string()),
    })?;
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let outcome = Value::object([
        ("succeeded", number(summary.succeeded).into()),
        ("failed", number(summary.failed).into()),
        ("owed", number(summary.unreported as u64).into()),
    ]);
    say(flags.json, &outcome, || {
        let unreported = match summary.unreported {
            0 => String::new(),
            count => format!("; {count} to be reported by the next run"),
        };
        format!("{} done, {} failed{unreported}", count(summary.succeeded, "job"), summary.failed)
    });
    Ok(())
}
