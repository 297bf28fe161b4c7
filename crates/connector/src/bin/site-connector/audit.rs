//! `site-connector audit`

mod crawl;
mod folder;

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use chat_audit::{Report, Severity, json, sarif, text};
use chat_connector::printable::{printable_json, printable_lines};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use reqwest::Url;

use crate::failure::Failure;
use crate::print::count;
use crate::service::site_origin;

/// Audit a site: heads, content, links, languages, structured data, robots and sitemaps
///
/// Reads a folder of static HTML as it is served, or crawls a website politely: one request at a time, as its
/// robots.txt allows. Prints what is wrong, with the place, the reason and how to mend it, and a score.
/// Nothing is changed, and nothing is sent to the service. Exits with 1 if it finds errors, see --fail-on.
#[derive(Debug, Args)]
pub(crate) struct AuditFlags {
    /// The folder of a static site, or the address of a website
    #[arg(value_name = "FOLDER|URL")]
    target: String,
    /// The public origin of a folder, such as https://shop.example. Without it, it is taken from the
    /// canonical addresses, if most pages have their own
    #[arg(long, value_name = "URL", value_parser = site_origin)]
    site_origin: Option<String>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print the report as JSON, like --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Exit with 1 if there are findings of this severity or a graver one
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Print every finding with all of its places
    #[arg(long)]
    all: bool,
    /// Maximum pages that are crawled
    #[arg(long, default_value_t = 200, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pages: u32,
    /// Seconds between two requests; a longer pause that robots.txt asks for is kept, up to 10
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds)]
    pause: f64,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// The severity from which on the command fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

pub(crate) async fn run(flags: AuditFlags) -> Result<(), Failure> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let report = match website(&flags.target)? {
        Some(url) => {
            let pause = Duration::from_secs_f64(flags.pause);
            crawl::audit(url, usize::try_from(flags.pages).unwrap_or(usize::MAX), pause, today).await?
        }
        None => read(&flags, today).await?,
    };
    if report.pages.is_empty() {
        return Err(Failure::new(format!("no HTML pages in {}", flags.target)));
    }
    let format = if flags.json { Format::Json } else { flags.format };
    let printed = match format {
        Format::Text => printable_lines(&text(&report, flags.all)),
        Format::Json => printable_json(&json(&report).to_string()),
        Format::Sarif => printable_json(&sarif(&report, env!("CARGO_PKG_VERSION")).to_string()),
    };
    // A closed pipe is ignored: the exit code has the outcome.
    let _ = writeln!(io::stdout(), "{printed}");
    outcome(&report, flags.fail_on)
}

/// Returns the address of a website; `None` for a folder.
fn website(target: &str) -> Result<Option<Url>, Failure> {
    let lower = target.get(..8).unwrap_or(target).to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Ok(None);
    }
    let url = Url::parse(target).ok().filter(|url| url.has_host() && url.username().is_empty());
    url.map(Some).ok_or_else(|| {
        Failure::usage(format!("invalid address: expected one such as https://shop.example, got {target}"))
    })
}

async fn read(flags: &AuditFlags, today: Date) -> Result<Report, Failure> {
    let (root, origin) = (flags.target.clone(), flags.site_origin.clone());
    let read = tokio::task::spawn_blocking(move || folder::audit(Path::new(&root), origin.as_deref(), today));
    let report = read.await.map_err(|error| Failure::new(error.to_string()))?;
    report.map_err(|error| Failure::new(format!("cannot read {}: {error}", flags.target)))
}

fn outcome(report: &Report, fail_on: FailOn) -> Result<(), Failure> {
    let (errors, warnings) = (report.count(Severity::Error), report.count(Severity::Warning));
    let failed = match fail_on {
        FailOn::Error => errors > 0,
        FailOn::Warning => errors + warnings > 0,
        FailOn::Never => false,
    };
    if !failed {
        return Ok(());
    }
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Err(Failure::new(format!(
        "{} and {} found",
        count(number(errors), "error"),
        count(number(warnings), "warning")
    )))
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds")?;
    if (0.0..=60.0).contains(&seconds) { Ok(seconds) } else { Err("expected 0 to 60 seconds") }
}
