//! Finds the passages of a site's knowledge that a question is about.

use std::collections::{HashMap, HashSet};

use sqlx::AssertSqlSafe;

use super::Passage;
use super::certainty::Calibration;
use super::page::Page;
use super::query::Query;
use super::rank::{Frequencies, Match, rank};
use super::search_index::{Expression, SearchTable};
use super::vocabulary::Vocabulary;
use super::window::{Style, window};
use crate::db::{Arg, Db, DbError, Row, args};

/// Maximum passages of a result, one from each page.
pub(crate) const MAX_PASSAGES: usize = 5;
/// Maximum characters of the best passage, and of each of the others: about 6,000 together.
const MAX_BEST_LENGTH: usize = 2000;
const MAX_PASSAGE_LENGTH: usize = 1000;
/// Maximum characters of an answer that operators wrote, which is always whole.
const MAX_ANSWER_LENGTH: usize = 4000;
/// Maximum characters of the part of a page that a visitor reads.
const MAX_SHOWN_LENGTH: usize = 500;
/// The minimum fit of a passage that is found, however uncertain it is: a model that reads it can tell.
const MIN_FIT: f64 = 0.19;
/// The same of a passage with several words of a question, which visitors may wrap in chatter: the minimum
/// fit, and the weight of the words, compared with the rarest word of the site.
const MIN_FIT_OF_SEVERAL: f64 = 0.11;
const MIN_WEIGHT_OF_SEVERAL: f64 = 0.9;
/// Maximum pages that are found by one word; of more, the latest.
const MAX_FOUND: usize = 1000;
/// Maximum pages that are read and ranked.
const MAX_CANDIDATES: usize = 50;
/// Maximum bytes of the pages that are read and ranked.
const MAX_CANDIDATE_BYTES: usize = 256 * 1024;
/// Pages that are read by one query.
const BATCH: usize = 20;
/// Maximum words of a question that are taken for misspelt.
const MAX_MISSPELT: usize = 4;
/// Maximum pieces of a misspelt word that are looked up.
const MAX_PIECES: usize = 10;

/// A row of knowledge. Rows of both tables are told apart by the table.
pub(super) type Key = (Source, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    Answer,
    Content,
}

const SOURCES: [(Source, SearchTable); 2] =
    [(Source::Answer, SearchTable::Answers), (Source::Content, SearchTable::Content)];

/// A question to a site's knowledge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) question: &'a str,
    /// The part of the question that was asked last: a passage that only fits the rest, which tells what it
    /// is about, does not answer it.
    pub(crate) own: Option<&'a str>,
    /// The locale of the visitor's page.
    pub(crate) locale: Option<&'a str>,
}

/// Returns the passages of a site that best match a question, best first; none when nothing matches well
/// enough. Without a calibration, they are as certain as on any site of its size.
pub(crate) async fn search(
    db: &Db,
    site_id: &str,
    wanted: Wanted<'_>,
    calibration: Option<Calibration>,
) -> Result<Vec<Passage>, DbError> {
    let found = candidates(db, site_id, wanted.question, wanted.locale).await?;
    if found.list.is_empty() {
        return Ok(Vec::new());
    }
    let calibration = calibration.unwrap_or_else(|| Calibration::of_entries(found.frequencies.total));
    let own = wanted.own.map(str::to_owned);
    let ranked = tokio::task::spawn_blocking(move || passages(found, own.as_deref(), calibration)).await;
    Ok(ranked.unwrap_or_default())
}

/// The pages of a site that share the most words with a question.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) query: Query,
    pub(super) frequencies: Frequencies,
    pub(super) list: Vec<Candidate>,
}

/// Reads the pages of a site that share the most words with a question.
pub(super) async fn candidates(
    db: &Db,
    site_id: &str,
    question: &str,
    locale: Option<&str>,
) -> Result<Candidates, DbError> {
    let query = Query::new(question, locale);
    let mut frequencies = Frequencies { total: 0, with: vec![None; query.words.len()] };
    if query.words.is_empty() {
        return Ok(Candidates { query, frequencies, list: Vec::new() });
    }
    let looked_up = query.looked_up();
    let words: Vec<_> = looked_up.iter().map(|index| &query.words[*index]).collect();
    let lookups: Vec<Vec<String>> = words.iter().map(|word| word.lookups(query.language)).collect();
    let found = look_up(db, site_id, &lookups).await?;
    for (index, keys) in looked_up.iter().zip(&found) {
        frequencies.with[*index] = Some(keys.len());
    }
    frequencies.total = count(db, site_id).await?;
    let mut weights: HashMap<Key, f64> = HashMap::new();
    for (word, keys) in words.iter().zip(&found) {
        for key in keys {
            *weights.entry(*key).or_default() +=
                word.weight() / f64::from(u32::try_from(keys.len()).unwrap_or(u32::MAX));
        }
    }
    let unknown: Vec<Vec<String>> = words
        .iter()
        .zip(&found)
        .filter(|(word, keys)| keys.is_empty() && !word.is_frequent && !word.pieces().is_empty())
        .map(|(word, _)| spread(word.pieces()))
        .take(MAX_MISSPELT)
        .collect();
    for (key, weight) in misspelt(db, site_id, &unknown).await? {
        *weights.entry(key).or_default() += weight;
    }
    let mut keys: Vec<(Key, f64)> = weights.into_iter().collect();
    keys.sort_by(|(one, weight), (other, other_weight)| other_weight.total_cmp(weight).then(one.cmp(other)));
    keys.truncate(MAX_CANDIDATES);
    let list = read(db, site_id, &keys.into_iter().map(|(key, _)| key).collect::<Vec<_>>()).await?;
    Ok(Candidates { query, frequencies, list })
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
pub(super) async fn count(db: &Db, site_id: &str) -> Result<usize, DbError> {
    let sql = "SELECT (SELECT count(*) FROM content WHERE site_id = $1) + \
               (SELECT count(*) FROM answers WHERE site_id = $1)";
    let count = db.one(sql, args![site_id]).await?.int(0)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// A row of knowledge that may answer a question.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) key: Key,
    /// The same for all translations of an item.
    pub(super) item: String,
    id: String,
    pub(super) title: String,
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
        key: (source, row.int(0)?),
        item: format!("{kind} {id}"),
        id: format!("{prefix}:{id}"),
        title: row.text(3)?,
        location: row.optional_text(4)?,
        locale: row.text(5)?,
        text: row.text(6)?,
    })
}

