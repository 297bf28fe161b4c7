//! The rules of a site: which entries are published automatically when they arrive.

mod dry_run;
mod matching;
#[cfg(test)]
mod rules_tests;

use std::time::Duration;

use chat_protocol::admin::publishing::{PublishingRule, PublishingRules, RuleAction};
use sqlx::AssertSqlSafe;

pub(super) use dry_run::dry_run;

use self::matching::decide;
use super::before::find_for_rules;
use super::jobs::{AUTOMATIC_COUNT, automatic_count};
use super::{By, Publishing, approve, reviews};
use crate::clock::millis;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;

/// The time in which automatic publications are counted.
const LIMIT_PERIOD: Duration = Duration::from_hours(1);
/// Maximum size of the stored rules, in bytes. The audit log keeps them before and after each change.
const MAX_BYTES: usize = 32 * 1024;

const COLUMNS: &str = "publishing, publishing_rules, publishing_limit, publishing_version";
const NO_SITE: ApiError = ApiError::NotFound("This site");

fn read(row: &Row) -> Result<PublishingRules, DbError> {
    let otherwise = match Publishing::from_setting(&row.text(0)?) {
        Publishing::Automatic => RuleAction::Publish,
        Publishing::SemiAutomatic => RuleAction::Review,
    };
    let rules = serde_json::from_str::<Vec<PublishingRule>>(&row.text(1)?);
    // Without the rules that should come first, nothing may be published automatically.
    let (rules, otherwise) =
        rules.map_or_else(|_| (Vec::new(), RuleAction::Review), |rules| (rules, otherwise));
    Ok(PublishingRules { version: row.int(3)?, rules, otherwise, hourly_limit: row.int(2)? })
}

/// Returns the rules of a site.
pub(super) async fn load(db: &Db, site_id: &str) -> Result<PublishingRules, ApiError> {
    let sql = format!("SELECT {COLUMNS} FROM sites WHERE id = $1");
    let row = db.optional(AssertSqlSafe(sql), args![site_id]).await?.ok_or(NO_SITE)?;
    Ok(read(&row)?)
}

/// Returns the rules of a site, which no other transaction changes or applies until this one ends.
async fn lock(tx: &mut Tx, site_id: &str) -> Result<PublishingRules, ApiError> {
    let sql = format!("UPDATE sites SET name = name WHERE id = $1 RETURNING {COLUMNS}");
    let row = tx.optional(AssertSqlSafe(sql), args![site_id]).await?.ok_or(NO_SITE)?;
    Ok(read(&row)?)
}

/// Replaces the rules of a site. Returns those before and those now.
pub(super) async fn replace(
    tx: &mut Tx,
    site_id: &str,
    rules: PublishingRules,
) -> Result<(PublishingRules, PublishingRules), ApiError> {
    let rules = rules.checked()?;
    let before = lock(tx, site_id).await?;
    if before.version != rules.version {
        let problem = "Somebody else has changed the rules since you opened them.";
        return Err(ApiError::Conflict(problem.to_owned()));
    }
    let json = serde_json::to_string(&rules.rules).map_err(|_| ApiError::Internal)?;
    if json.len() > MAX_BYTES {
        let problem = format!("rules must have at most {MAX_BYTES} bytes, got {}.", json.len());
        return Err(ApiError::InvalidRequest(problem));
    }
    let publishing = match rules.otherwise {
        RuleAction::Publish => Publishing::Automatic,
        RuleAction::Review => Publishing::SemiAutomatic,
    };
    let version = before.version.saturating_add(1);
    let sql = "UPDATE sites SET publishing = $1, publishing_rules = $2, publishing_limit = $3,
                   publishing_version = $4 WHERE id = $5";
    tx.execute(sql, args![publishing.as_str(), json, rules.hourly_limit, version, site_id]).await?;
    Ok((before, PublishingRules { version, ..rules }))
}

fn since(now_ms: i64) -> i64 {
    now_ms.saturating_sub(millis(LIMIT_PERIOD))
}

/// Returns the number of entries that rules may publish now.
async fn publications_left(
    db: &Db,
    now_ms: i64,
    site_id: &str,
    rules: &PublishingRules,
) -> Result<i64, DbError> {
    let published = db.one(AUTOMATIC_COUNT, args![site_id, since(now_ms)]).await?.int(0)?;
    Ok(rules.hourly_limit.saturating_sub(published))
}

/// The rules of a site in a transaction, which no other transaction changes or applies until it ends.
#[derive(Debug)]
pub(super) struct SiteRules {
    rules: PublishingRules,
    /// The number of entries that may be published.
    left: i64,
}

impl SiteRules {
    /// Returns the rules of a site. Transactions that apply them run one after the other, so that their
    /// publications are counted.
    pub(super) async fn lock(tx: &mut Tx, now_ms: i64, site_id: &str) -> Result<Self, ApiError> {
        let rules = lock(tx, site_id).await?;
        let published = automatic_count(tx, site_id, since(now_ms)).await?;
        let left = rules.hourly_limit.saturating_sub(published);
        Ok(Self { rules, left })
    }

    fn may_publish(&self) -> bool {
        let mut rules = self.rules.rules.iter().filter(|rule| !rule.disabled);
        self.rules.otherwise == RuleAction::Publish || rules.any(|rule| rule.action == RuleAction::Publish)
    }

    /// Publishes a draft, or stores why it waits.
    pub(super) async fn apply(
        &mut self,
        tx: &mut Tx,
        now_ms: i64,
        site_id: &str,
        id: &str,
    ) -> Result<(), ApiError> {
        // Without such a rule everything waits, and nobody asks why.
        if !self.may_publish() {
            return Ok(());
        }
        let Some(compared) = find_for_rules(tx, site_id, id).await? else { return Ok(()) };
        let decision = decide(&self.rules, &compared.entry(), self.left > 0);
        match decision.action {
            RuleAction::Publish => {
                approve(tx, now_ms, site_id, id, By::Rule(decision.rule.as_deref())).await?;
                self.left -= 1;
            }
            RuleAction::Review => reviews::set_decision(tx, site_id, id, &decision).await?,
        }
        Ok(())
    }
}
