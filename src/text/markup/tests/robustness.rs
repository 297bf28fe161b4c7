//! Any text renders, loses nothing, and takes no longer than its length says.

use proptest::prelude::*;

use super::{STEPS, plain, rendered};

/// Texts that have cost others more than their length.
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
    // Runs of backticks of all lengths, none of which has a partner.
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

/// The steps that a text takes: bytes that are looked at, and what is written.
fn work(text: &str) -> usize {
    STEPS.set(0);
    let written = rendered(text);
    assert!(written.deepest < 80, "{} deep", written.deepest);
    STEPS.get() + written.calls
}

#[test]
fn no_text_takes_longer_than_its_length_says() {
    for (short, long) in hostile(2_000).iter().zip(hostile(8_000)) {
        let start: String = short.chars().take(24).collect();
        let (short, long) = (work(short), work(&long));
        assert!(long <= 4 * short + short / 4 + 100, "{start:?}: {short} steps became {long}");
        assert!(long <= 8_000 * 64, "{start:?}: {long} steps");
    }
}

#[test]
fn a_megabyte_takes_a_few_steps_for_each_byte() {
    const LENGTH: usize = 1 << 20;
    let runs = ["*", "_", "`", "[", "*a ", "[a](", "> > a\n", "|a|\n|-|\n"];
    for text in runs.iter().map(|piece| piece.repeat(LENGTH / piece.len())) {
        let start: String = text.chars().take(24).collect();
        let steps = work(&text);
        assert!(steps <= LENGTH * 64, "{start:?}: {steps} steps");
    }
}

/// The letters of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphabetic()).collect()
}

/// Holds for every text at all.
fn holds(text: &str) {
    let shown = rendered(text).text;
    let mut given = text.chars();
    let in_order =
        shown.chars().filter(|shown| shown.is_alphanumeric()).all(|shown| given.any(|given| given == shown));
    assert!(in_order, "{text:?} shows {shown:?}");
    assert_eq!(plain(text).is_empty(), text.is_empty());
}

/// Holds for every text in which neither a link's address nor the language of code may hide a letter.
fn holds_to_the_letter(text: &str) {
    assert_eq!(letters(&rendered(text).text), letters(text), "{text:?}");
}

fn has_hidden_parts(text: &str) -> bool {
    ["](", "```", "~~~"].iter().any(|part| text.contains(part))
}

/// Texts with more markup in them than people write.
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
    fn any_text_renders_and_loses_no_letter(text in any::<String>(), marked in markup(PIECES)) {
        for text in [text, marked] {
            holds(&text);
            if !has_hidden_parts(&text) {
                holds_to_the_letter(&text);
            }
        }
    }

    /// Patterns that nobody has thought of as well.
    #[test]
    fn any_pattern_that_repeats_takes_steps_by_its_length(marked in markup(PIECES), hiding in markup(HIDING)) {
        for pattern in [marked, hiding].into_iter().filter(|pattern| !pattern.is_empty()) {
            let text = pattern.repeat(8_000 / pattern.len() + 1);
            let steps = work(&text);
            prop_assert!(steps <= text.len() * 64, "{:?}: {} steps for {} bytes", pattern, steps, text.len());
        }
    }

    #[test]
    fn what_is_shown_stands_in_the_text_in_its_order(text in markup(HIDING)) {
        holds(&text);
    }

    #[test]
    fn every_beginning_of_a_text_renders(text in markup(PIECES), hiding in markup(HIDING)) {
        for text in [text, hiding] {
            for (end, _) in text.char_indices() {
                holds(&text[..end]);
            }
        }
    }
}

/// A collection of naughty strings, beside the project or in the folder that `CORPORA` names.
#[test]
fn naughty_strings_render_and_lose_no_letter() {
    let folder = std::env::var("CORPORA").unwrap_or_else(|_| "../shared/corpora".to_owned());
    let file = format!("{folder}/naughty-strings.json");
    let Ok(json) = std::fs::read_to_string(&file) else {
        eprintln!("not tested: there is no {file}");
        return;
    };
    let texts: Vec<String> = serde_json::from_str(&json).expect("a list of strings");
    assert!(!texts.is_empty());
    for text in &texts {
        holds(text);
        if !has_hidden_parts(text) {
            holds_to_the_letter(text);
        }
    }
}