/// Returns the best passages of the candidates.
fn passages(found: Candidates, own: Option<&str>, calibration: Calibration) -> Vec<Passage> {
    let Candidates { query, frequencies, list } = found;
    let mut vocabulary = Vocabulary::default();
    let pages = pages(&list, &mut vocabulary);
    let mut ranked = rank(&query, &frequencies, &pages, &vocabulary);
    if let Some(fits) = own.and_then(|own| own_fits(own, &query, &frequencies, &pages, &vocabulary)) {
        for found in &mut ranked {
            let own = fits.get(&found.page).copied().unwrap_or_default();
            found.fit = own.min(f64::midpoint(own, found.fit));
        }
    }
    let mut items = HashSet::new();
    let mut passages: Vec<Passage> = Vec::new();
    for found in ranked.into_iter().filter(is_found) {
        let candidate = &list[found.page];
        // Of several translations, the best one is enough.
        if passages.len() == MAX_PASSAGES || !items.insert(candidate.item.as_str()) {
            continue;
        }
        let limit = match (candidate.key.0, passages.len()) {
            (Source::Answer, _) => MAX_ANSWER_LENGTH,
            (Source::Content, 0) => MAX_BEST_LENGTH,
            (Source::Content, _) => MAX_PASSAGE_LENGTH,
        };
        let mut part = |limit, style| {
            let language = pages[found.page].language;
            window(&candidate.text, language, &found.terms, &mut vocabulary, limit, style)
        };
        passages.push(Passage {
            id: candidate.id.clone(),
            title: candidate.title.clone(),
            location: candidate.location.clone(),
            text: part(limit, Style::Plain),
            shown: match candidate.key.0 {
                // Operators wrote what visitors read.
                Source::Answer => candidate.text.clone(),
                Source::Content => part(MAX_SHOWN_LENGTH, Style::Markdown),
            },
            certainty: calibration.certainty(found.fit),
        });
    }
    passages
}

fn is_found(found: &Match) -> bool {
    let has_several = found.words > 1 && found.weight >= MIN_WEIGHT_OF_SEVERAL;
    found.fit >= if has_several { MIN_FIT_OF_SEVERAL } else { MIN_FIT }
}

/// Returns how much of the last part of a question each page has; `None` if that part means nothing by
/// itself.
fn own_fits(
    own: &str,
    query: &Query,
    frequencies: &Frequencies,
    pages: &[Page],
    vocabulary: &Vocabulary,
) -> Option<HashMap<usize, f64>> {
    let own = Query::in_language(own, query.language);
    if own.words.iter().all(|word| word.is_frequent) {
        return None;
    }
    let frequency = |text: &str| {
        let index = query.words.iter().position(|word| word.text == text)?;
        frequencies.with.get(index).copied().flatten()
    };
    let with = own.words.iter().map(|word| frequency(&word.text)).collect();
    let frequencies = Frequencies { total: frequencies.total, with };
    let ranked = rank(&own, &frequencies, pages, vocabulary);
    Some(ranked.into_iter().map(|found| (found.page, found.fit)).collect())
}

/// Splits the candidates' texts into terms.
pub(super) fn pages(candidates: &[Candidate], vocabulary: &mut Vocabulary) -> Vec<Page> {
    let pages = candidates
        .iter()
        .map(|candidate| Page::new(&candidate.locale, &candidate.title, &candidate.text, vocabulary));
    pages.collect()
}

#[cfg(test)]
pub(crate) mod fixture {
    //! Searches of tests, without the calibration of a running service.

    use super::{Db, DbError, Passage, Wanted};

    /// Returns the passages of a site that best match a question.
    pub(crate) async fn search(
        db: &Db,
        site_id: &str,
        question: &str,
        locale: Option<&str>,
    ) -> Result<Vec<Passage>, DbError> {
        super::search(db, site_id, Wanted { question, own: None, locale }, None).await
    }
}
