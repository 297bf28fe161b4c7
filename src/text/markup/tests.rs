use std::cell::Cell;

use proptest::prelude::*;

use super::{Sink, render, render_plain};

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Work is counted, not timed: each byte that is looked at is a step.
pub(super) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

/// Writes what it is given as tags, and holds that elements end in the order in which they began.
#[derive(Default)]
struct Written {
    all: String,
    /// Only the text, without the hosts behind links.
    text: String,
    open: Vec<&'static str>,
    deepest: usize,
    calls: usize,
}

impl Sink for Written {
    fn open(&mut self, tag: &'static str, value: &str) {
        self.calls += 1;
        let parent = self.open.last().copied();
        match tag {
            "li" => assert!(matches!(parent, Some("ul" | "ol")), "an item in {parent:?}"),
            "td" | "th" => assert_eq!(parent, Some("tr")),
            "a" => assert!(!self.open.contains(&"a"), "a link in a link"),
            "pre" | "table" => assert_eq!(parent, Some("div")),
            "p" | "hr" | "div" | "ul" | "ol" | "blockquote" => {
                assert!(matches!(parent, None | Some("li" | "blockquote")), "{tag} in {parent:?}");
            }
            _ => {}
        }
        // The boxes around code and tables are for their looks.
        if tag != "div" {
            let space = if value.is_empty() { "" } else { " " };
            self.all.extend(["<", tag, space, value, ">"]);
        }
        self.open.push(tag);
        self.deepest = self.deepest.max(self.open.len());
    }

    fn close(&mut self) {
        self.calls += 1;
        let tag = self.open.pop().expect("an element to close");
        if tag != "div" {
            self.all.extend(["</", tag, ">"]);
        }
    }

    fn text(&mut self, text: &str) {
        self.calls += 1;
        assert!(!text.is_empty());
        self.all.push_str(text);
        if !self.open.contains(&"bdi") {
            self.text.push_str(text);
        }
    }
}

fn rendered(text: &str) -> Written {
    let mut written = Written::default();
    render(text, &mut written);
    assert!(written.open.is_empty(), "all elements are closed");
    written
}

fn html(text: &str) -> String {
    rendered(text).all
}

/// What becomes of one line, without the paragraph around it.
fn line(text: &str) -> String {
    let html = html(text);
    let inner = html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>"));
    inner.unwrap_or(&html).to_owned()
}

fn plain(text: &str) -> String {
    let mut written = Written::default();
    render_plain(text, &mut written);
    assert!(written.open.is_empty(), "all elements are closed");
    written.all
}

#[test]
fn a_blank_line_parts_paragraphs_and_a_line_end_breaks_a_line() {
    assert_eq!(html("one\ntwo\r\n\r\n \n  three  "), "<p>one\ntwo</p><p>three</p>");
    assert_eq!(html(""), "");
    assert_eq!(html(" \n\n"), "");
}

#[test]
fn emphasis_is_marked_by_as_many_on_both_sides() {
    assert_eq!(
        line("*a* _b_ **c** __d__ ~~e~~"),
        "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <s>e</s>"
    );
    assert_eq!(line("***both***"), "<em><strong>both</strong></em>");
    assert_eq!(line("**bold *and***"), "<strong>bold <em>and</em></strong>");
    assert_eq!(line("**bold\nmore**"), "<strong>bold\nmore</strong>");
    assert_eq!(line("中文**粗体。**中文*斜体*中文"), "中文<strong>粗体。</strong>中文<em>斜体</em>中文");
    assert_eq!(line("**A**cme **B**rick"), "<strong>A</strong>cme <strong>B</strong>rick");
}

#[test]
fn what_only_looks_like_emphasis_is_text() {
    for text in [
        "snake_case_words",
        "2*3*4",
        "2 * 3 * 4",
        "5 ** 3 ** 2",
        "caf\u{e9}_bar_x",
        "~a~",
        "****a****",
        "a_b_",
    ] {
        assert_eq!(line(text), text);
    }
    assert_eq!(line("from 5 \u{20ac}*\n*plus delivery"), "from 5 \u{20ac}*\n*plus delivery");
}

#[test]
fn a_marker_without_its_partner_is_text() {
    assert_eq!(line("**bold"), "**bold");
    assert_eq!(line("**bold*"), "**bold*");
    assert_eq!(line("*a **b*"), "<em>a **b</em>");
    assert_eq!(line("`code"), "`code");
    assert_eq!(line("[text](https://a.example"), "[text](<a https://a.example>https://a.example</a>");
}

