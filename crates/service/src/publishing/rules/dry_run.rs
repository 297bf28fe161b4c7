//! The decisions of rules, saved or not, about the entries that wait now.

use chat_protocol::admin::publishing::{Decision, DryRun, DryRunItem, PublishingRules, Reason, RuleAction};

use super::matching::decide;
use super::publications_left;
use crate::Service;
use crate::error::ApiError;
use crate::publishing::before::{Compared, drafts};

/// Maximum entries that are looked at.
const MAX_ENTRIES: usize = 1000;
/// Entries that are read at a time, with the content of their pages.
const BATCH: i64 = 50;
/// Maximum entries of the response.
const MAX_SHOWN: usize = 50;

/// Decides about the entries that wait, newest first. Nothing is changed. It is a long read: see
/// [`crate::long_reads`].
pub(in crate::publishing) async fn dry_run(
    service: &Service,
    site_id: &str,
    rules: PublishingRules,
) -> Result<DryRun, ApiError> {
    let rules = rules.checked()?;
    let db = &service.db().for_long_reads();
    let mut left = publications_left(db, service.now_ms(), site_id, &rules).await?;
    let mut run = DryRun::default();
    let (mut before, mut seen) = (i64::MAX, 0);
    loop {
        let batch = drafts(db, site_id, before, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(run) };
        if seen >= MAX_ENTRIES {
            run.has_more = true;
            return Ok(run);
        }
        seen += batch.len();
        before = last.review.no;
        let deciding = rules.clone();
        let decided = service.run_blocking(move || decide_batch(&deciding, batch, left)).await?;
        for item in decided {
            let count = match (item.decision.action, item.decision.reason) {
                (RuleAction::Publish, _) => {
                    left -= 1;
                    &mut run.publishes
                }
                (RuleAction::Review, Reason::Rule | Reason::Composed) => &mut run.reviews,
                (RuleAction::Review, Reason::Problem) => &mut run.problems,
                (RuleAction::Review, Reason::Limit) => &mut run.over_limit,
            };
            *count += 1;
            if run.items.len() < MAX_SHOWN {
                run.items.push(item);
            }
        }
    }
}

fn decide_batch(rules: &PublishingRules, batch: Vec<Compared>, mut left: i64) -> Vec<DryRunItem> {
    let decided = batch.into_iter().map(|compared| {
        let decision = decide(rules, &compared.entry(), left > 0);
        left -= i64::from(decision.action == RuleAction::Publish);
        item(compared, decision)
    });
    decided.collect()
}

fn item(Compared { review, .. }: Compared, decision: Decision) -> DryRunItem {
    DryRunItem {
        id: review.id,
        kind: review.kind.into(),
        path: review.path,
        locale: review.locale,
        title: review.title,
        decision,
    }
}
