//! The trace of a simulation, to find the cause of a broken invariant.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};

/// Maximum number of characters in a line. The rest is cut off.
const MAX_LINE_CHARS: usize = 300;

/// The last lines of a trace. Seeds run without one: a seed that fails runs again with it.
pub struct Trace {
    max_lines: usize,
    lines: VecDeque<String>,
}

impl Trace {
    /// Returns a trace that records nothing.
    pub fn silent() -> Self {
        Self::last(0)
    }

    /// Returns a trace that records the last `max_lines` lines.
    pub fn last(max_lines: usize) -> Self {
        Self { max_lines, lines: VecDeque::new() }
    }

    /// Adds a line. `what` is called only if the trace records.
    pub fn note(&mut self, now_ms: u64, who: impl Display, what: impl FnOnce() -> String) {
        if self.max_lines == 0 {
            return;
        }
        if self.lines.len() == self.max_lines {
            self.lines.pop_front();
        }
        let time = format!("{}.{:03} s", now_ms / 1000, now_ms % 1000);
        let mut line = format!("{time:>11}  {:<9} {}", who.to_string(), what());
        if let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARS) {
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
