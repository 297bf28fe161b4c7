//! What the runner has done and not yet reported, on disk.
//!
//! One line of JSON for each step, appended and flushed to the disk before the next step is taken. A line that a crash
//! cut short is as if it had not been begun.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use chat_protocol::{Completion, Done, Fields, JobId, Outcome, Unusable, Value};

/// Jobs that are remembered as done; the oldest are forgotten first.
const REMEMBERED: usize = 10_000;

/// Why the journal cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another runner has it.
    #[error("{} is held by another runner: stop that one, or give this one a --state of its own", .0.display())]
    Held(PathBuf),
    /// The file cannot be read or written.
    #[error("{path} cannot be kept: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// The runner's memory: in a file, which one runner at a time may hold, or for as long as the process lives.
#[derive(Debug, Default)]
pub struct Journal {
    file: Option<(PathBuf, File)>,
    done: HashMap<JobId, Done>,
    order: VecDeque<JobId>,
    /// Reports that the service has not taken yet, oldest first.
    owed: Vec<(JobId, Completion)>,
}

impl Journal {
    /// A journal that is forgotten with the process.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal in this file, which is made when there is none.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let broken = |source| JournalError::File { path: path.display().to_string(), source };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(broken)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(broken)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Held(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(broken(source)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(broken)?;
        let mut journal = Self::default();
        for line in text.lines() {
            if let Ok(step) = serde_json::from_str::<Value>(line)
                .map_err(drop)
                .and_then(|line| Step::read(line).map_err(drop))
            {
                journal.take(step);
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(broken)?;
        }
        journal.file = Some((path.to_owned(), file));
        Ok(journal)
    }

    /// What came of a job, if it was done.
    pub(super) fn done(&self, job: &JobId) -> Option<&Done> {
        self.done.get(job)
    }

    /// The reports that the service has not taken yet.
    pub(super) fn owed(&self) -> &[(JobId, Completion)] {
        &self.owed
    }

    /// Writes down how a job went, before anybody is told.
    pub(super) fn executed(&mut self, job: &JobId, report: Completion) -> Result<(), JournalError> {
        self.step(Step::Executed(job.clone(), report))
    }

    /// Writes down that the service has taken a report, or wants it no more.
    pub(super) fn reported(&mut self, job: &JobId) -> Result<(), JournalError> {
        self.step(Step::Reported(job.clone()))
    }

    fn step(&mut self, step: Step) -> Result<(), JournalError> {
        if let Some((path, file)) = &mut self.file {
            let line = format!("{}\n", step.written());
            let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
            written.map_err(|source| JournalError::File { path: path.display().to_string(), source })?;
        }
        self.take(step);
        Ok(())
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Executed(job, report) => {
                if let Outcome::Done(done) = &report.outcome
                    && self.done.insert(job.clone(), done.clone()).is_none()
                {
                    self.order.push_back(job.clone());
                    if self.order.len() > REMEMBERED
                        && let Some(oldest) = self.order.pop_front()
                    {
                        self.done.remove(&oldest);
                    }
                }
                self.owed.retain(|(owed, _)| *owed != job);
                self.owed.push((job, report));
            }
            Step::Reported(job) => self.owed.retain(|(owed, _)| *owed != job),
        }
    }
}

enum Step {
    Executed(JobId, Completion),
    Reported(JobId),
}

impl Step {
    fn written(&self) -> Value {
        match self {
            Self::Executed(job, report) => {
                Value::object([("job", job.into()), ("executed", Value::from(report))])
            }
            Self::Reported(job) => Value::object([("job", job.into()), ("reported", true.into())]),
        }
    }

    fn read(line: Value) -> Result<Self, Unusable> {
        let mut fields = Fields::of(line)?;
        let job = JobId::from(fields.text("job")?);
        match fields.take("executed") {
            Value::Null => Ok(Self::Reported(job)),
            report => Ok(Self::Executed(job, Completion::try_from(report)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(path: &str) -> Completion {
        let done = Done { path: Some(path.to_owned()), ..Done::default() };
        Completion { claim_token: "c1".into(), outcome: Outcome::Done(done) }
    }

    #[test]
    fn what_was_done_and_what_is_owed_is_known_after_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/journal");
        let mut journal = Journal::open(&path).expect("a journal");
        journal.executed(&"j1".into(), report("/a")).expect("written");
        journal.executed(&"j2".into(), report("/b")).expect("written");
        journal.reported(&"j1".into()).expect("written");
        drop(journal);
        let journal = Journal::open(&path).expect("a journal");
        assert_eq!(journal.done(&"j1".into()).and_then(|done| done.path.as_deref()), Some("/a"));
        assert_eq!(journal.owed(), [("j2".into(), report("/b"))]);
    }

    #[test]
    fn a_line_that_a_crash_cut_short_costs_nothing_but_itself() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        Journal::open(&path).expect("a journal").executed(&"j1".into(), report("/a")).expect("written");
        let mut text = std::fs::read_to_string(&path).expect("text");
        text.push_str("{\"job\":\"j2\",\"exec");
        std::fs::write(&path, text).expect("written");
        let mut journal = Journal::open(&path).expect("a journal");
        journal.executed(&"j3".into(), report("/c")).expect("written");
        drop(journal);
        let journal = Journal::open(&path).expect("a journal");
        assert!(journal.done(&"j1".into()).is_some() && journal.done(&"j3".into()).is_some());
        assert!(journal.done(&"j2".into()).is_none());
    }

    #[test]
    fn one_runner_at_a_time_holds_a_journal() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let held = Journal::open(&path).expect("a journal");
        assert!(matches!(Journal::open(&path), Err(JournalError::Held(_))));
        drop(held);
        assert!(Journal::open(&path).is_ok());
    }
}
