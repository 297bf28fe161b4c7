//! The text by which operators find conversations: what a visitor is called and how to reach them, and notes.
//!
//! Both the stored text and the search are folded by the service, so that accents, capitals of every script
//! and the spaces of a phone number do not matter, on either database.

use tracing::warn;

use crate::Service;
use crate::db::{Db, DbError, Tx, args, containing, transaction};
use crate::knowledge::folded_words;

/// Minimum digits of a number that is found whatever its spaces are.
const MIN_DIGITS: usize = 5;
/// Maximum words of a search.
const MAX_WORDS: usize = 16;
/// Maximum rows whose text is made in one transaction.
const BATCH: i64 = 200;

/// Returns the text of these texts: the words of each in a line of its own, and its numbers without spaces.
pub(super) fn search_text<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = Vec::new();
    for text in texts {
        let words = words(text);
        let numbers = words.split(|word| !is_number(word)).filter(|run| run.len() > 1);
        let numbers = numbers.map(<[String]>::concat).filter(|digits| digits.len() >= MIN_DIGITS);
        let numbers: Vec<String> = numbers.collect();
        lines.push(words.join(" "));
        lines.extend(numbers);
    }
    lines.join("\n")
}

/// Returns the patterns that a text must all match to contain what an operator searches for; none for a
/// search without words.
pub(super) fn patterns(search: &str) -> Vec<String> {
    let mut words = words(search);
    words.truncate(MAX_WORDS);
    if !words.is_empty() && words.iter().all(|word| is_number(word)) {
        // The zeros before a number are other ones abroad.
        let digits = words.concat();
        let significant = digits.trim_start_matches('0');
        words = vec![if significant.is_empty() { digits } else { significant.to_owned() }];
    }
    words.iter().map(|word| containing(word)).collect()
}

/// Returns the words of a text, folded. A sigma at the end of a word is written in capitals as any other one.
fn words(text: &str) -> Vec<String> {
    folded_words(text).map(|word| word.replace('ς', "σ")).collect()
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Makes the texts of an earlier version's rows, and waits until the service stops.
pub(crate) async fn run(service: &Service) {
    if let Err(error) = fill(service.db()).await {
        warn!(
            "conversations of an earlier version are not found by their visitor until the next start: {error}"
        );
    }
    service.0.closing.cancelled().await;
}

/// Makes the texts of conversations and notes of an earlier version.
pub(crate) async fn fill(db: &Db) -> Result<(), DbError> {
    while transaction!(db, |tx| fill_conversations(tx).await).await? {}
    while transaction!(db, |tx| fill_notes(tx).await).await? {}
    Ok(())
}

/// Returns whether there may be more.
async fn fill_conversations(tx: &mut Tx) -> Result<bool, DbError> {
    let rows =
        tx.all(super::select("WHERE c.search_text IS NULL ORDER BY c.no LIMIT $1"), args![BATCH]).await?;
    for row in &rows {
        let conversation = super::read(row)?;
        let sql = "UPDATE conversations SET search_text = $1 WHERE no = $2 AND search_text IS NULL";
        tx.execute(sql, args![conversation.search_text(), conversation.no]).await?;
    }
    Ok(!rows.is_empty())
}

/// Returns whether there may be more.
async fn fill_notes(tx: &mut Tx) -> Result<bool, DbError> {
    let sql = "SELECT no, content FROM notes WHERE search_text IS NULL ORDER BY no LIMIT $1";
    let rows = tx.all(sql, args![BATCH]).await?;
    for row in &rows {
        let sql = "UPDATE notes SET search_text = $1 WHERE no = $2";
        tx.execute(sql, args![search_text([row.text(1)?.as_str()]), row.int(0)?]).await?;
    }
    Ok(!rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a search finds a text.
    fn finds(search: &str, text: &str) -> bool {
        let stored = search_text([text]);
        let patterns = patterns(search);
        let contains = |pattern: &String| stored.contains(pattern.trim_matches('%'));
        !patterns.is_empty() && patterns.iter().all(contains)
    }

    #[test]
    fn finds_what_people_type() {
        for (search, text) in [
            ("loewe", "Ada Loewe"),
            ("LÖWE", "Ada Löwe"),
            ("lowe ada", "Ada Löwe"),
            ("ОЛЬГА", "Ольга Петрова"),
            ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
            ("straße", "Strasse 5"),
            ("ndqvi", "Anna Lindqvist"),
            ("ann@shop", "ann@shop.example"),
            ("山田", "山田太郎"),
            ("06601234567", "+43 660 123 45 67"),
            ("0660 / 123-4567", "+43 660 123 45 67"),
            ("+43 (660) 1234567", "+436601234567"),
            ("٠٦٦٠ ١٢٣٤٥٦٧", "0660 1234567"),
            ("1234567", "0660/1234567"),
        ] {
            assert!(finds(search, text), "{search} in {text}: {:?}", search_text([text]));
        }
        for (search, text) in [
            ("löwin", "Ada Löwe"),
            ("ada petrova", "Ada Löwe"),
            ("%", "100 %"),
            ("_", "a_b"),
            ("066012345678", "+43 660 123 45 67"),
        ] {
            assert!(!finds(search, text), "{search} in {text}");
        }
    }

    #[test]
    fn a_number_is_not_joined_with_the_next_text() {
        assert!(!finds("12345678", "1234"));
        assert_eq!(search_text(["1234", "5678"]), "1234\n5678");
    }
}
