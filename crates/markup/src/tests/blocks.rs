//! Paragraphs, lists, quotes, code, headings and tables.

use super::{html, rendered};

#[test]
fn a_blank_line_separates_paragraphs_and_a_line_end_is_a_line_break() {
    assert_eq!(html("one\ntwo\r\n\r\n \n  three  "), "<p>one\ntwo</p><p>three</p>");
    assert_eq!(html(""), "");
    assert_eq!(html(" \n\n"), "");
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
fn a_quote_ends_with_its_last_marked_line() {
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
fn containers_nest_to_a_maximum_depth_and_deeper_markers_are_text() {
    let deep = rendered(&">".repeat(1000));
    assert_eq!(deep.deepest, 9);
    assert_eq!(deep.text.len(), 1000 - 8);
    assert!(rendered(&"- ".repeat(1000)).deepest <= 17);
}

#[test]
fn fenced_code_is_verbatim_and_may_lack_its_end() {
    assert_eq!(
        html("a\n```rust\nlet *x* = 1;\n\n  - y\n```\nb"),
        "<p>a</p><pre rust><code>let *x* = 1;\n\n  - y</code></pre><p>b</p>"
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
fn headings_and_rules_are_recognized() {
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
fn a_table_has_a_head_a_line_of_dashes_and_rows_with_bars() {
    assert_eq!(
        html("before\n| a | **b** |\n|:--|--:|\n| c | d \\| e |\n| f |\nafter"),
        "<p>before</p><table><thead><tr><th> a </th><th cw-end> <strong>b</strong> </th></tr></thead><tbody>\
         <tr><td> c </td><td cw-end> d | e </td></tr><tr><td> f </td></tr></tbody></table><p>after</p>"
    );
    assert_eq!(
        html("a | b\n-|-\nc|"),
        "<table><thead><tr><th>a </th><th> b</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>"
    );
    assert_eq!(
        html("a|b|c\n:-:|:-|-:\nd|e|f"),
        "<table><thead><tr><th cw-centre>a</th><th>b</th><th cw-end>c</th></tr></thead><tbody>\
         <tr><td cw-centre>d</td><td>e</td><td cw-end>f</td></tr></tbody></table>"
    );
    assert_eq!(html("| a | b |\n| - |"), "<p>| a | b |\n| - |</p>");
    assert_eq!(html("| - | - |"), "<p>| - | - |</p>");
    assert_eq!(
        html("- | a |\n  | - |\n  | b |"),
        "<ul><li><table><thead><tr><th> a </th></tr></thead><tbody><tr><td> b </td></tr></tbody></table></li></ul>"
    );
}
