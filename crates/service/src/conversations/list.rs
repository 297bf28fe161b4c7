//! The lists of the inbox: views, filters, search and counts.

use std::fmt::Write;

use chat_protocol::ConversationId;
use chat_protocol::admin::{ConversationCounts, ConversationView};

use super::search_text::patterns;
use super::summary::{Listed, select};
use super::{Conversation, MIN_WAITING_KEY, NO_CONVERSATION, Status, read};
use crate::db::{Arg, Db, DbError, args};
use crate::error::ApiError;
use crate::knowledge::search_index::{SearchTable, message_query};

/// Maximum number that a view's count says.
const MAX_COUNT: i64 = 1000;
/// Maximum sites whose messages are searched.
const MAX_SITES: i64 = 500;

/// The conversations to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) view: ConversationView,
    /// The operator who asks.
    pub(crate) operator_id: String,
    pub(crate) site_id: Option<String>,
    pub(crate) status: Option<Status>,
    /// An operator's id; an empty text is nobody.
    pub(crate) assignee: Option<String>,
    /// The id of a label.
    pub(crate) label: Option<String>,
    pub(crate) visitor_no: Option<i64>,
    /// Only conversations that contain these words: in their messages, their notes or their visitor's name
    /// and contact details, or as their id.
    pub(crate) words: Option<String>,
    /// The place after which the page begins: `sort_key` and `no` of the last one of the page before.
    pub(crate) before: Option<(i64, i64)>,
    pub(crate) limit: i64,
}

impl Filter {
    /// Returns whether a page is read from the index of its view. Other filters look at every conversation
    /// of the view until the page is full.
    pub(crate) fn is_indexed(&self) -> bool {
        let Self { site_id, status, assignee, label, words, .. } = self;
        [site_id, assignee, label, words].iter().all(|filter| filter.is_none()) && status.is_none()
    }
}

/// The conditions of a query, with their arguments.
#[derive(Clone)]
struct Conditions {
    sql: String,
    values: Vec<Arg>,
}

impl Conditions {
    /// Begins with the conversations of a tenant. Those of sites that are being deleted do not exist.
    ///
    /// The query does not join the sites: PostgreSQL would guess that few conversations are left, and sort a
    /// whole view instead of reading the index in its order.
    async fn of_tenant(db: &Db, tenant_id: &str) -> Result<Self, DbError> {
        let mut conditions = Self { sql: "WHERE c.tenant_id = $1".to_owned(), values: args![tenant_id] };
        let sql = "SELECT id FROM sites WHERE tenant_id = $1 AND deleted_ms IS NOT NULL";
        for row in db.all(sql, args![tenant_id]).await? {
            let site = conditions.bind(row.text(0)?);
            conditions.and(&format!("c.site_id <> {site}"));
        }
        Ok(conditions)
    }

