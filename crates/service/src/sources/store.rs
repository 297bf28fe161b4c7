//! The end of a run: makes content of the pages that it has read, and removes what is gone.
//!
//! It is computed from what is stored, so that it can be interrupted and begin anew. Pages that have not
//! changed cost no write.

use std::collections::HashSet;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_page::{SitePage, leave_out_repeated};
use chat_protocol::admin::settings::SkipReason;
use chat_protocol::{ContentItem, ContentKind, TextFormat, is_language_tag};
use reqwest::Url;
use tracing::info;

use super::outdated;
use super::queue;
use super::records::finish;
use super::stored_page::StoredPage;
use super::visit::{Stopped, Visit};
use crate::content::{ReadPage, backfill_keys, prepare, put_read};
use crate::db::{DbError, Tx, args, transaction, work};
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::storage::{self, Class};

/// Maximum rows of a transaction.
const BATCH: usize = 50;
/// Maximum bytes of pages that are compared with each other at a time.
const MAX_COMPARED_BYTES: usize = 32 * 1024 * 1024;

/// A page of the run.
#[derive(Debug)]
struct Row {
    no: i64,
    address: String,
    key: String,
    stored: Option<String>,
}

/// A page with its content.
#[derive(Debug)]
struct Changed {
    page: ReadPage,
    hash: String,
}

/// The pages of a group, as they are to be stored.
#[derive(Debug, Default)]
struct Group {
    changed: Vec<Changed>,
    /// The pages whose text another one has.
    duplicates: Vec<i64>,
}

/// Stores the pages, and ends the run.
pub(super) async fn store(visit: &Visit<'_>) -> Result<(), Stopped> {
    let (db, source) = (visit.service.db(), &visit.source);
    backfill_keys(db, &source.site_id).await?;
    let read = queue::count_read(db, &source.lease.source_id, source.run).await?;
    outdated::remove(visit).await?;
    let mut texts: HashSet<Fingerprint> = HashSet::new();
    let (mut after, mut problem, mut stored) = (0, source.problem, 0);
    loop {
        let (rows, pages) = load(visit, &mut after).await?;
        if rows.is_empty() {
            break;
        }
        let scope = visit.scope.clone();
        let work = move || {
            let group = group(rows, pages, &mut texts, |url| scope.path_key(url));
            (group, texts)
        };
        let done = visit.service.run_blocking(work).await?;
        texts = done.1;
        for batch in done.0.duplicates.chunks(BATCH) {
            let batch = batch.to_vec();
            visit.change(work!(|tx| mark_duplicates(tx, &batch).await)).await?;
        }
        let mut changed = done.0.changed;
        stored += changed.len();
        while !changed.is_empty() && problem != Some(SkipReason::Storage) {
            let batch = changed.drain(..changed.len().min(BATCH)).collect();
            if !put(visit, batch).await? {
                problem = Some(SkipReason::Storage);
            }
        }
    }
    info!(source = source.lease.source_id, pages = read, changed = stored, "read a website");
    // A website of which there is nothing was not read, whatever the reason.
    let failure = match queue::first_reason(db, &source.lease.source_id, source.run).await? {
        Some(SkipReason::Duplicate) => None,
        reason => Some(reason.or(problem).unwrap_or(SkipReason::Empty)).filter(|_| read == 0),
    };
    finish(visit.service, &visit.tenant_id, source, failure, problem).await?;
    Ok(())
}

/// Reads the next pages of the run, at most as many as are compared at a time.
async fn load(visit: &Visit<'_>, after: &mut i64) -> Result<(Vec<Row>, Vec<Vec<u8>>), Stopped> {
    let (mut rows, mut pages, mut bytes) = (Vec::new(), Vec::new(), 0);
    let limit = i64::try_from(BATCH).unwrap_or_default();
    loop {
        let sql = "SELECT no, address, address_key, stored, page FROM source_pages WHERE source_id = $1
                       AND run = $2 AND state = 'read' AND no > $3 ORDER BY no LIMIT $4";
        let values = args![&visit.source.lease.source_id, visit.source.run, *after, limit];
        let found = visit.service.db().all(sql, values).await?;
        let is_last = found.len() < BATCH;
        for row in found {
            let packed = row.optional_bytes(4)?.unwrap_or_default();
            *after = row.int(0)?;
            let unpacked = packed.clone();
            bytes += packed.len();
            bytes += visit.blocking(move || StoredPage::unpack(&unpacked).memory()).await.unwrap_or_default();
            rows.push(Row {
                no: row.int(0)?,
                address: row.text(1)?,
                key: row.text(2)?,
                stored: row.optional_text(3)?,
            });
            pages.push(packed);
            if bytes >= MAX_COMPARED_BYTES {
                return Ok((rows, pages));
            }
        }
        if is_last {
            return Ok((rows, pages));
        }
    }
}