#[test]
fn code_is_left_as_it_is() {
    assert_eq!(line("`**a** <b> &amp; \\*`"), "<code>**a** <b> &amp; \\*</code>");
    assert_eq!(line("`` a`b ``"), "<code>a`b</code>");
    assert_eq!(line("```` ` `````"), "```` ` `````");
    assert_eq!(line("*a `b* c`"), "*a <code>b* c</code>");
}

#[test]
fn a_backslash_takes_a_marker_its_meaning() {
    assert_eq!(
        line("\\*a\\* \\[b](https://a.example) C:\\dir \\\\"),
        "*a* [b](<a https://a.example>https://a.example</a>) C:\\dir \\"
    );
    assert_eq!(html("\\# a\n\\- b"), "<p># a\n- b</p>");
}

#[test]
fn html_and_entities_are_text() {
    let text = "<b onclick=\"x()\">a</b> &lt; <script>alert(1)</script> <!-- -->";
    assert_eq!(line(text), text);
}

#[test]
fn a_link_leads_to_http_mail_or_a_telephone() {
    assert_eq!(
        line("[a **b**](https://a.example/?x=1_2_3)"),
        "<a https://a.example/?x=1_2_3>a <strong>b</strong></a>"
    );
    assert_eq!(line("[a](HTTP://a.example)"), "<a HTTP://a.example>a</a>");
    assert_eq!(
        line("[a](mailto:a@b.example) [b](tel:+491234)"),
        "<a mailto:a@b.example>a</a> <a tel:+491234>b</a>"
    );
    assert_eq!(line("[a](https://a.example/b_(c)) d"), "<a https://a.example/b_(c)>a</a> d");
    assert_eq!(line("[a](https://a.example \"the title\")"), "<a https://a.example>a</a>");
    assert_eq!(line("[[a] b](https://a.example)"), "<a https://a.example>[a] b</a>");
}

#[test]
fn a_link_anywhere_else_is_text() {
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "\u{1}javascript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:x",
        "/relative",
        "relative",
        "//a.example",
        "?query",
        "#hash",
        "",
        "https:a.example",
        "https:/a.example",
        "https:///a.example",
        "https://\\a.example",
        "https://",
        "mailto:",
        "\u{200b}https:x",
    ] {
        let text = format!("[a]({address})");
        assert_eq!(line(&text), text, "{address:?}");
    }
}

#[test]
fn an_image_is_shown_as_a_link() {
    assert_eq!(line("![a pot](https://a.example/pot.png)"), "<a https://a.example/pot.png>a pot</a>");
    assert_eq!(
        line("![](https://a.example/pot.png)"),
        "<a https://a.example/pot.png>https://a.example/pot.png</a>"
    );
    assert_eq!(line("![x](data:image/png;base64,x)"), "![x](data:image/png;base64,x)");
}

#[test]
fn the_host_is_shown_when_a_links_text_looks_like_another_address() {
    let shown = |text: &str, address: &str| {
        let html = line(&format!("[{text}]({address})"));
        html.split_once("<bdi cw-host>").map(|(_, rest)| rest.trim_end_matches("</bdi>)").to_owned())
    };
    let evil = Some("evil.example".to_owned());
    for text in [
        "https://bank.example",
        "bank.example",
        "Log in at bank.example",
        "**bank.example**",
        "bank\u{3002}example",
        "bank\u{2024}example",
        "bank\u{ff0e}example",
        "help@bank.example",
        "https://bank.example/evil.example",
        "https://bank.example@evil.example",
        "evil.example.bank.example",
    ] {
        assert_eq!(shown(text, "https://evil.example/path"), evil, "{text}");
        assert_eq!(shown(text, "https://bank.example@evil.example?x"), evil, "{text}");
    }
    for text in [
        "evil.example",
        "https://EVIL.example/",
        "http://evil.example/x?y",
        "our shop",
        "Read this.",
        "\u{201c}so\u{201d}",
    ] {
        assert_eq!(shown(text, "https://evil.example/path"), None, "{text}");
    }
    assert_eq!(shown("help@bank.example", "mailto:help@bank.example?subject=x"), None);
    assert_eq!(shown("help@bank.example", "mailto:help@evil.example"), evil);
    let address = "https://bank.example@evil.example";
    assert_eq!(line(address), format!("<a {address}>{address}</a> (<bdi cw-host>evil.example</bdi>)"));
}

