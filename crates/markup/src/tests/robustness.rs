//! Robustness: every text renders completely, in linear time.

use proptest::prelude::*;

use super::{STEPS, plain, rendered};

/// Returns texts on which other parsers needed more than linear time.
fn hostile(length: usize) -> Vec<String> {
    let pieces = [
        "[",
        "]",
        "![",
        "](",
        "[](",
        "[a](",
        "[](https://a",
        "[a](https://a.example)",
        "*",
        "* ",
        "*a",
        "**a",
        "*a ",
        "**a ",
        "_",
        "_a",
        "a_",
        "a_ _b ",
        "***a",
        "a**b",
        "*a_ ",
        "~~a",
        "~~",
        ">",
        "> ",
        ">a\n",
        "> > a\n",
        "`",
        "`a",
        "` ``",
        "|",
        "|\n",
        "|a|\n|-|\n",
        "|-|\n",
        "- ",
        "- a\n",
        " - a\n",
        "1. ",
        "1. a\n",
        "```\n",
        "~~~\na\n",
        "#",
        "# a\n",
        "-",
        "- -\n",
        "<",
        "<https://",
        "https://",
        "https://a(",
        "http:",
        "a:",
        "a@",
        "a@b",
        "a.",
        "www.",
        "www.a",
        "www.?",
        "a.a_",
        "\\",
        "\\\\",
        "\n",
        " ",
        "\t",
        "a",
        "\u{e9}",
        "\u{202e}",
    ];
    let mut texts: Vec<String> = pieces.iter().map(|piece| piece.repeat(length / piece.len())).collect();
    // Unmatched runs of backticks of all lengths.
    let mut runs = String::new();
    let mut run = 0;
    while runs.len() < length {
        run += 1;
        runs.push_str(&"`".repeat(run));
        runs.push(' ');
    }
    texts.push(runs);
    texts.push(format!("{}{}", "[".repeat(length / 2), "](https://a.example)".repeat(length / 40)));
    texts.push(format!("{}{}", "*a ".repeat(length / 6), "b_ ".repeat(length / 6)));
    texts.push(format!("{}\n{}", "|a".repeat(length / 4), "|-".repeat(length / 4)));
    texts.push(format!("https://a.example{}", ")".repeat(length)));
    texts
}

/// Returns the steps that a text takes: bytes that are read, and calls of the sink.
fn steps_of(text: &str) -> usize {
    STEPS.set(0);
    let written = rendered(text);
    assert!(written.deepest < 80, "{} deep", written.deepest);
    STEPS.get() + written.calls
}

#[test]
fn the_running_time_of_hostile_texts_is_linear() {
    for (short, long) in hostile(2_000).iter().zip(hostile(8_000)) {
        let start: String = short.chars().take(24).collect();
        let (short, long) = (steps_of(short), steps_of(&long));
        assert!(long <= 4 * short + short / 4 + 100, "{start:?}: {short} steps became {long}");
        assert!(long <= 8_000 * 64, "{start:?}: {long} steps");
    }
}

#[test]
fn a_megabyte_takes_a_bounded_number_of_steps_for_each_byte() {
    const LENGTH: usize = 1 << 20;
    let runs = ["*", "_", "`", "[", "*a ", "[a](", "> > a\n", "|a|\n|-|\n"];
    for text in runs.iter().map(|piece| piece.repeat(LENGTH / piece.len())) {
        let start: String = text.chars().take(24).collect();
        let steps = steps_of(&text);
        assert!(steps <= LENGTH * 64, "{start:?}: {steps} steps");
    }
}

/// Returns the letters of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphabetic()).collect()
}

/// Asserts that the letters and digits of a rendered text are in the source, in this order.
fn assert_is_subsequence(text: &str) {
    let shown = rendered(text).text;
    let mut given = text.chars();
    let in_order =
        shown.chars().filter(|shown| shown.is_alphanumeric()).all(|shown| given.any(|given| given == shown));
    assert!(in_order, "{text:?} shows {shown:?}");
    assert_eq!(plain(text).is_empty(), text.is_empty());
}

