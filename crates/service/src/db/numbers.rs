//! Lists of numbers as arguments of a query.

use std::fmt::Write;

use super::Arg;

/// Maximum numbers of a list.
pub(crate) const MAX_NUMBERS: usize = 32;

/// A list of at most [`MAX_NUMBERS`] numbers for `IN`. It has one of two lengths, filled up with its last
/// number, so that the databases prepare few statements.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(Vec<i64>);

impl Numbers {
    /// Returns the list; `None` for an empty one. Numbers beyond the maximum are left out.
    pub(crate) fn of(numbers: impl Iterator<Item = i64>) -> Option<Self> {
        let mut numbers: Vec<i64> = numbers.take(MAX_NUMBERS).collect();
        let last = *numbers.last()?;
        if numbers.len() > 1 {
            numbers.resize(MAX_NUMBERS, last);
        }
        Some(Self(numbers))
    }

    /// Returns the list's place in the statement, whose first argument has the number `first`.
    pub(crate) fn placeholders(&self, first: usize) -> String {
        placeholders(first, self.0.len())
    }

    /// Returns the arguments of the statement, the list after the others.
    pub(crate) fn args(&self, mut others: Vec<Arg>) -> Vec<Arg> {
        others.extend(self.0.iter().map(|number| Arg::from(*number)));
        others
    }
}

/// Returns the places of `count` arguments, of which the first has the number `first`.
pub(crate) fn placeholders(first: usize, count: usize) -> String {
    let mut list = String::new();
    for number in first..first + count {
        let separator = if list.is_empty() { "" } else { ", " };
        let _ = write!(list, "{separator}${number}");
    }
    list
}
