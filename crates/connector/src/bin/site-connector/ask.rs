//! `site-connector ask`

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use chat_connector::printable::{Printable, printable_json};
use chat_protocol::admin::AnswerOutcome;
use chat_protocol::admin::settings::{Expectation, TestQuestionText, TestResult, TestSource};
use chat_service::{Directory, Site};
use clap::Args;
use serde_json::json;

use crate::admin;
use crate::failure::Failure;
use crate::print::{count, say};
use crate::settings::DataFlags;

/// Maximum characters of a question in the table.
const QUESTION_WIDTH: usize = 44;

/// Ask a site's assistant a question, or test it with a file of questions
///
/// Answers as the built-in assistant answers a visitor. Nothing is counted or stored, and no AI endpoint is
/// asked: for a site that has one, the command shows the passages that the endpoint would get. Uses the
/// database and the key of `serve`, also while it runs: set them by the same --config, or by the flags below.
#[derive(Debug, Args)]
pub(crate) struct AskFlags {
    #[command(flatten)]
    data: DataFlags,
    #[command(flatten)]
    asked: Asked,
}

/// The questions to ask, and the form of the printed results.
#[derive(Debug, Args)]
struct Asked {
    /// The site's id
    #[arg(long, value_name = "ID")]
    site: String,
    /// The question
    #[arg(required_unless_present = "test", conflicts_with = "test")]
    question: Option<String>,
    /// The language tag of the visitor's page, such as en-US
    #[arg(long, value_name = "TAG", conflicts_with = "test")]
    locale: Option<String>,
    /// A file with a question in each line, as JSON: {"question": "…", "expects": "page", "expected":
    /// "/shipping"}. `expects` is page, words or no_answer. - reads standard input. Exits with 1 if an
    /// answer is not as expected
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// The certainty from which on the built-in assistant answers, 0 to 1 [default: that of the site]
    #[arg(long, value_name = "CERTAINTY", value_parser = thousandths)]
    threshold: Option<i64>,
    /// Print each result as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: AskFlags) -> Result<(), Failure> {
    let AskFlags { data, asked } = flags;
    let questions = match &asked.test {
        Some(path) => Some(parse(&read(path)?)?),
        None => None,
    };
    let settings = data.settings()?;
    let context = admin::open(&settings).await?;
    let outcome = ask(&context.admin, &asked, questions).await;
    context.service.close().await;
    outcome
}

async fn ask(
    directory: &Directory,
    asked: &Asked,
    questions: Option<Vec<TestQuestionText>>,
) -> Result<(), Failure> {
    let site = directory.site(&asked.site).await?;
    match questions {
        Some(questions) => test(directory, asked, &site, &questions).await,
        None => answer(directory, asked, &site).await,
    }
}

/// Prints the answer to one question.
async fn answer(directory: &Directory, asked: &Asked, site: &Site) -> Result<(), Failure> {
    let question = TestQuestionText {
        question: asked.question.clone().unwrap_or_default(),
        locale: asked.locale.clone().unwrap_or_default(),
        expects: Expectation::NoAnswer,
        expected: String::new(),
    };
    let result = directory.ask(site, &question, asked.threshold).await?;
    let TestResult { outcome, answer, sources, .. } = &result;
    let value = json!({ "outcome": outcome, "answer": answer, "sources": sources });
    say(asked.json, &value, || {
        let mut lines: Vec<String> = Vec::new();
        if !answer.is_empty() {
            lines.extend([answer.clone(), String::new()]);
        }
        lines.push(got(&result).to_owned());
        lines.extend(sources.iter().map(|source| format!("  {}", place(source))));
        lines.join("\n")
    });
    Ok(())
}

/// Asks all questions, and fails if an answer is not as expected.
async fn test(
    directory: &Directory,
    asked: &Asked,
    site: &Site,
    questions: &[TestQuestionText],
) -> Result<(), Failure> {
    // A closed pipe is ignored: the exit code has the outcome.
    let print = |line: &str| drop(writeln!(io::stdout(), "{line}"));
    let mut failed = 0;
    for question in questions {
        let result = directory.ask(site, question, asked.threshold).await?;
        failed += u64::from(!result.passed);
        print(&formatted(question, &result, asked.json));
    }
    let all = u64::try_from(questions.len()).unwrap_or(u64::MAX);
    if failed > 0 {
        return Err(Failure::new(format!("{failed} of {} failed", count(all, "question"))));
    }
    if !asked.json {
        print(&format!("{} passed.", count(all, "question")));
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    read.map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

/// Parses a file of questions: one in each line that is not empty and does not begin with #.
fn parse(text: &str) -> Result<Vec<TestQuestionText>, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let questions = lines.map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::usage(format!("invalid line {number}: expected a question as JSON, got {line}: {error}"))
        })
    });
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    if questions.is_empty() {
        return Err(Failure::usage("invalid file of questions: expected one in each line, got none"));
    }
    Ok(questions)
}

