//! `site-connector sync`

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use chat_connector::client::{SyncPlan, SyncRun};
use chat_connector::static_site::{StaticSite, StaticSiteOptions};
use chat_protocol::{ContentItem, Value};
use clap::Args;
use futures_util::stream;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::print::{count, say};
use crate::service::{ServiceFlags, site_origin};

/// Push the site's content to the service
///
/// Pushes the HTML pages of a folder, or a list of items: one line of JSON each, with externalId, type (page,
/// article, product, category), path, url, locale, title, summary and content.
#[derive(Debug, Args)]
pub(crate) struct SyncFlags {
    #[command(flatten)]
    service: ServiceFlags,
    /// The folder whose HTML pages are pushed
    #[arg(value_name = "FOLDER", required_unless_present = "items", requires = "site_origin")]
    folder: Option<PathBuf>,
    /// The site's public origin, such as https://shop.example
    #[arg(long, value_name = "URL", value_parser = site_origin)]
    site_origin: Option<String>,
    /// A file of items, one line of JSON each; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    items: Option<PathBuf>,
    /// The name of the snapshot; use the same name to resume a sync
    #[arg(long, value_name = "ID")]
    snapshot: Option<String>,
    /// The page to resume with, as printed by the sync that stopped
    #[arg(long, default_value_t = 1, value_name = "NUMBER", requires = "snapshot", value_parser = clap::value_parser!(i64).range(1..))]
    first_page: i64,
    /// Items of a page, 1 to 100
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=100))]
    page_size: u16,
    /// Remove nothing at the service, because the items are not complete
    #[arg(long)]
    partial: bool,
    /// Print the items that would be pushed and, as far as known, removed, without pushing anything
    #[arg(long)]
    dry_run: bool,
    /// Allow this number of removals. Without it, a sync fails if it would remove more than half of all
    /// items, or more than 10 items that are more than a fifth of all
    #[arg(long, value_name = "COUNT")]
    allow_removals: Option<u64>,
    /// The folder of the record of pushed items, and of the pages' originals
    #[arg(long, default_value = ".site-connector", value_name = "FOLDER")]
    state: PathBuf,
    /// Print the outcome as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: SyncFlags) -> Result<(), Failure> {
    let client = flags.service.client()?;
    let items = match (&flags.items, &flags.folder) {
        (Some(file), _) => listed(file)?,
        (None, Some(folder)) => read(folder, &flags.state, flags.site_origin.unwrap_or_default()).await?,
        (None, None) => Vec::new(),
    };
    let mut record = client.sync_record(&flags.state).await?;
    let plan = record.plan(&items, !flags.partial);
    if flags.dry_run {
        say(flags.json, &planned(&plan), || plan_in_words(&plan));
    }
    plan.check(flags.allow_removals).map_err(|refused| Failure::new(refused.to_string()))?;
    if flags.dry_run {
        return Ok(());
    }
    let run = SyncRun {
        snapshot_id: flags
            .snapshot
            .unwrap_or_else(|| Timestamp::now().strftime("%Y%m%dT%H%M%S.%3fZ").to_string()),
        first_page: flags.first_page,
        page_size: usize::from(flags.page_size),
        complete: !flags.partial,
    };
    record.begin(&items)?;
    // On standard error, and only if it is a terminal.
    let bar = ProgressBar::new(items.len() as u64);
    bar.set_style(style());
    let before = u64::try_from(run.first_page - 1).unwrap_or(0) * u64::from(flags.page_size);
    let progress = client
        .sync_content_pages(stream::iter(items.iter().cloned()), &run, |progress| {
            bar.set_message(format!("page {}", progress.page));
            bar.set_position(before + progress.items);
        })
        .await;
    bar.finish_and_clear();
    let progress = progress?;
    if progress.page < run.first_page {
        return Err(Failure::new(format!(
            "invalid --first-page: expected at most {}, got {}",
            progress.page, run.first_page
        )));
    }
    record.finish(&items, run.complete)?;
    let outcome = Value::object([
        ("snapshotId", run.snapshot_id.as_str().into()),
        ("pages", progress.page.into()),
        ("items", i64::try_from(progress.items).unwrap_or(i64::MAX).into()),
        ("accepted", progress.accepted.into()),
        ("rejected", progress.rejected.into()),
        ("removed", progress.removed.into()),
    ]);
    say(flags.json, &outcome, || {
        format!(
            "{} in {}: {} accepted, {} rejected, {} removed",
            count(progress.items, "item"),
            count(u64::try_from(progress.page).unwrap_or(0), "page"),
            progress.accepted,
            progress.rejected,
            progress.removed
        )
    });
    Ok(())
}

fn planned(plan: &SyncPlan) -> Value {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX).into();
    Value::object([
        ("dryRun", true.into()),
        ("items", number(plan.pushed.len() as u64)),
        ("removed", number(plan.removals)),
        ("removedItems", Value::List(plan.removed.iter().map(|name| name.to_string().into()).collect())),
    ])
}

fn plan_in_words(plan: &SyncPlan) -> String {
    let mut lines: Vec<_> = plan.pushed.iter().map(|name| format!("push    {name}")).collect();
    lines.extend(plan.removed.iter().map(|name| format!("remove  {name}")));
    let unnamed = plan.removals - plan.removed.len() as u64;
    if unnamed > 0 {
        lines.push(format!("remove  {} that this machine has not pushed", count(unnamed, "other item")));
    }
    let pushed = count(plan.pushed.len() as u64, "item");
    lines.push(format!("{pushed} would be pushed, {} removed, as far as known", plan.removals));
    lines.join("\n")
}

fn style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len}  {msg}  {eta} left");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Reads the pages of a folder.
async fn read(folder: &Path, state: &Path, origin: String) -> Result<Vec<ContentItem>, Failure> {
    let (root, state) = (folder.to_owned(), state.to_owned());
    let site = StaticSite::new(StaticSiteOptions { root, state, origin, template: None });
    let items = site.items().await;
    items.map_err(|failure| Failure::new(format!("cannot read {}: {}", folder.display(), failure.reason)))
}

fn listed(file: &Path) -> Result<Vec<ContentItem>, Failure> {
    let name = file.display();
    let source: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let opened =
            File::open(file).map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
        Box::new(BufReader::new(opened))
    };
    let mut items = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let line = line.map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let invalid =
            |problem: String| Failure::new(format!("invalid item in {name}, line {}: {problem}", index + 1));
        let value: Value = serde_json::from_str(&line).map_err(|error| invalid(error.to_string()))?;
        items.push(ContentItem::try_from(value).map_err(|error| invalid(error.to_string()))?);
    }
    Ok(items)
}
