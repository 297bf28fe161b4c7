//! Links: their schemes, their limits in a text, and the hosts that are shown.

use super::{line, plain};

#[test]
fn links_have_the_schemes_http_https_mailto_and_tel() {
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
fn a_link_with_another_scheme_is_text() {
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
fn the_host_is_shown_if_the_text_of_a_link_looks_like_another_address() {
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
fn bare_addresses_are_links_without_the_punctuation_after_them() {
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
fn in_a_visitors_text_only_addresses_are_markup() {
    assert_eq!(
        plain("- **a** `b`\n> [c](https://d.example) \\*"),
        "- **a** `b`\n> [c](<a https://d.example>https://d.example</a>) \\*"
    );
    assert_eq!(
        plain("<https://d.example> a@b.example"),
        "<<a https://d.example>https://d.example</a>> <a mailto:a@b.example>a@b.example</a>"
    );
}