/// Asserts that every letter is rendered, for texts without addresses of links and languages of code, which
/// are not.
fn assert_no_letter_is_lost(text: &str) {
    assert_eq!(letters(&rendered(text).text), letters(text), "{text:?}");
}

fn has_hidden_parts(text: &str) -> bool {
    ["](", "```", "~~~"].iter().any(|part| text.contains(part))
}

/// Generates texts of many markers.
fn markup(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

const PIECES: &[&str] = &[
    "*",
    "**",
    "***",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "[",
    "]",
    "(",
    ")",
    "!",
    "<",
    ">",
    "\n",
    "\n\n",
    "\n- ",
    "\n1. ",
    "\n2) ",
    "\n> ",
    "\n  ",
    "\n\t",
    "|",
    "\n|-|",
    "\n---",
    "\n# ",
    "\\",
    " ",
    "  ",
    "a",
    "b c",
    "\u{e9}",
    "\u{5d0}",
    "\u{1f600}",
    "\u{202e}",
    ".",
    ",",
    ":",
    "@",
    "@x.org",
    "https://a.example",
    "http://",
    "www.",
    "www.b.example",
    "1",
    "\r\n",
    "\0",
];
const HIDING: &[&str] = &[
    "[",
    "![",
    "](",
    "](https://a.example)",
    "](https://a.example \"t\")",
    "](javascript:b)",
    ")",
    "```",
    "\n```",
    "\n~~~rust\n",
    "`",
    "*",
    "**",
    "_",
    "a",
    "b.c",
    " ",
    "\n",
    "\n- ",
    "> ",
    "\\",
    "\u{e9}",
    "https://d.example/(",
    "|",
    "\n|-|\n",
];

proptest! {
    #[test]
    fn any_text_renders_without_losing_a_letter(text in any::<String>(), marked in markup(PIECES)) {
        for text in [text, marked] {
            assert_is_subsequence(&text);
            if !has_hidden_parts(&text) {
                assert_no_letter_is_lost(&text);
            }
        }
    }

    /// Includes patterns that are not in the list of hostile texts.
    #[test]
    fn the_running_time_of_repeated_patterns_is_linear(marked in markup(PIECES), hiding in markup(HIDING)) {
        for pattern in [marked, hiding].into_iter().filter(|pattern| !pattern.is_empty()) {
            let text = pattern.repeat(8_000 / pattern.len() + 1);
            let steps = steps_of(&text);
            prop_assert!(steps <= text.len() * 64, "{:?}: {} steps for {} bytes", pattern, steps, text.len());
        }
    }

    #[test]
    fn rendered_text_is_a_subsequence_of_the_source(text in markup(HIDING)) {
        assert_is_subsequence(&text);
    }

    #[test]
    fn every_prefix_of_a_text_renders(text in markup(PIECES), hiding in markup(HIDING)) {
        for text in [text, hiding] {
            for (end, _) in text.char_indices() {
                assert_is_subsequence(&text[..end]);
            }
        }
    }
}

/// A collection of naughty strings, beside the project or in the folder that `CORPORA` names.
#[test]
fn naughty_strings_render_without_losing_a_letter() {
    let folder = std::env::var("CORPORA").unwrap_or_else(|_| "../../../shared/corpora".to_owned());
    let file = format!("{folder}/naughty-strings.json");
    let Ok(json) = std::fs::read_to_string(&file) else {
        eprintln!("not tested: there is no {file}");
        return;
    };
    let texts: Vec<String> = serde_json::from_str(&json).expect("a list of strings");
    assert!(!texts.is_empty());
    for text in &texts {
        assert_is_subsequence(text);
        if !has_hidden_parts(text) {
            assert_no_letter_is_lost(text);
        }
    }
}
