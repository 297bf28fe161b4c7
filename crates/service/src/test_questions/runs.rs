//! The results of runs: the last one and the one before, with what got better and what got worse.

use std::collections::HashMap;

use chat_protocol::admin::settings::{
    TestChange, TestQuestion, TestQuestionText, TestQuestions, TestResult, TestRun,
};
use serde::{Deserialize, Serialize};

use super::questions::{self, Stored};
use super::schedule;
use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};

const LATEST: &str = "SELECT no, ended_ms, threshold, only_passages, results FROM test_runs
                      WHERE site_id = $1 ORDER BY no DESC LIMIT 2";

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) ended_ms: i64,
    /// The threshold in thousandths.
    pub(super) threshold: i64,
    pub(super) only_passages: bool,
    pub(super) results: Vec<Judged>,
}

/// The result of a question, as it was at the time of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Judged {
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) result: TestResult,
}

impl Run {
    /// Returns the results by question and version.
    fn by_question(&self) -> HashMap<(&str, i64), &TestResult> {
        let results = self.results.iter();
        results.map(|judged| ((judged.id.as_str(), judged.version), &judged.result)).collect()
    }

    /// Returns whether a question has passed in one of the runs and failed in the other.
    fn differs_from(&self, other: &Self) -> bool {
        let known = other.by_question();
        self.results.iter().any(|judged| {
            let result = known.get(&(judged.id.as_str(), judged.version));
            result.is_some_and(|result| result.passed != judged.result.passed)
        })
    }
}

/// Stores a run. It takes the place of the last one if no outcome differs, so that the last difference stays
/// in view.
pub(super) async fn store(tx: &mut Tx, site_id: &str, run: &Run) -> Result<(), DbError> {
    let rows = tx.all(LATEST, args![site_id]).await?;
    let kept = match rows.first() {
        None => None,
        Some(row) if run.differs_from(&read(row)?) => Some(row.int(0)?),
        Some(_) => rows.get(1).map(|row| row.int(0)).transpose()?,
    };
    let outdated = "DELETE FROM test_runs WHERE site_id = $1 AND no <> $2";
    tx.execute(outdated, args![site_id, kept.unwrap_or_default()]).await?;
    let results = serde_json::to_string(&run.results).unwrap_or_default();
    let sql = "INSERT INTO test_runs (site_id, ended_ms, threshold, only_passages, results)
               VALUES ($1, $2, $3, $4, $5)";
    let values = args![site_id, run.ended_ms, run.threshold, run.only_passages, results];
    tx.execute(sql, values).await.map(drop)
}

fn read(row: &Row) -> Result<Run, DbError> {
    Ok(Run {
        ended_ms: row.int(1)?,
        threshold: row.int(2)?,
        only_passages: row.flag(3)?,
        results: serde_json::from_str(&row.text(4)?).unwrap_or_default(),
    })
}

/// Returns the test questions of a site with the results of the last run.
pub(super) async fn show(db: &Db, now_ms: i64, site_id: &str) -> Result<TestQuestions, DbError> {
    // The state is read first: a run that ends meanwhile is shown, or is looked for again.
    let is_running = schedule::is_running(db, now_ms, site_id).await?;
    let runs = db.all(LATEST, args![site_id]).await?;
    let runs = runs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let questions = questions::list(db, site_id).await?;
    Ok(shown(questions, runs.first(), runs.get(1), is_running))
}

fn shown(stored: Vec<Stored>, last: Option<&Run>, before: Option<&Run>, is_running: bool) -> TestQuestions {
    let results = last.map(Run::by_question).unwrap_or_default();
    let earlier = before.map(Run::by_question).unwrap_or_default();
    let questions = stored.into_iter().map(|stored| {
        let key = (stored.id.as_str(), stored.version);
        let result = results.get(&key).copied().cloned();
        let passed = result.as_ref().map(|result| result.passed);
        let change = match (earlier.get(&key).map(|result| result.passed), passed) {
            (Some(false), Some(true)) => Some(TestChange::Better),
            (Some(true), Some(false)) => Some(TestChange::Worse),
            _ => None,
        };
        let TestQuestionText { question, locale, expects, expected } = stored.written;
        TestQuestion { id: stored.id, question, locale, expects, expected, result, change }
    });
    let questions: Vec<TestQuestion> = questions.collect();
    let count = |is_counted: &dyn Fn(&TestQuestion) -> bool| {
        let count = questions.iter().filter(|question| is_counted(question)).count();
        i64::try_from(count).unwrap_or(i64::MAX)
    };
    let has_passed = |question: &TestQuestion| question.result.as_ref().map(|result| result.passed);
    let run = last.map(|last| TestRun {
        ended_at: iso(last.ended_ms),
        threshold: last.threshold,
        only_passages: last.only_passages,
        passed: count(&|question| has_passed(question) == Some(true)),
        failed: count(&|question| has_passed(question) == Some(false)),
        better: count(&|question| question.change == Some(TestChange::Better)),
        worse: count(&|question| question.change == Some(TestChange::Worse)),
        before: before.map(|before| iso(before.ended_ms)),
    });
    TestQuestions { run, questions, is_running }
}