    /// Adds an argument, and returns its place.
    fn bind(&mut self, value: impl Into<Arg>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    fn and(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Adds the condition of a view. Each has an index of its own: see the migration `inbox`.
    fn in_view(&mut self, view: ConversationView, operator_id: &str, now_ms: i64) {
        match view {
            ConversationView::All => return,
            ConversationView::Closed => return self.and("c.status = 'closed'"),
            ConversationView::Snoozed => {
                let now = self.bind(now_ms);
                return self.and(&format!("c.snoozed_until_ms > 0 AND c.snoozed_until_ms > {now}"));
            }
            ConversationView::Open => {}
            ConversationView::Mine => {
                let me = self.bind(operator_id);
                self.and(&format!("c.assignee_id IS NOT NULL AND c.assignee_id = {me}"));
            }
            ConversationView::Unassigned => self.and("c.assignee_id IS NULL"),
            ConversationView::Waiting => {
                self.and(&format!("c.status = 'waiting' AND c.sort_key > {MIN_WAITING_KEY}"));
            }
        }
        let now = self.bind(now_ms);
        self.and(&format!("c.status <> 'closed' AND c.snoozed_until_ms <= {now}"));
    }

    async fn contains(
        &mut self,
        db: &Db,
        tenant_id: &str,
        filter: &Filter,
        words: &str,
    ) -> Result<(), DbError> {
        let sites = match &filter.site_id {
            Some(site) => vec![site.clone()],
            None => sites(db, tenant_id).await?,
        };
        let id = self.bind(words.trim());
        let patterns: Vec<String> = patterns(words).into_iter().map(|pattern| self.bind(pattern)).collect();
        let all_in = |column: &str| {
            let each = patterns.iter().map(|pattern| format!("{column} LIKE {pattern} ESCAPE '!'"));
            each.collect::<Vec<_>>().join(" AND ")
        };
        let mut found = format!("c.id = {id}");
        if !patterns.is_empty() {
            let (of_visitor, of_note) = (all_in("c.search_text"), all_in("n.search_text"));
            let _ = write!(
                found,
                " OR ({of_visitor}) OR EXISTS
                 (SELECT 1 FROM notes n WHERE n.conversation_no = c.no AND n.kind = 'note' AND {of_note})"
            );
        }
        if let Some(query) = message_query(db.dialect(), &sites, words) {
            let query = self.bind(query);
            let matching = SearchTable::Messages.matching(db.dialect(), 0).replace("$0", &query);
            found.push_str(" OR c.no IN (SELECT m.conversation_no FROM messages m JOIN (");
            found.push_str(&matching);
            found.push_str(") found ON found.no = m.no)");
        }
        self.and(&format!("({found})"));
        Ok(())
    }
}

async fn sites(db: &Db, tenant_id: &str) -> Result<Vec<String>, DbError> {
    let sql = "SELECT id FROM sites WHERE tenant_id = $1 AND deleted_ms IS NULL ORDER BY id LIMIT $2";
    let rows = db.all(sql, args![tenant_id, MAX_SITES]).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Returns conversations of a tenant: those that wait for a person first, the longest waiting at the top,
/// then by their last message, newest first.
pub(crate) async fn list(
    db: &Db,
    now_ms: i64,
    tenant_id: &str,
    filter: &Filter,
) -> Result<Vec<Listed>, ApiError> {
    let (rest, values) = query(db, now_ms, tenant_id, filter).await?;
    let rows = db.all(select(&rest), values).await?;
    Ok(rows.iter().map(Listed::read).collect::<Result<_, _>>()?)
}

/// Returns the conditions and the order of a list, with their arguments.
async fn query(
    db: &Db,
    now_ms: i64,
    tenant_id: &str,
    filter: &Filter,
) -> Result<(String, Vec<Arg>), DbError> {
    let mut conditions = Conditions::of_tenant(db, tenant_id).await?;
    conditions.in_view(filter.view, &filter.operator_id, now_ms);
    if let Some(site) = &filter.site_id {
        let site = conditions.bind(site);
        conditions.and(&format!("c.site_id = {site}"));
    }
    if let Some(status) = filter.status {
        conditions.and(&format!("c.status = '{}'", status.as_str()));
    }
    match filter.assignee.as_deref() {
        None => {}
        Some("") => conditions.and("c.assignee_id IS NULL"),
        Some(operator) => {
            let operator = conditions.bind(operator);
            conditions.and(&format!("c.assignee_id = {operator}"));
        }
    }
    if let Some(label) = &filter.label {
        let label = conditions.bind(label);
        let labelled = "SELECT 1 FROM conversation_labels l WHERE l.conversation_no = c.no AND l.label_id =";
        conditions.and(&format!("EXISTS ({labelled} {label})"));
    }
    if let Some(visitor) = filter.visitor_no {
        let visitor = conditions.bind(visitor);
        conditions.and(&format!("c.visitor_no = {visitor}"));
    }
    if let Some(words) = filter.words.as_deref().filter(|words| !words.trim().is_empty()) {
        conditions.contains(db, tenant_id, filter, words).await?;
    }
    if let Some((key, no)) = filter.before {
        let (key, no) = (conditions.bind(key), conditions.bind(no));
        conditions.and(&format!("c.sort_key <= {key} AND (c.sort_key < {key} OR c.no < {no})"));
    }
    let limit = conditions.bind(filter.limit);
    let rest = format!("{} ORDER BY c.sort_key DESC, c.no DESC LIMIT {limit}", conditions.sql);
    Ok((rest, conditions.values))
}

/// Returns the number of conversations in each view, at most [`MAX_COUNT`] each.
pub(crate) async fn counts(
    db: &Db,
    now_ms: i64,
    tenant_id: &str,
    operator_id: &str,
) -> Result<ConversationCounts, ApiError> {
    let mut numbers = [0; 5];
    let views = [
        ConversationView::Mine,
        ConversationView::Unassigned,
        ConversationView::Open,
        ConversationView::Waiting,
        ConversationView::Snoozed,
    ];
    let mut unread = 0;
    let of_tenant = Conditions::of_tenant(db, tenant_id).await?;
    for (number, view) in numbers.iter_mut().zip(views) {
        let mut conditions = of_tenant.clone();
        conditions.in_view(view, operator_id, now_ms);
        let limit = conditions.bind(MAX_COUNT);
        let sql = format!(
            "SELECT count(*), CAST(coalesce(sum(counted.unread), 0) AS BIGINT) FROM
             (SELECT c.unread AS unread FROM conversations c {} ORDER BY c.sort_key DESC LIMIT {limit}) AS counted",
            conditions.sql
        );
        let row = db.one(sqlx::AssertSqlSafe(sql), conditions.values).await?;
        *number = row.int(0)?;
        if matches!(view, ConversationView::Mine | ConversationView::Unassigned) {
            unread += row.int(1)?;
        }
    }
    let [mine, unassigned, open, waiting, snoozed] = numbers;
    Ok(ConversationCounts { mine, unassigned, open, waiting, snoozed, unread })
}

/// Returns a conversation of a tenant; one of another tenant does not exist.
pub(crate) async fn of_tenant(
    db: &Db,
    tenant_id: &str,
    id: &ConversationId,
) -> Result<Conversation, ApiError> {
    let sql =
        "JOIN sites s ON s.id = c.site_id WHERE c.id = $1 AND s.tenant_id = $2 AND s.deleted_ms IS NULL";
    let row = db.optional(super::select(sql), args![id, tenant_id]).await?;
    Ok(read(&row.ok_or(NO_CONVERSATION)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::Dialect;
    use crate::visitors::fixture::{execute, open};

    /// Adds 10,000 conversations of the site `shop` in all states.
    async fn fill(db: &Db) {
        let sql = "INSERT INTO conversations (id, site_id, tenant_id, status, created_ms, updated_ms, waiting_since_ms)
            SELECT 'conv_' || i, 'shop', 'acme',
                CASE i % 5 WHEN 0 THEN 'open' WHEN 1 THEN 'waiting' ELSE 'closed' END, i, i,
                CASE i % 5 WHEN 1 THEN i END
            FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i FROM n) numbers";
        execute(db, sql, args![]).await;
        execute(db, "ANALYZE conversations", args![]).await;
    }

    on_both_databases! {
        async fn every_page_of_10_000_conversations_is_read_from_an_index(database: &TestDatabase) {
            let db = open(database).await;
            fill(&db).await;
            for view in ConversationView::ALL {
                for before in [None, Some((5000, 5000))] {
                    let filter = Filter { view, before, operator_id: "o".to_owned(), limit: 50, ..Filter::default() };
                    let (rest, values) = query(&db, 1, "acme", &filter).await.expect("a query");
                    let explain = match db.dialect() {
                        Dialect::Sqlite => "EXPLAIN QUERY PLAN",
                        Dialect::Postgres => "EXPLAIN",
                    };
                    let sql = format!("{explain} SELECT c.no FROM conversations c {rest}");
                    let rows = db.all(sqlx::AssertSqlSafe(sql), values).await.expect("a plan");
                    let column = if db.dialect() == Dialect::Sqlite { 3 } else { 0 };
                    let plan: Vec<String> =
                        rows.iter().map(|row| row.text(column).expect("text")).collect();
                    let plan = plan.join("\n");
                    assert!(plan.contains("conversations_"), "{view:?}: {plan}");
                    for slow in ["SCAN c", "TEMP B-TREE", "Seq Scan on conversations", "Sort"] {
                        assert!(!plan.contains(slow), "{view:?}: {plan}");
                    }
                }
            }
        }
    }
}
