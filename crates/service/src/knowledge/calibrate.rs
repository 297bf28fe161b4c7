//! Learns how certain the answers of a site are: asks entries of its knowledge against the rest.

use super::certainty::{Calibration, Probe};
use super::rank::rank;
use super::search::{Candidates, Key, Source, candidates, pages};
use super::vocabulary::Vocabulary;
use crate::db::{Db, DbError, args};

/// Maximum answers, and maximum pages, that are asked for.
const MAX_ENTRIES: i64 = 24;
/// Maximum characters of a question that is asked.
const MAX_QUESTION_LENGTH: usize = 200;

/// An entry that is asked for.
struct Entry {
    key: Key,
    question: String,
    locale: String,
    /// Whether it can be found without the question.
    is_answerable: bool,
}

/// Returns the curve of a site with this many entries.
pub(super) async fn calibrate(db: &Db, site_id: &str, entries: usize) -> Result<Calibration, DbError> {
    let mut probes = Vec::new();
    for entry in sample(db, site_id).await? {
        let locale = Some(entry.locale.as_str()).filter(|locale| !locale.is_empty());
        let found = candidates(db, site_id, &entry.question, locale).await?;
        let asked = tokio::task::spawn_blocking(move || probe(found, &entry)).await;
        probes.extend(asked.unwrap_or_default());
    }
    Ok(Calibration::fitted(entries, &probes))
}

/// Returns entries from all of a site's knowledge, always the same ones.
async fn sample(db: &Db, site_id: &str) -> Result<Vec<Entry>, DbError> {
    let mut entries = Vec::new();
    for (source, sql) in [
        (
            Source::Answer,
            "SELECT no, question, locale FROM answers WHERE site_id = $1
             ORDER BY (no * 7919) % 1009, no LIMIT $2",
        ),
        (
            Source::Content,
            "SELECT no, title, locale FROM content WHERE site_id = $1 AND title <> ''
             ORDER BY (no * 7919) % 1009, no LIMIT $2",
        ),
    ] {
        for row in db.all(sql, args![site_id, MAX_ENTRIES]).await? {
            let title = row.text(1)?;
            let lines: Vec<&str> = title.lines().filter(|line| !line.trim().is_empty()).collect();
            let Some(question) = lines.last() else { continue };
            entries.push(Entry {
                key: (source, row.int(0)?),
                question: question.chars().take(MAX_QUESTION_LENGTH).collect(),
                locale: row.text(2)?,
                is_answerable: source == Source::Content || lines.len() > 1,
            });
        }
    }
    Ok(entries)
}

/// Asks for an entry without the way of asking that is asked, and without the entry.
fn probe(found: Candidates, entry: &Entry) -> Vec<Probe> {
    let Candidates { query, frequencies, mut list } = found;
    for candidate in list.iter_mut().filter(|candidate| candidate.key == entry.key) {
        let others = candidate.title.lines().filter(|line| !line.starts_with(&entry.question));
        candidate.title = others.collect::<Vec<_>>().join("\n");
    }
    let mut vocabulary = Vocabulary::default();
    let pages = pages(&list, &mut vocabulary);
    let ranked = rank(&query, &frequencies, &pages, &vocabulary);
    let item = list.iter().find(|candidate| candidate.key == entry.key).map(|candidate| &candidate.item);
    let is_own = |page: usize| Some(&list[page].item) == item;
    let mut probes = Vec::new();
    if let Some(best) = ranked.first().filter(|_| entry.is_answerable) {
        probes.push(Probe { fit: best.fit, is_right: is_own(best.page), is_answerable: true });
    }
    let fit = ranked.iter().find(|found| !is_own(found.page)).map_or(0.0, |other| other.fit);
    probes.push(Probe { fit, is_right: false, is_answerable: false });
    probes
}
