//! What happened in a simulation, for a person who looks for the cause of a broken invariant.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};

/// A longer line is cut: the beginning tells enough.
const MAX_SNAPSHOT_CHARS: usize = 300;

/// The last lines of a story. None are kept unless somebody wants to read them: a seed is tried in silence, and told
/// again when it failed.
pub struct Trace {
    max_lines: usize,
    lines: VecDeque<String>,
}

impl Trace {
    /// Nobody reads it.
    pub fn silent() -> Self {
        Self::last(0)
    }

    /// Keeps so many lines, the last ones.
    pub fn last(max_lines: usize) -> Self {
        Self { max_lines, lines: VecDeque::new() }
    }

    /// Adds a line, which is put together only when somebody wants to read it.
    pub fn note(&mut self, now_ms: u64, who: impl Display, what: impl FnOnce() -> String) {
        if self.max_lines == 0 {
            return;
        }
        if self.lines.len() == self.max_lines {
            self.lines.pop_front();
        }
        let time = format!("{}.{:03} s", now_ms / 1000, now_ms % 1000);
        let mut line = format!("{time:>11}  {:<9} {}", who.to_string(), what());
        if let Some((end, _)) = line.char_indices().nth(MAX_SNAPSHOT_CHARS) {
            line.truncate(end);
            line.push('…');
        }
        self.lines.push_back(line);
    }
}

impl Display for Trace {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
