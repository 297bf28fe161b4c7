//! Inline markup: emphasis, code, escapes, and text that resembles them.

use super::{html, line};

#[test]
fn emphasis_has_equal_markers_on_both_sides() {
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
fn markers_inside_words_and_beside_spaces_are_text() {
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
fn an_unmatched_marker_is_text() {
    assert_eq!(line("**bold"), "**bold");
    assert_eq!(line("**bold*"), "**bold*");
    assert_eq!(line("*a **b*"), "<em>a **b</em>");
    assert_eq!(line("`code"), "`code");
    assert_eq!(line("[text](https://a.example"), "[text](<a https://a.example>https://a.example</a>");
}

#[test]
fn markup_inside_code_is_text() {
    assert_eq!(line("`**a** <b> &amp; \\*`"), "<code>**a** <b> &amp; \\*</code>");
    assert_eq!(line("`` a`b ``"), "<code>a`b</code>");
    assert_eq!(line("```` ` `````"), "```` ` `````");
    assert_eq!(line("*a `b* c`"), "*a <code>b* c</code>");
}

#[test]
fn a_backslash_escapes_a_marker() {
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
