//! Checks of a service's database, and of what its sites need.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use sqlx::{ConnectOptions, Connection};

use super::key_check;
use crate::ai::{self, Ai, Probed};
use crate::db::migrations::{current_version, version_of_postgres, version_of_sqlite};
use crate::db::{Db, DbError, args, is_postgres, postgres, sqlite};
use crate::sites::{self, Site};
use crate::storage;
use crate::{ServiceKey, StorageBudgets};

/// The difference between the clocks of this machine and of the database that is reported.
const MAX_CLOCK_DIFFERENCE_MS: i64 = 5_000;
const MEBIBYTE: u64 = 1024 * 1024;
/// Maximum AI endpoints that are asked.
const MAX_ENDPOINTS: usize = 20;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check, in one or two words.
    pub subject: &'static str,
    /// Whether something is to be done.
    pub level: Level,
    /// The finding, and the advice that follows from it.
    pub text: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is to be done.
    Ok,
    /// The service runs, but something needs attention.
    Warning,
    /// The service does not run, or not as it should.
    Error,
}

impl Finding {
    /// Returns a finding that needs nothing.
    pub fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self { subject, level: Level::Ok, text: text.into() }
    }

    /// Returns a finding that needs attention.
    pub fn warning(subject: &'static str, text: impl Into<String>) -> Self {
        Self { subject, level: Level::Warning, text: text.into() }
    }

    /// Returns a finding that has to be repaired.
    pub fn error(subject: &'static str, text: impl Into<String>) -> Self {
        Self { subject, level: Level::Error, text: text.into() }
    }
}

/// Checks a database without changing it: that it can be read, its schema, its integrity and its clock.
/// Returns whether the schema is of this version as well.
pub async fn check_database(address: &str) -> (Vec<Finding>, bool) {
    let checked =
        if is_postgres(address) { check_postgres(address).await } else { check_sqlite(address).await };
    match checked {
        Ok((version, mut findings)) => {
            let (finding, is_current) = judge(version);
            findings.push(finding);
            (findings, is_current)
        }
        Err(finding) => (vec![finding], false),
    }
}

async fn check_sqlite(address: &str) -> Result<(i64, Vec<Finding>), Finding> {
    let path = Path::new(address);
    if !path.exists() {
        return Err(Finding::warning(
            "database",
            format!("there is none at {address} yet: the first start of `site-connector serve` creates it"),
        ));
    }
    let unreadable =
        |error: sqlx::Error| Finding::error("database", format!("cannot read {address}: {error}"));
    let mut connection = sqlite::options(path).connect().await.map_err(unreadable)?;
    let checked = async {
        let problem: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut connection).await?;
        Ok((version_of_sqlite(&mut connection).await?, problem))
    };
    let (version, problem) = checked.await.map_err(unreadable)?;
    let _ = connection.close().await;
    let integrity = match problem.as_str() {
        "ok" => Finding::ok("integrity", format!("{address} is whole")),
        problem => Finding::error(
            "integrity",
            format!("{address} is damaged ({problem}): stop the service, and restore the last backup"),
        ),
    };
    Ok((version, vec![integrity]))
}

async fn check_postgres(address: &str) -> Result<(i64, Vec<Finding>), Finding> {
    let unreachable =
        |error: String| Finding::error("database", format!("PostgreSQL does not answer: {error}"));
    let options = postgres::options(address).map_err(|error| unreachable(error.to_string()))?;
    let mut connection = options.connect().await.map_err(|error| unreachable(error.to_string()))?;
    let asked = async {
        let server: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut connection).await?;
        let encoding: String = sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut connection).await?;
        let clock = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
        let theirs: i64 = sqlx::query_scalar(clock).fetch_one(&mut connection).await?;
        let ours = Timestamp::now().as_millisecond();
        Ok::<_, sqlx::Error>((version_of_postgres(&mut connection).await?, server, encoding, ours - theirs))
    };
    let (version, server, encoding, difference) =
        asked.await.map_err(|error| unreachable(error.to_string()))?;
    let _ = connection.close().await;
    let encoding = match encoding.as_str() {
        "UTF8" => Finding::ok("server", format!("PostgreSQL {server}, UTF8")),
        other => Finding::error(
            "server",
            format!("the database's encoding is {other}: create the database with ENCODING 'UTF8'"),
        ),
    };
    let clock = if difference.abs() <= MAX_CLOCK_DIFFERENCE_MS {
        Finding::ok("clock", format!("{} ms from the database's", difference.abs()))
    } else {
        let seconds = difference / 1000;
        Finding::error(
            "clock",
            format!(
                "this machine is {seconds} s ahead of the database: set both by NTP, or leases of jobs overlap"
            ),
        )
    };
    Ok((version, vec![encoding, clock]))
}