/// Leaves out what repeats on the pages of a group, and returns those whose content has changed.
fn group(
    rows: Vec<Row>,
    pages: Vec<Vec<u8>>,
    texts: &mut HashSet<Fingerprint>,
    path_key: impl Fn(&Url) -> Option<String>,
) -> Group {
    let mut read: Vec<(Row, Url)> = Vec::new();
    let mut site: Vec<SitePage> = Vec::new();
    for (row, packed) in rows.into_iter().zip(pages) {
        let Ok(url) = Url::parse(&row.address) else { continue };
        let path =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        site.push(StoredPage::unpack(&packed).into_page(path));
        read.push((row, url));
    }
    leave_out_repeated(&mut site);
    let mut all: Vec<((Row, Url), SitePage)> = read.into_iter().zip(site).collect();
    // Of several pages with one text, that with the shortest address stays.
    all.sort_by_key(|((row, _), page)| (page.path.matches('/').count(), row.address.len(), row.no));
    let mut group = Group::default();
    for ((row, url), SitePage { page, .. }) in all {
        let text = page.text();
        if !texts.insert(fingerprint(&[text.as_bytes()])) {
            group.duplicates.push(row.no);
            continue;
        }
        let item = ContentItem {
            url: Some(row.address.clone()),
            locale: page.head.language.clone().filter(|language| is_language_tag(language)),
            title: page.head.title.clone(),
            summary: page.head.description.clone(),
            content: Some(text),
            format: Some(TextFormat::Text),
            ..ContentItem::new(row.address.clone(), ContentKind::Page)
        };
        let Some(item) = prepare(vec![item]).pop() else { continue };
        let page = ReadPage { no: row.no, address_key: row.key, path_key: path_key(&url), item };
        let hash = BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[page.body().as_bytes()]));
        if row.stored.as_deref() != Some(&hash) {
            group.changed.push(Changed { page, hash });
        }
    }
    group
}

async fn mark_duplicates(tx: &mut Tx, pages: &[i64]) -> Result<(), DbError> {
    for no in pages {
        queue::skip(tx, *no, SkipReason::Duplicate).await?;
    }
    Ok(())
}

/// Stores pages. Returns false, and stores none of them, if the site has no space for them.
async fn put(visit: &Visit<'_>, batch: Vec<Changed>) -> Result<bool, Stopped> {
    let site_id = visit.source.site_id.clone();
    let room = storage::room(visit.service, &visit.tenant_id, &site_id, Class::Bulk).await?;
    let needed = batch.iter().fold(0, |all: u64, changed| all.saturating_add(changed.page.stored_bytes()));
    storage::expect(visit.service, &visit.tenant_id, &site_id, needed.min(room.bytes));
    let (now_ms, left, full) = (visit.service.now_ms(), room.bytes, room);
    let lease = visit.source.lease.clone();
    let done: Result<(), Refused> = transaction!(visit.service.db(), |tx| {
        // As in a sync: one change of a site's content at a time.
        tx.execute("UPDATE sites SET name = name WHERE id = $1", args![&site_id]).await?;
        if !lease.renew(tx, now_ms).await? {
            return Err(Refused::Lost);
        }
        // Pages replace others, so that only the database knows by how much the site grows.
        let max = if needed > left { Some(storage::used(tx, &site_id).await? + left) } else { None };
        for Changed { page, hash } in &batch {
            // The page is changed before its content, in the order of all other changes.
            let sql = "UPDATE source_pages SET stored = $2 WHERE no = $1";
            tx.execute(sql, args![page.no, hash]).await?;
            if !put_read(tx, now_ms, &site_id, page).await? {
                queue::skip(tx, page.no, SkipReason::Duplicate).await?;
            }
        }
        if let Some(max) = max
            && storage::used(tx, &site_id).await? > max
        {
            return Err(Refused::Full);
        }
        Ok(())
    })
    .await;
    match done {
        Ok(()) => Ok(true),
        Err(Refused::Full) => {
            full.count_refusal(visit.service);
            Ok(false)
        }
        Err(Refused::Lost) => Err(Stopped::Lost),
        Err(Refused::Database(error)) => Err(error.into()),
    }
}

/// Why pages are not stored.
#[derive(Debug)]
enum Refused {
    Full,
    Lost,
    Database(DbError),
}

impl From<DbError> for Refused {
    fn from(error: DbError) -> Self {
        Self::Database(error)
    }
}
