//! Removes what a model thought before its answer. Each family of models marks it in a form of its own, and
//! many servers pass it on as text.

/// The marks around thoughts, in lower case. The second mark may occur without the first, which the template
/// of the prompt has written then.
const MARKS: [(&str, &str); 13] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>", "<unused95>"),
];

/// Marks around an answer, which are not shown.
const ANSWER_MARKS: [&str; 8] = [
    "<answer>",
    "</answer>",
    "<|start_response|>",
    "<|end_response|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<response>",
    "</response>",
];

/// Marks of the end of a turn, which some servers leave at the end of a text.
const END_MARKS: [&str; 8] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "</s>",
    "<|eom_id|>",
];

/// The mark before the name of a channel, in OpenAI's Harmony format.
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// What is left of the marks around the channels where a server has removed the special tokens.
const FINAL: &str = "assistantfinal";

/// Returns the answer in a text; empty if the text is only thoughts.
pub(super) fn without_thoughts(text: &str) -> String {
    // Marks are ASCII, or have no upper case: positions are those of the text.
    let folded = text.to_ascii_lowercase();
    if folded.contains(CHANNEL) {
        return without_marked(of_final_channel(text, &folded));
    }
    match folded.find(FINAL) {
        Some(at) if folded.trim_start().starts_with("analysis") => without_marked(&text[at + FINAL.len()..]),
        _ => without_marked(text),
    }
}

/// Returns what a text has after the last mark that closes thoughts. If nothing follows, that is what stands
/// before the first mark that opens them.
fn without_marked(text: &str) -> String {
    let folded = text.to_ascii_lowercase();
    let last_close = MARKS.iter().filter_map(|(_, close)| Some(folded.rfind(close)? + close.len())).max();
    let after = last_close.unwrap_or(0);
    let answer = without_end(before_thoughts(&text[after..], &folded[after..]));
    if answer.is_empty() && last_close.is_some() {
        return without_end(before_thoughts(text, &folded));
    }
    answer
}

/// Returns what a text has before its thoughts; nothing if they have no beginning.
fn before_thoughts<'text>(text: &'text str, folded: &str) -> &'text str {
    let first = |marks: fn(&(&'static str, &'static str)) -> &'static str| {
        MARKS.iter().filter_map(|pair| folded.find(marks(pair))).min()
    };
    match (first(|(open, _)| open), first(|(_, close)| close)) {
        (Some(open), Some(close)) if close < open => "",
        (None, Some(_)) => "",
        (Some(open), _) => &text[..open],
        (None, None) => text,
    }
}

/// Returns the last message of the channel `final`; empty if there is none.
fn of_final_channel<'text>(text: &'text str, folded: &str) -> &'text str {
    let begin = folded.rfind(&format!("{CHANNEL}final"));
    let begin = begin.and_then(|at| Some(at + folded[at..].find(MESSAGE)? + MESSAGE.len()));
    let Some(begin) = begin else { return "" };
    let marks = ["<|end|>", "<|return|>", "<|start|>", CHANNEL];
    let end = marks.iter().filter_map(|mark| folded[begin..].find(mark)).min();
    &text[begin..end.map_or(text.len(), |end| begin + end)]
}

/// Returns a text without white space and marks at both ends.
fn without_end(text: &str) -> String {
    let mut text = text.trim();
    while let Some(rest) = END_MARKS.iter().chain(&ANSWER_MARKS).find_map(|mark| strip(text, mark)) {
        text = rest.trim();
    }
    text.to_owned()
}

/// Returns a text without a mark at its beginning or its end, in any case.
fn strip<'text>(text: &'text str, mark: &str) -> Option<&'text str> {
    let is_mark = |part: Option<&str>| part.is_some_and(|part| part.eq_ignore_ascii_case(mark));
    if is_mark(text.get(..mark.len())) {
        return text.get(mark.len()..);
    }
    let end = text.len().checked_sub(mark.len())?;
    is_mark(text.get(end..)).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases;

    #[test]
    fn shows_the_answer_after_thoughts_of_every_form() {
        for (open, close) in MARKS {
            let (upper_open, upper_close) = (open.to_ascii_uppercase(), close.to_ascii_uppercase());
            for text in [
                format!("{open}The user wants a refund, page 2 says no…{close}\n\nYes, within 30 days."),
                format!("{upper_open}\nSECRET\n{upper_close}\nYes, within 30 days."),
                format!("SECRET{close}Yes, within 30 days."),
                format!("{open}one{open}two{close}three{close} Yes, within 30 days.</s>"),
                format!("{open}{close}Yes, within 30 days."),
                format!("Let me look.{open}SECRET{close}Yes, within 30 days.{open}Was that right?"),
                format!("Yes, within 30 days.\n{open}SECRET"),
                format!("Yes, within 30 days.\n{open}SECRET{close}\n"),
            ] {
                assert_eq!(without_thoughts(&text), "Yes, within 30 days.", "{text}");
            }
            for text in [format!("{open}SECRET"), format!("{open}SECRET{close}\n"), format!("SECRET{close}")]
            {
                assert_eq!(without_thoughts(&text), "", "{text}");
            }
        }
    }

    #[test]
    fn shows_the_final_channel_only() {
        for text in [
            "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
            "<|channel|>final <|constrain|>text<|message|>Yes.",
            "<|CHANNEL|>commentary<|message|>{}<|call|><|channel|>final<|message|>Yes.<|end|>",
            "analysisSECRETassistantfinalYes.",
        ] {
            assert_eq!(without_thoughts(text), "Yes.", "{text}");
        }
        for text in ["<|channel|>analysis<|message|>SECRET", "<|channel|>analysis", "<|channel|>final"] {
            assert_eq!(without_thoughts(text), "", "{text}");
        }
    }

    #[test]
    fn leaves_other_texts_and_removes_marks_at_their_ends() {
        for text in
            ["I think so.", "a < b > c", "Write [thinking] here", "analysis of your order", "東京です"]
        {
            assert_eq!(without_thoughts(text), text);
        }
        for text in ["Yes.<|im_end|>", "<answer>Yes.</answer>", "<think>a</think><Answer>Yes.</Answer> </s>"]
        {
            assert_eq!(without_thoughts(text), "Yes.", "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn accepts_any_text_and_keeps_no_mark_of_thoughts(
            text in "(<think>|</think>|<thinking>|\\[/THINK\\]|◁/think▷|<\\|channel\\|>|final|<\\|message\\|>|İß|.|\n){0,12}",
        ) {
            let shown = without_thoughts(&text).to_ascii_lowercase();
            for (open, close) in MARKS {
                prop_assert!(!shown.contains(open) && !shown.contains(close), "{}", shown);
            }
        }
    }
}