#[test]
fn bare_addresses_are_links_without_the_punctuation_behind_them() {
    let link = |text: &str| format!("<a {text}>{text}</a>");
    let a = link("https://a.example/b?c=d#e");
    for (before, behind) in [
        ("", "."),
        ("(", ")"),
        ("\"", "\"!"),
        ("see ", ", and"),
        ("<", " >"),
        ("\u{4e2d}", "\u{3002}\u{4e2d}"),
        ("\u{201c}", "\u{201d}"),
        ("", "\u{a0}x"),
    ] {
        assert_eq!(
            line(&format!("{before}https://a.example/b?c=d#e{behind}")),
            format!("{before}{a}{behind}")
        );
    }
    assert_eq!(line("**https://a.example/b?c=d#e**"), format!("<strong>{a}</strong>"));
    assert_eq!(line("<https://a.example/b?c=d#e>"), a);
    assert_eq!(line("https://a.example/b_(c)_d_(e)."), format!("{}.", link("https://a.example/b_(c)_d_(e)")));
    assert_eq!(line("HTTP://a.example/K\u{f6}ln"), link("HTTP://a.example/K\u{f6}ln"));
    assert_eq!(line("www.a.example/b"), "<a https://www.a.example/b>www.a.example/b</a>");
    assert_eq!(line("a.b+c_d@e-f.example."), "<a mailto:a.b+c_d@e-f.example>a.b+c_d@e-f.example</a>.");
    assert_eq!(line("_a@b.example_"), "<em><a mailto:a@b.example>a@b.example</a></em>");
    for text in ["http://", "https:// a", "www.", "www.-", "a@b", "@b.example", "javascript:alert(1)", "a@.b"]
    {
        assert_eq!(line(text), text);
    }
    for scheme in ["https://", "mailto:", "tel:", "www."] {
        for behind in ["\u{2026}", "\u{200b}x", "\u{201d} is how it begins"] {
            let text = format!("{scheme}{behind}");
            assert_eq!(line(&text), text);
        }
    }
}

#[test]
fn lists_nest_by_their_indentation() {
    let item = |text: &str| format!("<li><p>{text}</p></li>");
    assert_eq!(html("- a\n- b"), format!("<ul>{}{}</ul>", item("a"), item("b")));
    assert_eq!(html("* a\n\n* b\n"), format!("<ul>{}{}</ul>", item("a"), item("b")));
    assert_eq!(html("3. a\n4. b"), format!("<ol 3>{}{}</ol>", item("a"), item("b")));
    assert_eq!(html("1) a\n2. b"), format!("<ol 1>{}</ol><ol 2>{}</ol>", item("a"), item("b")));
    assert_eq!(
        html("1. a\n  - b\n    * c\n  - d\n2. e"),
        "<ol 1><li><p>a</p><ul><li><p>b</p><ul><li><p>c</p></li></ul></li><li><p>d</p></li></ul></li><li><p>e</p></li></ol>"
    );
    assert_eq!(
        html("- a\n\t- b\n\t- c"),
        "<ul><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul></li></ul>"
    );
    assert_eq!(
        html("- a\n\n  more\n  lines\n\nafter"),
        "<ul><li><p>a</p><p>more\nlines</p></li></ul><p>after</p>"
    );
    assert_eq!(html("- a\nafter"), "<ul><li><p>a</p></li></ul><p>after</p>");
    assert_eq!(html("- - a\n  - b"), "<ul><li><ul><li><p>a</p></li><li><p>b</p></li></ul></li></ul>");
    assert_eq!(html("-"), "<ul><li></li></ul>");
    assert_eq!(html("-a\n1.5 b\n1234567890. c"), "<p>-a\n1.5 b\n1234567890. c</p>");
}

#[test]
fn quotes_end_where_their_mark_does() {
    assert_eq!(html("> a\n> b\nc"), "<blockquote><p>a\nb</p></blockquote><p>c</p>");
    assert_eq!(
        html("> a\n> > b\n> c"),
        "<blockquote><p>a</p><blockquote><p>b</p></blockquote><p>c</p></blockquote>"
    );
    assert_eq!(
        html("> - a\n>   - b\n> - c"),
        "<blockquote><ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul></blockquote>"
    );
    assert_eq!(html("- > a\n  > b"), "<ul><li><blockquote><p>a\nb</p></blockquote></li></ul>");
    assert_eq!(html("> a\n\n> b"), "<blockquote><p>a</p></blockquote><blockquote><p>b</p></blockquote>");
    assert_eq!(
        html("> ```\n> a\n>   b\n> ```\nc"),
        "<blockquote><pre><code>a\n  b</code></pre></blockquote><p>c</p>"
    );
    assert_eq!(html("> ```\n> a\nb"), "<blockquote><pre><code>a</code></pre></blockquote><p>b</p>");
}

