//! The jobs that were done, and the reports that are pending, on disk.
//!
//! Each step is one line of JSON, appended and flushed before the next step is taken. A line that a crash has
//! truncated is ignored. A file with too many obsolete lines is rewritten.

mod error;
mod log;
mod step;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use chat_protocol::{Completion, Done, JobId, Outcome};

pub use error::JournalError;
use log::Log;
use step::Step;

/// Maximum completed jobs that are remembered; the oldest are forgotten first.
const MAX_REMEMBERED_JOBS: usize = 10_000;
/// Maximum lines beyond twice the number needed, before the file is rewritten.
const MAX_OBSOLETE_LINES: usize = 1000;

/// Records what a runner has done: in a file that one runner at a time holds, or in memory.
#[derive(Debug, Default)]
pub struct Journal {
    log: Option<Log>,
    done: HashMap<JobId, Done>,
    order: VecDeque<JobId>,
    /// Reports that the service has not accepted yet, oldest first.
    unreported: Vec<(JobId, Completion)>,
}

impl Journal {
    /// Creates a journal in memory.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Opens the journal in a file, which is created if missing and readable by its owner only. Lines that
    /// cannot be parsed are saved in a file beside it (`.damaged`), with a warning; their jobs count as not
    /// done.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut journal = Self::default();
        let (log, needs_rewrite) = Log::open(path, |step| journal.apply(step))?;
        journal.log = Some(log);
        if needs_rewrite {
            journal.rewrite()?;
        } else {
            journal.compact()?;
        }
        Ok(journal)
    }

    /// Returns the result of a job, if it was done.
    pub(super) fn done(&self, job: &JobId) -> Option<&Done> {
        self.done.get(job)
    }

    /// Returns the reports that the service has not accepted yet.
    pub(super) fn unreported(&self) -> &[(JobId, Completion)] {
        &self.unreported
    }

    /// Records the outcome of a job, before it is reported.
    pub(super) fn record_executed(&mut self, job: &JobId, report: Completion) -> Result<(), JournalError> {
        self.append(Step::Executed(job.clone(), report))
    }

    /// Records that the service has accepted a report, or has refused it for good.
    pub(super) fn record_reported(&mut self, job: &JobId) -> Result<(), JournalError> {
        self.append(Step::Reported(job.clone()))
    }

    fn append(&mut self, step: Step) -> Result<(), JournalError> {
        if let Some(log) = &mut self.log {
            log.append(&step)?;
        }
        self.apply(step);
        self.compact()
    }

    /// Rewrites the file when most of it is obsolete.
    fn compact(&mut self) -> Result<(), JournalError> {
        let needed = self.done.len() + self.unreported.len();
        match &self.log {
            Some(log) if log.lines() > 2 * needed + MAX_OBSOLETE_LINES => self.rewrite(),
            _ => Ok(()),
        }
    }

    fn rewrite(&mut self) -> Result<(), JournalError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let done =
            self.order.iter().filter_map(|job| Some(Step::Done(job.clone(), self.done.get(job)?.clone())));
        let owed = self.unreported.iter().map(|(job, report)| Step::Executed(job.clone(), report.clone()));
        log.rewrite(done.chain(owed))
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Executed(job, report) => {
                if let Outcome::Done(done) = &report.outcome {
                    self.remember(&job, done.clone());
                }
                self.unreported.retain(|(owed, _)| *owed != job);
                self.unreported.push((job, report));
            }
            Step::Reported(job) => self.unreported.retain(|(owed, _)| *owed != job),
            Step::Done(job, done) => self.remember(&job, done),
        }
    }

    fn remember(&mut self, job: &JobId, done: Done) {
        if self.done.insert(job.clone(), done).is_some() {
            return;
        }
        self.order.push_back(job.clone());
        if self.order.len() > MAX_REMEMBERED_JOBS
            && let Some(oldest) = self.order.pop_front()
        {
            self.done.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn report(path: &str) -> Completion {
        let done = Done { path: Some(path.to_owned()), ..Done::default() };
        Completion { claim_token: "c1".into(), outcome: Outcome::Done(done) }
    }

    #[test]
    fn keeps_results_and_pending_reports_after_a_restart() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/journal");
        let mut journal = Journal::open(&path).expect("a journal");
        journal.record_executed(&"j1".into(), report("/a")).expect("written");
        journal.record_executed(&"j2".into(), report("/b")).expect("written");
        journal.record_reported(&"j1".into()).expect("written");
        drop(journal);
        let journal = Journal::open(&path).expect("a journal");
        assert_eq!(journal.done(&"j1".into()).and_then(|done| done.path.as_deref()), Some("/a"));
        assert_eq!(journal.unreported(), [("j2".into(), report("/b"))]);
    }

    /// Writes a journal of two jobs, one of them unreported, with multi-byte characters in their names.
    fn written(path: &Path) -> Vec<u8> {
        let mut journal = Journal::open(path).expect("a journal");
        journal.record_executed(&"jöb-1".into(), report("/grüße-你好-👋")).expect("written");
        journal.record_reported(&"jöb-1".into()).expect("written");
        journal.record_executed(&"jöb-2".into(), report("/b")).expect("written");
        drop(journal);
        fs::read(path).expect("a file")
    }

    #[test]
    fn opens_a_journal_that_is_truncated_at_any_byte() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let whole = written(&path);
        let ends: Vec<_> = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').collect();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).expect("written");
            let mut journal = Journal::open(&path).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
            // A line counts from its last brace on.
            let lines = ends.iter().filter(|(end, _)| *end <= cut).count();
            assert_eq!(journal.done(&"jöb-1".into()).is_some(), lines >= 1, "cut at {cut}");
            assert_eq!(journal.done(&"jöb-2".into()).is_some(), lines >= 3, "cut at {cut}");
            let owed = [0, 1, 0, 1][lines];
            assert_eq!(journal.unreported().len(), owed, "cut at {cut}");
            journal.record_executed(&"jöb-3".into(), report("/c")).expect("written");
            drop(journal);
            let journal = Journal::open(&path).expect("a journal");
            assert!(journal.done(&"jöb-3".into()).is_some(), "cut at {cut}");
            assert_eq!(journal.unreported().len(), owed + 1, "cut at {cut}");
        }
        let saved = fs::read(directory.path().join("journal.damaged")).expect("what was cut off");
        assert!(saved.split(|byte| *byte == b'\n').any(|line| !line.is_empty() && whole.starts_with(line)));
    }

    #[test]
    fn saves_and_skips_a_damaged_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let whole = written(&path);
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        for garbage in
            [&b"\0\0\0\n"[..], b"\xff\xfe\n", b"{\"job\":\"x\",\"exec\n", b"{\"job\":\"x\"}\n", b"[]\n"]
        {
            fs::write(&path, [lines[0], garbage, lines[1], lines[2]].concat()).expect("written");
            let journal = Journal::open(&path).expect("a journal");
            assert!(journal.done(&"jöb-1".into()).is_some() && journal.done(&"jöb-2".into()).is_some());
            assert_eq!(journal.unreported().len(), 1);
            assert!(journal.done(&"x".into()).is_none());
            let saved = fs::read(directory.path().join("journal.damaged")).expect("what was damaged");
            assert!(saved.ends_with(garbage));
        }
    }

    #[test]
    fn the_journal_does_not_grow_with_repeated_reports() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let line = "{\"job\":\"j1\",\"reported\":true}\n";
        fs::write(&path, line.repeat(100_000)).expect("written");
        let mut journal = Journal::open(&path).expect("a journal");
        assert_eq!(fs::metadata(&path).expect("a file").len(), 0, "written anew at the start");
        for _ in 0..600 {
            journal.record_executed(&"j1".into(), report("/a")).expect("written");
            journal.record_reported(&"j1".into()).expect("written");
        }
        drop(journal);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.lines().count() <= MAX_OBSOLETE_LINES + 2, "{} lines", text.lines().count());
        let journal = Journal::open(&path).expect("a journal");
        assert_eq!(journal.done(&"j1".into()).and_then(|done| done.path.as_deref()), Some("/a"));
        assert!(journal.unreported().is_empty());
    }

    #[test]
    fn locks_the_journal_for_one_runner_also_when_it_is_rewritten() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let mut held = Journal::open(&path).expect("a journal");
        assert!(matches!(Journal::open(&path), Err(JournalError::Held(_))));
        held.record_executed(&"j1".into(), report("/a")).expect("written");
        held.rewrite().expect("written");
        assert!(matches!(Journal::open(&path), Err(JournalError::Held(_))));
        held.record_executed(&"j2".into(), report("/b")).expect("written");
        drop(held);
        assert_eq!(Journal::open(&path).expect("a journal").unreported().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_journal() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/journal");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        written(&path);
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changed");
        Journal::open(&path).expect("a journal");
        assert_eq!(mode(&path), 0o600, "one that an earlier version has left open is closed");
    }

    #[test]
    fn refuses_a_journal_that_is_not_a_regular_file() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(matches!(Journal::open(directory.path()), Err(JournalError::File { .. })));
    }

    proptest! {
        #[test]
        fn opens_a_journal_of_any_bytes(
            lines in proptest::collection::vec(
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..60),
                    "\\{\"job\":\"j[0-9]\",\"(executed|done|reported)\":(true|\\{\\}|\\{\"ok\":(true|false),\"claimToken\":\"c\"\\})\\}"
                        .prop_map(String::into_bytes),
                ],
                0..12,
            ),
            is_cut in any::<bool>(),
        ) {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("journal");
            let mut bytes = lines.join(&b'\n');
            if !is_cut {
                bytes.push(b'\n');
            }
            fs::write(&path, bytes).expect("written");
            let mut journal = Journal::open(&path).expect("a journal");
            let owed = journal.unreported().to_vec();
            journal.record_executed(&"next".into(), report("/next")).expect("written");
            drop(journal);
            let journal = Journal::open(&path).expect("a journal");
            prop_assert_eq!(&journal.unreported()[..owed.len()], &owed[..]);
            prop_assert!(journal.done(&"next".into()).is_some());
        }
    }
}
