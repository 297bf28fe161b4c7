//! The figures of a period: what the reports of the inbox are made of.

use std::collections::{BTreeMap, HashMap};

use chat_protocol::admin::{AnswerOutcome, HourCount, OutcomeCounts, PageCount, ReportDay, ReportTotals};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::db::{Db, DbError, Row, args};

/// Conversations of one read.
const BATCH: i64 = 1000;
/// Maximum pages of a report.
const MAX_PAGES: usize = 20;
/// Maximum distinct pages that are counted; further ones are not listed.
const MAX_COUNTED_PAGES: usize = 100_000;
/// The precision of the times of messages, in milliseconds: time zones differ by quarters of an hour.
const QUARTER_MS: i64 = 15 * 60 * 1000;

/// The conversations of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) tenant_id: &'a str,
    /// `None` for all sites.
    pub(crate) site_id: Option<&'a str>,
}

/// A conversation, as reports count it.
struct Counted {
    created_ms: i64,
    no: i64,
    by_ai: bool,
    by_person: bool,
    handed_off: bool,
    is_lead: bool,
    closed_ms: Option<i64>,
    first_response_ms: Option<i64>,
    first_person_response_ms: Option<i64>,
    page: Option<String>,
    unanswered: bool,
}

impl Counted {
    fn read(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            created_ms: row.int(0)?,
            no: row.int(1)?,
            by_ai: row.flag(2)?,
            by_person: row.flag(3)?,
            handed_off: row.flag(4)?,
            is_lead: row.flag(5)?,
            closed_ms: row.optional_int(6)?,
            first_response_ms: row.optional_int(7)?,
            first_person_response_ms: row.optional_int(8)?,
            page: row.optional_text(9)?,
            unanswered: row.int(10)? > 0,
        })
    }

    fn is_answered_by_ai(&self) -> bool {
        self.by_ai && !self.by_person
    }
}

/// Calls `count` with each conversation that began from `from_ms` until before `to_ms`.
async fn each(
    db: &Db,
    scope: Scope<'_>,
    (from_ms, to_ms): (i64, i64),
    mut count: impl FnMut(Counted),
) -> Result<(), DbError> {
    let sql = "SELECT created_ms, no, answered_by_ai, answered_by_person,
            CAST(CASE WHEN handed_off_ms IS NULL THEN 0 ELSE 1 END AS BIGINT), is_lead, closed_ms,
            first_response_ms, first_person_response_ms, substr(source_page, 1, 500),
            (SELECT count(*) FROM messages m WHERE m.conversation_no = conversations.no
                AND m.outcome IN ('could_not_answer', 'failed'))
        FROM conversations
        WHERE tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR site_id = $2)
            AND created_ms >= $3 AND created_ms < $4 AND (created_ms > $3 OR no > $5)
        ORDER BY created_ms, no LIMIT $6";
    let (mut after_ms, mut after_no) = (from_ms, -1);
    loop {
        let values = args![scope.tenant_id, scope.site_id, after_ms, to_ms, after_no, BATCH];
        let rows = db.all(sql, values).await?;
        for row in &rows {
            let conversation = Counted::read(row)?;
            (after_ms, after_no) = (conversation.created_ms, conversation.no);
            count(conversation);
        }
        if i64::try_from(rows.len()) != Ok(BATCH) {
            return Ok(());
        }
    }
}

/// The totals of a period while it is counted.
#[derive(Default)]
struct Totals {
    counts: ReportTotals,
    first_responses: Vec<i64>,
    first_person_responses: Vec<i64>,
    resolutions: Vec<i64>,
}

impl Totals {
    fn count(&mut self, conversation: &Counted) {
        let counts = &mut self.counts;
        counts.conversations += 1;
        counts.answered_by_ai += i64::from(conversation.is_answered_by_ai());
        counts.unanswered += i64::from(conversation.unanswered);
        counts.answered_by_person += i64::from(conversation.by_person);
        counts.handed_off += i64::from(conversation.handed_off);
        counts.leads += i64::from(conversation.is_lead);
        counts.closed += i64::from(conversation.closed_ms.is_some());
        self.first_responses.extend(conversation.first_response_ms);
        self.first_person_responses.extend(conversation.first_person_response_ms);
        self.resolutions.extend(conversation.closed_ms.map(|closed| closed - conversation.created_ms));
    }

    fn finish(mut self) -> ReportTotals {
        self.counts.first_response_ms = median(self.first_responses);
        self.counts.first_person_response_ms = median(self.first_person_responses);
        self.counts.resolution_ms = median(self.resolutions);
        self.counts
    }
}

/// Returns the median; the lower one of the two in the middle.
fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// The figures of a period.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) totals: ReportTotals,
    /// In their order, without those on which nothing happened.
    pub(crate) days: BTreeMap<Date, ReportDay>,
    pub(crate) pages: Vec<PageCount>,
}

