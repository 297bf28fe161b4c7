//! Cloud jobs: claims them, carries them out before their lease expires, and reports each of them once.
//!
//! [`JobRunner`] is the loop, a [`JobHandler`] does the work, and the [`Journal`] records what was done: a
//! job that is claimed again after a crash or a lost report is reported again, and not carried out again.

mod handler;
mod journal;
mod repeats;
mod runner;

pub use handler::{JobFailure, JobHandler};
pub use journal::{Journal, JournalError};
pub use runner::{JobRunner, RunSummary, RunnerError, RunnerOptions};
