//! The knowledge of the demo's shop, as questions and answers.

use chat_protocol::admin::settings::AnswerText;

const SHOP: &str = include_str!("shop.md");

/// Returns the questions and answers of the demo's shop. The words that people use for a subject are in the
/// question, below its title.
pub(crate) fn answers() -> Vec<AnswerText> {
    let sections = SHOP.split("\n## ").skip(1).filter_map(|section| {
        let (title, rest) = section.split_once('\n')?;
        let (subjects, answer) = rest.split_once('\n')?;
        Some(AnswerText {
            question: format!("{title}\n{subjects}"),
            answer: answer.trim().to_owned(),
            locale: "en".to_owned(),
        })
    });
    sections.collect()
}
