//! Pages with the same text, or almost the same.
//!
//! Each text has a fingerprint of 64 bits (simhash) of its groups of three words, and the 64 smallest hashes
//! of these groups. Two pages are compared by the latter only if a quarter of their fingerprints is the same,
//! and with a bounded number of others, so that the time grows with the number of pages.

use std::collections::{HashMap, HashSet};

use crate::rule::{CONTENT_DUPLICATE, CONTENT_NEAR_DUPLICATE, Rule};
use crate::site_checks::Context;

/// Words of a group.
const GROUP: usize = 3;
/// Maximum hashes that are kept of a text.
const SKETCH: usize = 64;
/// Minimum words of texts that are compared.
const MIN_WORDS: usize = 60;
/// Minimum words of texts that are the same.
const MIN_SAME_WORDS: usize = 20;
/// Maximum different bits of the fingerprints of similar texts.
const MAX_DISTANCE: u32 = 6;
/// The part of the smallest hashes that similar texts share, in tenths.
const SHARE: usize = 8;
/// Maximum pages with which a page is compared for each quarter of its fingerprint.
const MAX_CANDIDATES: usize = 8;

/// The traces that are kept of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Print {
    /// The hash of all words.
    whole: u64,
    fingerprint: u64,
    /// The smallest hashes, in order.
    sketch: Vec<u64>,
    words: usize,
}

/// Returns a hash that is the same on all machines (FNV-1a, mixed).
pub(crate) fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

impl Print {
    pub(crate) fn new(words: &[String]) -> Self {
        let hashes: Vec<u64> = words.iter().map(|word| hash(word.as_bytes(), 0)).collect();
        let whole = hashes.iter().fold(0, |whole, word| hash(&word.to_le_bytes(), whole));
        let groups: HashSet<u64> = hashes
            .windows(GROUP)
            .map(|group| group.iter().fold(1, |all, word| hash(&word.to_le_bytes(), all)))
            .collect();
        let mut bits = [0_i64; 64];
        for group in &groups {
            for (index, bit) in bits.iter_mut().enumerate() {
                *bit += if group >> index & 1 == 1 { 1 } else { -1 };
            }
        }
        let fingerprint =
            bits.iter().enumerate().filter(|(_, bit)| **bit > 0).fold(0, |all, (at, _)| all | 1 << at);
        let mut sketch: Vec<u64> = groups.into_iter().collect();
        sketch.sort_unstable();
        sketch.truncate(SKETCH);
        Self { whole, fingerprint, sketch, words: words.len() }
    }

    /// Returns whether most of the smallest hashes of both are the same.
    fn is_similar(&self, other: &Self) -> bool {
        if (self.fingerprint ^ other.fingerprint).count_ones() > MAX_DISTANCE {
            return false;
        }
        let own: HashSet<u64> = self.sketch.iter().copied().collect();
        let shared = other.sketch.iter().filter(|group| own.contains(group)).count();
        shared * 10 >= self.sketch.len().max(other.sketch.len()) * SHARE
    }
}

/// Finds the pages whose text repeats that of an earlier page.
pub(crate) fn check(context: &mut Context<'_>) {
    let mut same: HashMap<(u64, usize), usize> = HashMap::new();
    let mut quarters: HashMap<(u32, u64), Vec<usize>> = HashMap::new();
    for (index, page) in context.pages.iter().enumerate() {
        let print = &page.print;
        if !page.is_indexable() || print.words < MIN_SAME_WORDS {
            continue;
        }
        if let Some(first) = same.get(&(print.whole, print.words)) {
            pair(context, &CONTENT_DUPLICATE, *first, index, "the same text as");
            continue;
        }
        same.insert((print.whole, print.words), index);
        if print.words < MIN_WORDS {
            continue;
        }
        let keys = (0..4).map(|quarter| (quarter, print.fingerprint >> (quarter * 16) & 0xffff));
        let keys: Vec<(u32, u64)> = keys.collect();
        let candidates: HashSet<usize> =
            keys.iter().filter_map(|key| quarters.get(key)).flatten().copied().collect();
        let mut candidates: Vec<usize> = candidates.into_iter().collect();
        candidates.sort_unstable();
        context.work.comparisons += candidates.len() as u64;
        let found = candidates.into_iter().find(|other| context.pages[*other].print.is_similar(print));
        if let Some(first) = found {
            pair(context, &CONTENT_NEAR_DUPLICATE, first, index, "almost the same text as");
            continue;
        }
        for key in keys {
            let others = quarters.entry(key).or_default();
            if others.len() < MAX_CANDIDATES {
                others.push(index);
            }
        }
    }
}

/// Adds a finding of two pages. All pages that repeat one are the same finding, with that one first.
fn pair(context: &mut Context<'_>, rule: &'static Rule, first: usize, index: usize, relation: &str) {
    let (one, other) = (&context.pages[first], &context.pages[index]);
    let evidence = format!("{relation} {}", one.address);
    if !context.findings.has(rule, &one.key) {
        context.findings.add(rule, (first, one, 1), one.key.clone(), evidence.clone(), None);
    }
    context.findings.add(rule, (index, other, 1), one.key.clone(), evidence, None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::words;

    fn text(seed: u64, length: usize) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..length).map(|_| format!("word{} ", random.u32(..5000))).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_text_with_a_few_other_words_is_similar_and_another_text_is_not() {
        let text_of = text(1, 400);
        let print = Print::new(&words(&text_of));
        let changed = format!("{text_of} and a few more words");
        assert!(print.is_similar(&Print::new(&words(&changed))));
        for seed in 2..200 {
            assert!(!print.is_similar(&Print::new(&words(&text(seed, 400)))), "{seed}");
        }
    }
}