/// Returns the figures of the conversations that began from `from_ms` until before `to_ms`.
pub(crate) async fn figures(
    db: &Db,
    scope: Scope<'_>,
    period: (i64, i64),
    zone: &TimeZone,
) -> Result<Figures, DbError> {
    let mut totals = Totals::default();
    let mut days: BTreeMap<Date, ReportDay> = BTreeMap::new();
    let mut pages: HashMap<String, i64> = HashMap::new();
    each(db, scope, period, |conversation| {
        totals.count(&conversation);
        if let Some(local) = local(conversation.created_ms, zone) {
            let day = days.entry(local.date()).or_default();
            day.conversations += 1;
            day.answered_by_ai += i64::from(conversation.is_answered_by_ai());
            day.unanswered += i64::from(conversation.unanswered);
            day.leads += i64::from(conversation.is_lead);
        }
        // The query and the fragment may hold the visitor's own data.
        let page = conversation.page.as_deref().and_then(|page| page.split(['?', '#']).next());
        if let Some(page) = page.filter(|page| !page.is_empty())
            && (pages.len() < MAX_COUNTED_PAGES || pages.contains_key(page))
        {
            *pages.entry(page.to_owned()).or_default() += 1;
        }
    })
    .await?;
    let mut pages: Vec<PageCount> =
        pages.into_iter().map(|(path, conversations)| PageCount { path, conversations }).collect();
    pages.sort_by(|one, other| (other.conversations, &one.path).cmp(&(one.conversations, &other.path)));
    pages.truncate(MAX_PAGES);
    Ok(Figures { totals: totals.finish(), days, pages })
}

/// Returns the totals of a period alone.
pub(crate) async fn totals(db: &Db, scope: Scope<'_>, period: (i64, i64)) -> Result<ReportTotals, DbError> {
    let mut totals = Totals::default();
    each(db, scope, period, |conversation| totals.count(&conversation)).await?;
    Ok(totals.finish())
}

/// Returns what became of the messages that the AI answered, in the conversations that began in a period.
pub(crate) async fn outcomes(
    db: &Db,
    scope: Scope<'_>,
    (from_ms, to_ms): (i64, i64),
) -> Result<OutcomeCounts, DbError> {
    let sql = "SELECT m.outcome, count(*) FROM conversations c JOIN messages m ON m.conversation_no = c.no
        WHERE c.tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR c.site_id = $2)
            AND c.created_ms >= $3 AND c.created_ms < $4 AND m.outcome IS NOT NULL
        GROUP BY 1";
    let mut counts = OutcomeCounts::default();
    for row in db.all(sql, args![scope.tenant_id, scope.site_id, from_ms, to_ms]).await? {
        let count = match AnswerOutcome::parse(&row.text(0)?) {
            Some(AnswerOutcome::Answered) => &mut counts.answered,
            Some(AnswerOutcome::SmallTalk) => &mut counts.small_talk,
            Some(AnswerOutcome::CouldNotAnswer) => &mut counts.could_not_answer,
            Some(AnswerOutcome::Refused) => &mut counts.refused,
            Some(AnswerOutcome::Failed) => &mut counts.failed,
            None => continue,
        };
        *count = row.int(1)?;
    }
    Ok(counts)
}

/// Returns how many messages visitors wrote in each hour of the week, in the conversations that began in a
/// period. Hours without one are missing.
pub(crate) async fn hours(
    db: &Db,
    scope: Scope<'_>,
    (from_ms, to_ms): (i64, i64),
    zone: &TimeZone,
) -> Result<Vec<HourCount>, DbError> {
    let sql =
        "SELECT m.created_ms / $5, count(*) FROM conversations c JOIN messages m ON m.conversation_no = c.no
        WHERE c.tenant_id = $1 AND (CAST($2 AS TEXT) IS NULL OR c.site_id = $2)
            AND c.created_ms >= $3 AND c.created_ms < $4 AND m.role = 'visitor'
        GROUP BY 1";
    let values = args![scope.tenant_id, scope.site_id, from_ms, to_ms, QUARTER_MS];
    let mut hours: BTreeMap<(u8, u8), i64> = BTreeMap::new();
    for row in db.all(sql, values).await? {
        if let Some(local) = local(row.int(0)?.saturating_mul(QUARTER_MS), zone) {
            let weekday = local.weekday().to_monday_one_offset().unsigned_abs();
            *hours.entry((weekday, local.hour().unsigned_abs())).or_default() += row.int(1)?;
        }
    }
    let count = |((weekday, hour), messages)| HourCount { weekday, hour, messages };
    Ok(hours.into_iter().map(count).collect())
}

fn local(time_ms: i64, zone: &TimeZone) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(time_ms).ok()?.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![7]), Some(7));
        assert_eq!(median(vec![9, 1]), Some(1));
        assert_eq!(median(vec![5, 100, 1, 2, 3]), Some(3));
    }
}
