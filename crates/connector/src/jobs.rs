//! Cloud jobs: claimed, executed before their lease runs out, and reported, each of them once.
//!
//! [`JobRunner`] is the loop; a [`JobHandler`] is what does the work; the [`Journal`] remembers what was done, so that a
//! job that comes again, after a crash or a lost report, is reported again and not executed again.

mod handler;
mod journal;
mod repeats;
mod runner;

pub use handler::{JobFailure, JobHandler};
pub use journal::{Journal, JournalError};
pub use runner::{JobRunner, RunSummary, RunnerError, RunnerOptions};