#[test]
fn containers_nest_to_a_depth_and_the_rest_is_text() {
    let deep = rendered(&">".repeat(1000));
    assert_eq!(deep.deepest, 9);
    assert_eq!(deep.text.len(), 1000 - 8);
    assert!(rendered(&"- ".repeat(1000)).deepest <= 17);
}

#[test]
fn fenced_code_is_kept_to_the_letter_and_may_lack_its_end() {
    assert_eq!(
        html("a\n```rust\nlet *x* = 1;\n\n  - y\n```\nb"),
        "<p>a</p><pre><code>let *x* = 1;\n\n  - y</code></pre><p>b</p>"
    );
    assert_eq!(html("~~~\n```\n~~~~"), "<pre><code>```</code></pre>");
    assert_eq!(html("````\n```\n````"), "<pre><code>```</code></pre>");
    assert_eq!(html("```\na"), "<pre><code>a</code></pre>");
    assert_eq!(html("```"), "<pre><code></code></pre>");
    assert_eq!(html("``` a`b"), "<p>``` a`b</p>");
    assert_eq!(
        html("1. a\n   ```\n   b\n    c\n   ```\n2. d"),
        "<ol 1><li><p>a</p><pre><code>b\n c</code></pre></li><li><p>d</p></li></ol>"
    );
    assert_eq!(
        html("1. a\n   ```\nb\n   ```\n2. d"),
        "<ol 1><li><p>a</p><pre><code>b</code></pre></li><li><p>d</p></li></ol>"
    );
}

#[test]
fn headings_are_lines_and_dashes_are_rules() {
    assert_eq!(
        html("# a *b*\n###### c\ntext"),
        "<p cw-heading>a <em>b</em></p><p cw-heading>c</p><p>text</p>"
    );
    assert_eq!(html("#hash\n####### x\n#"), "<p>#hash\n####### x\n#</p>");
    assert_eq!(html("a\n---\nb\n* * *\n___"), "<p>a</p><hr></hr><p>b</p><hr></hr><hr></hr>");
    assert_eq!(html("- a\n---"), "<ul><li><p>a</p></li></ul><hr></hr>");
    assert_eq!(html("--\n- -"), "<p>--</p><ul><li><ul><li></li></ul></li></ul>");
}

#[test]
fn a_table_is_a_head_over_dashes_and_lines_with_bars() {
    assert_eq!(
        html("before\n| a | **b** |\n|:--|--:|\n| c | d \\| e |\n| f |\nafter"),
        "<p>before</p><table><thead><tr><th> a </th><th> <strong>b</strong> </th></tr></thead><tbody>\
         <tr><td> c </td><td> d | e </td></tr><tr><td> f </td></tr></tbody></table><p>after</p>"
    );
    assert_eq!(
        html("a | b\n-|-\nc|"),
        "<table><thead><tr><th>a </th><th> b</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>"
    );
    assert_eq!(html("| a | b |\n| - |"), "<p>| a | b |\n| - |</p>");
    assert_eq!(html("| - | - |"), "<p>| - | - |</p>");
    assert_eq!(
        html("- | a |\n  | - |\n  | b |"),
        "<ul><li><table><thead><tr><th> a </th></tr></thead><tbody><tr><td> b </td></tr></tbody></table></li></ul>"
    );
}

#[test]
fn what_a_visitor_wrote_is_plain_but_for_addresses() {
    assert_eq!(
        plain("- **a** `b`\n> [c](https://d.example) \\*"),
        "- **a** `b`\n> [c](<a https://d.example>https://d.example</a>) \\*"
    );
    assert_eq!(
        plain("<https://d.example> a@b.example"),
        "<<a https://d.example>https://d.example</a>> <a mailto:a@b.example>a@b.example</a>"
    );
}

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

#[test]
fn no_text_takes_longer_than_its_length_says() {
    let work = |text: &str| {
        STEPS.set(0);
        let written = rendered(text);
        assert!(written.deepest < 80, "{} deep", written.deepest);
        STEPS.get() + written.calls
    };
    for (short, long) in hostile(2_000).iter().zip(hostile(8_000)) {
        let start: String = short.chars().take(24).collect();
        let (short, long) = (work(short), work(&long));
        assert!(long <= 4 * short + short / 4 + 100, "{start:?}: {short} steps became {long}");
        assert!(long <= 8_000 * 64, "{start:?}: {long} steps");
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
