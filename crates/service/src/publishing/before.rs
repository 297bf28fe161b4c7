//! The present state of a review's page: the page as the site has synced it, and the overlay that it has now.

use chat_page::{marked, without_marks};
use chat_protocol::admin::publishing::{Before, Entry, SyncedPage};
use chat_protocol::{ContentItem, PageHead};
use sqlx::AssertSqlSafe;

use super::reviews::{COLUMN_COUNT, COLUMNS, Review, ReviewKind, json, read};
use crate::db::{Db, DbError, Row, Tx, args};
use crate::text::to_text;

/// Maximum bytes of a page's text.
const MAX_TEXT_BYTES: usize = 32 * 1024;

/// A review with the present state of its page.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) review: Review,
    pub(super) before: Before,
}

impl Compared {
    /// Returns the entry that rules and checks look at.
    pub(super) fn entry(&self) -> Entry<'_> {
        let Self { review, before } = self;
        Entry {
            kind: review.kind.into(),
            path: &review.path,
            locale: &review.locale,
            body: &review.body,
            before,
        }
    }

    /// Reads a row for a person, who sees the text of every page.
    fn read(row: &Row) -> Result<Self, DbError> {
        Self::read_with(row, read(row)?, true)
    }

    /// Reads a row for the rules. Only an article is compared with the text, which takes long to read from
    /// HTML.
    fn read_for_rules(row: &Row) -> Result<Self, DbError> {
        let review = read(row)?;
        let has_text = review.kind == ReviewKind::Article;
        Self::read_with(row, review, has_text)
    }

    fn read_with(row: &Row, review: Review, has_text: bool) -> Result<Self, DbError> {
        let page = row.optional_text(COLUMN_COUNT)?.and_then(|item| page(&item, has_text));
        let overlay = row.optional_text(COLUMN_COUNT + 1)?.filter(|_| review.kind == ReviewKind::Overlay);
        let overlay = overlay.as_deref().map(json).unwrap_or_default();
        Ok(Self { review, before: Before { page, overlay } })
    }
}

/// Returns a query for reviews, each with the item of its path and the overlay that is published for it. The
/// page in the review's language comes first, another one is better than none.
fn select(rest: &str) -> AssertSqlSafe<String> {
    // SQLite knows the columns of the outer query in a condition, but not in an order.
    let page = "SELECT c.item FROM content c WHERE c.site_id = reviews.site_id AND c.location = reviews.path";
    AssertSqlSafe(format!(
        "SELECT {COLUMNS},
             coalesce(({page} AND c.locale = reviews.locale ORDER BY c.no LIMIT 1),
                 ({page} ORDER BY c.no LIMIT 1)),
             (SELECT o.body FROM reviews o WHERE o.site_id = reviews.site_id AND o.kind = 'overlay'
              AND o.path = reviews.path AND o.locale IN (reviews.locale, '') AND o.id <> reviews.id
              AND o.status IN ('queued', 'published') AND o.undoing = 0 ORDER BY o.no DESC LIMIT 1)
         FROM reviews WHERE site_id = $1 {rest}"
    ))
}

const ONE: &str = "AND id = $2";

/// Returns a review.
pub(super) async fn find(db: &Db, site_id: &str, id: &str) -> Result<Option<Compared>, DbError> {
    let row = db.optional(select(ONE), args![site_id, id]).await?;
    row.as_ref().map(Compared::read).transpose()
}

/// Returns a review, for the rules.
pub(super) async fn find_for_rules(
    tx: &mut Tx,
    site_id: &str,
    id: &str,
) -> Result<Option<Compared>, DbError> {
    let row = tx.optional(select(ONE), args![site_id, id]).await?;
    row.as_ref().map(Compared::read_for_rules).transpose()
}

/// Returns at most `limit` drafts for the rules, newest first, before the one with the number `before`.
pub(super) async fn drafts(
    db: &Db,
    site_id: &str,
    before: i64,
    limit: i64,
) -> Result<Vec<Compared>, DbError> {
    let sql = select("AND status = 'draft' AND no < $2 ORDER BY no DESC LIMIT $3");
    db.all(sql, args![site_id, before, limit]).await?.iter().map(Compared::read_for_rules).collect()
}

fn page(item: &str, has_text: bool) -> Option<SyncedPage> {
    let item = ContentItem::try_from(json(item)).ok()?;
    let text = |source: Option<&str>| {
        source.map(|source| without_marks(&marked(&to_text(source, item.format, MAX_TEXT_BYTES))))
    };
    Some(SyncedPage {
        title: item.title.clone(),
        description: text(item.summary.as_deref()),
        url: item.url.clone(),
        head: PageHead::of(&item.data),
        text: if has_text { text(item.content.as_deref()) } else { None },
        updated_at: item.updated_at.clone(),
    })
}
