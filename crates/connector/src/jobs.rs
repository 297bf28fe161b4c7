//! Cloud jobs: claims them, executes them before their lease expires, and reports each of them once.
//!
//! [`JobRunner`] is the loop, a [`JobHandler`] does the work, and the [`Journal`] records the results: a
//! job that is claimed again after a crash or a lost report is reported again, and not executed again.

mod handler;
mod journal;
mod repeats;
mod runner;

pub use handler::{JobFailure, JobHandler};
pub use journal::{Journal, JournalError};
pub use runner::{JobRunner, RunSummary, RunnerError, RunnerOptions};