fn formatted(question: &TestQuestionText, result: &TestResult, json: bool) -> String {
    if json {
        let mut value = serde_json::to_value(result).unwrap_or_default();
        value["question"] = question.question.clone().into();
        value["expects"] = question.expects.as_str().into();
        value["expected"] = question.expected.clone().into();
        return printable_json(&value.to_string());
    }
    let mut asked = Printable(&question.question).to_string();
    if asked.chars().count() > QUESTION_WIDTH {
        asked = asked.chars().take(QUESTION_WIDTH - 1).chain(['…']).collect();
    }
    let mut line = format!(
        "{}  {asked:<QUESTION_WIDTH$}  {}",
        if result.passed { "ok    " } else { "FAILED" },
        got(result)
    );
    if let Some(source) = result.sources.first() {
        let _ = write!(line, ", {}", place(source));
    }
    if !result.passed {
        let expected = match question.expects {
            Expectation::Page => format!("an answer from {}", Printable(&question.expected)),
            Expectation::Words => format!("the words {}", Printable(&question.expected)),
            Expectation::NoAnswer => "no answer".to_owned(),
        };
        let _ = write!(line, "; expected {expected}");
    }
    line
}

/// Tells what came of a question.
fn got(result: &TestResult) -> &'static str {
    match (result.outcome, result.sources.is_empty()) {
        (None, true) => "nothing would be sent",
        (None, false) => "would be sent",
        (Some(AnswerOutcome::Answered), _) => "answered",
        (Some(AnswerOutcome::SmallTalk), _) => "small talk",
        (Some(_), true) => "no answer",
        (Some(_), false) => "may help",
    }
}

/// Tells where a source is, and how certain it is.
fn place(source: &TestSource) -> String {
    let place = source.location.as_deref().unwrap_or(&source.id);
    format!("{} ({}.{} %)", Printable(place), source.certainty / 10, source.certainty % 10)
}

/// Parses a certainty from 0 to 1, and returns it in thousandths.
fn thousandths(text: &str) -> Result<i64, String> {
    let certainty = text.parse::<f64>().ok().filter(|certainty| (0.0..=1.0).contains(certainty));
    let certainty = certainty.ok_or_else(|| format!("expected 0 to 1, got {text}"))?;
    #[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1")]
    let thousandths = (certainty * 1000.0).round() as i64;
    Ok(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_question_in_each_line() {
        let text = "\u{feff}# shipping\n\n{\"question\":\"Do you ship?\",\"expects\":\"page\",\"expected\":\"/shipping\"}\r\n  \
                    {\"question\":\"Who won?\",\"expects\":\"no_answer\"}";
        let questions = parse(text).expect("two questions");
        assert_eq!((questions.len(), questions[1].expects), (2, Expectation::NoAnswer));
        for (text, problem) in [
            ("", "got none"),
            ("# only a comment", "got none"),
            ("{\"question\":\"a\"}", "invalid line 1"),
            ("\n{\"question\":\"a\",\"expects\":\"luck\"}", "invalid line 2"),
            ("{\"question\":\"a\",\"expects\":\"no_answer\",\"surprise\":1}", "surprise"),
        ] {
            let error = parse(text).expect_err(text).shown();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_line_of_the_table_says_what_was_expected_and_what_came() {
        let question = TestQuestionText {
            question: "How long may I return\u{1b} a mug that I bought a month ago?".to_owned(),
            expects: Expectation::Page,
            expected: "/returns".to_owned(),
            ..TestQuestionText::default()
        };
        let source = TestSource { id: "answer:1".to_owned(), certainty: 421, ..TestSource::default() };
        let result = TestResult {
            outcome: Some(AnswerOutcome::CouldNotAnswer),
            sources: vec![source],
            ..TestResult::default()
        };
        let line = formatted(&question, &result, false);
        assert!(line.starts_with("FAILED  How long may I return") && !line.contains('\u{1b}'), "{line}");
        assert!(line.ends_with("may help, answer:1 (42.1 %); expected an answer from /returns"), "{line}");
    }

    #[test]
    fn a_certainty_is_a_number_from_0_to_1() {
        assert_eq!((thousandths("0.4"), thousandths("1"), thousandths("0")), (Ok(400), Ok(1000), Ok(0)));
        for text in ["", "1.1", "-0.1", "NaN", "inf", "40 %"] {
            assert!(thousandths(text).is_err(), "{text}");
        }
    }
}