fn judge(version: i64) -> (Finding, bool) {
    let current = current_version();
    let finding = match version {
        0 => Finding::warning(
            "schema",
            "the database is empty: the first start of `site-connector serve` fills it",
        ),
        _ if version < current => Finding::warning(
            "schema",
            format!("version {version}; the next start migrates it to {current}: make a backup first"),
        ),
        _ if version > current => Finding::error(
            "schema",
            format!("version {version} is newer than this program ({current}): use the newer program"),
        ),
        _ => Finding::ok("schema", format!("version {version}")),
    };
    (finding, version == current)
}

/// Checks what is stored in a database of this version: that the key belongs to it, that it is not
/// from the future, how much its sites store, and that the AI endpoints of its sites answer a question.
/// `allows_private_ai` is the service's setting.
pub async fn check_service(
    address: &str,
    key: Option<&ServiceKey>,
    budgets: &StorageBudgets,
    allows_private_ai: bool,
) -> Vec<Finding> {
    let db = match Db::open_beside(address, Arc::new(|_| {})).await {
        Ok(db) => db,
        Err(error) => return vec![Finding::error("database", error.to_string())],
    };
    let mut findings = Vec::new();
    match check_contents(&db, key).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::error("database", format!("cannot be read: {error}"))),
    }
    match storage::fullest(&db, budgets).await {
        Ok(fullest) => findings.extend(fullest.into_iter().map(|full| {
            let (stored, budget) = (full.bytes / MEBIBYTE, full.budget / MEBIBYTE);
            Finding::warning(
                "storage",
                format!(
                    "{} {} stores {stored} of {budget} MiB: delete something, or raise the budget",
                    full.kind, full.name
                ),
            )
        })),
        Err(error) => findings.push(Finding::error("storage", format!("cannot be counted: {error}"))),
    }
    match sites::list(&db, None).await {
        Ok(sites) => {
            let ai = Ai::new(allows_private_ai);
            let sites = sites.into_iter().filter(|site| site.is_active() && site.ai.is_some());
            for site in sites.take(MAX_ENDPOINTS) {
                findings.push(check_endpoint(&ai, key, &site).await);
            }
        }
        Err(error) => findings.push(Finding::error("AI", format!("the sites cannot be read: {error:?}"))),
    }
    db.close().await;
    findings
}

async fn check_contents(db: &Db, key: Option<&ServiceKey>) -> Result<Vec<Finding>, DbError> {
    let mut findings = Vec::new();
    if let Some(key) = key {
        findings.push(match key_check::stored(db).await? {
            Some(value) if !key_check::is_sealed_by(key, &value) => Finding::error(
                "key",
                "the key file does not belong to this database: use the one that was created with it",
            ),
            _ => Finding::ok("key", "belongs to this database"),
        });
    }
    let newest = "SELECT CAST(coalesce(max(created_ms), 0) AS BIGINT) FROM tenants";
    let newest = db.one(newest, args![]).await?.int(0)?;
    let ahead_ms = newest - Timestamp::now().as_millisecond();
    if ahead_ms > MAX_CLOCK_DIFFERENCE_MS {
        findings.push(Finding::error(
            "clock",
            format!(
                "the newest tenant was created {} s in the future: this machine's clock is wrong",
                ahead_ms / 1000
            ),
        ));
    }
    Ok(findings)
}

/// Asks the AI endpoint of a site a question, as a visitor does.
async fn check_endpoint(ai: &Ai, key: Option<&ServiceKey>, site: &Site) -> Finding {
    let settings = site.ai.clone().unwrap_or_default();
    let (base, model) = (&settings.base, &settings.model);
    let subject = format!("{base} (site {}, model {model})", site.name);
    let Some(key) = key else {
        return Finding::warning(
            "AI",
            format!("{subject} is not asked: its key cannot be read without the key file"),
        );
    };
    let endpoint = match ai::reply::endpoint(key, site) {
        Some(Ok(endpoint)) => endpoint,
        Some(Err(error)) => {
            return Finding::error("AI", format!("{subject}: its key cannot be read: {error}"));
        }
        None => return Finding::ok("AI", "the built-in assistant"),
    };
    let began = Instant::now();
    match ai.probe(&endpoint, &site.name).await {
        Probed::Answers(text) => {
            let ms = began.elapsed().as_millis();
            Finding::ok("AI", format!("{subject} answers in {ms} ms: {text}"))
        }
        Probed::Fails(problem) => Finding::error(
            "AI",
            format!("{subject} gives no answer: {problem}; visitors get a fallback text until it does"),
        ),
        Probed::Refuses(problem) => Finding::error(
            "AI",
            format!(
                "{subject} refuses: {problem}; correct the site's settings, visitors get a fallback text"
            ),
        ),
    }
}
