//! Finds the passages of a site's knowledge that a question is about.

use std::collections::{HashMap, HashSet};

use sqlx::AssertSqlSafe;

use super::Passage;
use super::page::{Page, Stems};
use super::query::Query;
use super::rank::rank;
use super::search_index::{Expression, SearchTable};
use crate::db::{Arg, Db, DbError, Row, args};
use crate::text::excerpt;

/// Maximum passages of a result, one from each page.
pub(crate) const MAX_PASSAGES: usize = 5;
/// Maximum characters of a passage.
pub(crate) const MAX_PASSAGE_LENGTH: usize = 600;
/// Maximum pages that are found by one word; of more, the latest.
const MAX_FOUND: usize = 1000;
/// Maximum pages that are read and ranked.
const MAX_CANDIDATES: usize = 80;
/// Maximum bytes of the pages that are read and ranked.
const MAX_CANDIDATE_BYTES: usize = 512 * 1024;
/// Pages that are read by one query.
const BATCH: usize = 20;
/// Maximum words of a question that are taken for misspelt.
const MAX_MISSPELT: usize = 4;
/// Maximum pieces of a misspelt word that are looked up.
const MAX_PIECES: usize = 10;

/// A row of knowledge. Rows of both tables are told apart by the table.
type Key = (Source, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Source {
    Answer,
    Content,
}

const SOURCES: [(Source, SearchTable); 2] =
    [(Source::Answer, SearchTable::Answers), (Source::Content, SearchTable::Content)];

/// Returns the passages of a site that best match a question, best first; none when nothing matches well
/// enough. `locale` is that of the visitor's page.
pub(crate) async fn search(
    db: &Db,
    site_id: &str,
    question: &str,
    locale: Option<&str>,
) -> Result<Vec<Passage>, DbError> {
    let (query, frequencies, total, candidates) = candidates(db, site_id, question, locale).await?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let ranked = tokio::task::spawn_blocking(move || passages(&query, &frequencies, total, candidates)).await;
    Ok(ranked.unwrap_or_default())
}

/// Reads the pages of a site that share the most words with a question.
pub(super) async fn candidates(
    db: &Db,
    site_id: &str,
    question: &str,
    locale: Option<&str>,
) -> Result<(Query, Vec<usize>, usize, Vec<Candidate>), DbError> {
    let query = Query::new(question, locale);
    if query.words.is_empty() {
        return Ok((query, Vec::new(), 0, Vec::new()));
    }
    let lookups: Vec<Vec<String>> = query.words.iter().map(|word| word.lookups(query.language)).collect();
    let found = look_up(db, site_id, &lookups).await?;
    let frequencies: Vec<usize> = found.iter().map(Vec::len).collect();
    let total = count(db, site_id).await?;
    let mut weights: HashMap<Key, f64> = HashMap::new();
    for (word, keys) in query.words.iter().zip(&found) {
        for key in keys {
            *weights.entry(*key).or_default() +=
                word.weight() / f64::from(u32::try_from(keys.len()).unwrap_or(u32::MAX));
        }
    }
    let unknown: Vec<Vec<String>> = query
        .words
        .iter()
        .zip(&found)
        .filter(|(word, keys)| keys.is_empty() && !word.pieces().is_empty())
        .map(|(word, _)| spread(word.pieces()))
        .take(MAX_MISSPELT)
        .collect();
    for (key, weight) in misspelt(db, site_id, &unknown).await? {
        *weights.entry(key).or_default() += weight;
    }
    let mut keys: Vec<(Key, f64)> = weights.into_iter().collect();
    keys.sort_by(|(one, weight), (other, other_weight)| other_weight.total_cmp(weight).then(one.cmp(other)));
    keys.truncate(MAX_CANDIDATES);
    let candidates = read(db, site_id, &keys.into_iter().map(|(key, _)| key).collect::<Vec<_>>()).await?;
    Ok((query, frequencies, total, candidates))
}

/// Returns at most [`MAX_PIECES`] pieces of a word, from all of its parts.
fn spread(pieces: Vec<String>) -> Vec<String> {
    let step = pieces.len().div_ceil(MAX_PIECES).max(1);
    pieces.into_iter().step_by(step).collect()
}

/// Returns the rows that contain any of the terms of each list.
async fn look_up(db: &Db, site_id: &str, lists: &[Vec<String>]) -> Result<Vec<Vec<Key>>, DbError> {
    let mut found: Vec<Vec<Key>> = vec![Vec::new(); lists.len()];
    if lists.is_empty() {
        return Ok(found);
    }
    let expressions = lists.iter().map(|terms| {
        let mut expression = Expression::of_site(db.dialect(), site_id);
        expression.and_any(terms, None);
        Arg::from(expression.into_text())
    });
    let arguments: Vec<Arg> = expressions.collect();
    for (source, table) in SOURCES {
        let parts = (0..lists.len()).map(|index| {
            let matching = table.matching(db.dialect(), index + 1);
            format!("SELECT * FROM (SELECT CAST({index} AS BIGINT), no FROM ({matching}) AS m ORDER BY no DESC LIMIT {MAX_FOUND}) AS w")
        });
        let sql = parts.collect::<Vec<_>>().join(" UNION ALL ");
        // The statement contains numbers and names of tables only.
        for row in db.all(AssertSqlSafe(sql), arguments.clone()).await? {
            let list = usize::try_from(row.int(0)?).unwrap_or(usize::MAX);
            if let Some(list) = found.get_mut(list) {
                list.push((source, row.int(1)?));
            }
        }
    }
    Ok(found)
}

/// Returns the rows with words similar to misspelt ones, with the share of the pieces that they contain.
async fn misspelt(db: &Db, site_id: &str, words: &[Vec<String>]) -> Result<Vec<(Key, f64)>, DbError> {
    let pieces: Vec<Vec<String>> = words.iter().flatten().map(|piece| vec![piece.clone()]).collect();
    let found = look_up(db, site_id, &pieces).await?;
    let mut similar = Vec::new();
    let mut from = 0;
    for word in words {
        let mut counts: HashMap<Key, u32> = HashMap::new();
        for key in found[from..from + word.len()].iter().flatten() {
            *counts.entry(*key).or_default() += 1;
        }
        from += word.len();
        let all = f64::from(u32::try_from(word.len()).unwrap_or(u32::MAX));
        let shares = counts.into_iter().map(|(key, count)| (key, f64::from(count) / all));
        similar.extend(shares.filter(|(_, share)| *share >= 0.4));
    }
    Ok(similar)
}

/// Returns the number of pages and answers of a site.
async fn count(db: &Db, site_id: &str) -> Result<usize, DbError> {
    let sql = "SELECT (SELECT count(*) FROM content WHERE site_id = $1) + \
               (SELECT count(*) FROM answers WHERE site_id = $1)";
    let count = db.one(sql, args![site_id]).await?.int(0)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// A row of knowledge that may answer a question.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The same for all translations of an item.
    item: String,
    pub(super) id: String,
    title: String,
    location: Option<String>,
    locale: String,
    text: String,
}

/// Reads rows of a site, in this order, until they are too long together.
async fn read(db: &Db, site_id: &str, keys: &[Key]) -> Result<Vec<Candidate>, DbError> {
    let mut candidates = Vec::new();
    let mut bytes = 0;
    for batch in keys.chunks(BATCH) {
        let mut read: HashMap<Key, Candidate> = HashMap::new();
        for (source, _) in SOURCES {
            let numbers: Vec<i64> =
                batch.iter().filter(|(of, _)| *of == source).map(|(_, number)| *number).collect();
            if numbers.is_empty() {
                continue;
            }
            let list: Vec<String> = (0..numbers.len()).map(|index| format!("${}", index + 2)).collect();
            let list = list.join(", ");
            let sql = match source {
                Source::Content => format!(
                    "SELECT no, type, external_id, title, location, locale, text FROM content \
                     WHERE site_id = $1 AND no IN ({list})"
                ),
                Source::Answer => format!(
                    "SELECT no, 'answer', id, question, NULL, locale, answer FROM answers \
                     WHERE site_id = $1 AND no IN ({list})"
                ),
            };
            let mut arguments = args![site_id];
            arguments.extend(numbers.into_iter().map(Arg::from));
            for row in db.all(AssertSqlSafe(sql), arguments).await? {
                read.insert((source, row.int(0)?), candidate(source, &row)?);
            }
        }
        for candidate in batch.iter().filter_map(|key| read.remove(key)) {
            bytes += candidate.text.len();
            if bytes > MAX_CANDIDATE_BYTES {
                return Ok(candidates);
            }
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

fn candidate(source: Source, row: &Row) -> Result<Candidate, DbError> {
    let (kind, id) = (row.text(1)?, row.text(2)?);
    let prefix = match source {
        Source::Content => "content",
        Source::Answer => "answer",
    };
    Ok(Candidate {
        item: format!("{kind} {id}"),
        id: format!("{prefix}:{id}"),
        title: row.text(3)?,
        location: row.optional_text(4)?,
        locale: row.text(5)?,
        text: row.text(6)?,
    })
}

/// Returns the best passages of the candidates.
fn passages(
    query: &Query,
    frequencies: &[usize],
    total: usize,
    mut candidates: Vec<Candidate>,
) -> Vec<Passage> {
    let pages = pages(&mut candidates);
    let mut items = HashSet::new();
    let mut passages = Vec::new();
    for found in rank(query, frequencies, total, &pages) {
        let candidate = &candidates[found.page];
        // Of several translations, the best one is enough.
        if passages.len() == MAX_PASSAGES || !items.insert(candidate.item.as_str()) {
            continue;
        }
        let terms: Vec<(&str, f64)> =
            found.terms.iter().map(|(term, weight)| (term.as_str(), *weight)).collect();
        let text = pages[found.page].excerpt(&terms, MAX_PASSAGE_LENGTH);
        passages.push(Passage {
            id: candidate.id.clone(),
            title: candidate.title.clone(),
            location: candidate.location.clone(),
            text: excerpt(text, MAX_PASSAGE_LENGTH),
            score: found.score,
        });
    }
    passages
}

/// Splits the candidates' texts into terms.
pub(super) fn pages(candidates: &mut [Candidate]) -> Vec<Page> {
    let mut stems = Stems::default();
    let pages = candidates.iter_mut().map(|candidate| {
        Page::new(&candidate.locale, &candidate.title, std::mem::take(&mut candidate.text), &mut stems)
    });
    pages.collect()
}
