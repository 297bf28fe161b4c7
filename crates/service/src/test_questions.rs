//! The questions by which an owner tests the assistant of a site ([decision 0062]).
//!
//! A worker asks them in the background, when an operator wants it and after the knowledge has changed, and
//! keeps the last run and the one before, so that an owner sees what got better and what got worse.
//!
//! [decision 0062]: ../../../docs/decisions/0062-test-questions.md

mod ask;
mod judge;
mod questions;
mod runs;
mod schedule;
mod test_questions_routes;
#[cfg(test)]
mod test_questions_tests;
mod worker;

pub(crate) use ask::ask;
pub(crate) use test_questions_routes::{TestQuestionsApi, routes};
pub(crate) use worker::run;
