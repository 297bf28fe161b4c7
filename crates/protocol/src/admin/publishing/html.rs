//! The text of an article's HTML, and whether it contains code.

/// Attributes that run code begin with `on`, and so do these words, which may stand before a `=` in a text.
const WORDS: [&str; 5] = ["once", "ones", "only", "onto", "online"];
/// The elements and addresses that run code, or load another page.
const CODE: [&str; 9] = [
    "<script",
    "<iframe",
    "<object",
    "<embed",
    "<base",
    "<meta",
    "javascript:",
    "vbscript:",
    "data:text/html",
];

/// Returns whether HTML may run code. It knows no tags, comments or quotes, because a browser may see them
/// elsewhere: a text that only looks like code counts as code.
pub(super) fn runs_code(html: &str) -> bool {
    let html = decoded(html);
    CODE.iter().any(|code| html.contains(code)) || has_handler(&html)
}

/// Returns the HTML in lower case, with character references resolved that could hide an address, and
/// without the control characters that browsers drop from one.
fn decoded(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut parts = html.split("&#");
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (radix, digits) = match part.strip_prefix(['x', 'X']) {
            Some(rest) => (16, rest),
            None => (10, part),
        };
        let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
        let letter = u32::from_str_radix(&digits[..end], radix).ok().and_then(char::from_u32);
        match letter {
            Some(letter) => {
                text.push(letter);
                text.push_str(digits[end..].strip_prefix(';').unwrap_or(&digits[end..]));
            }
            None => text.push_str(part),
        }
    }
    let text = text.to_ascii_lowercase().replace("&colon;", ":");
    let text = text.replace("&tab;", "").replace("&newline;", "");
    // White space stays where it separates attributes; inside an address, browsers drop only these.
    let is_dropped = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t' | '\r' | '\u{c}');
    let joined: String = text.chars().filter(|letter| !is_dropped(*letter)).collect();
    let without_breaks: String = joined.chars().filter(|letter| !letter.is_control()).collect();
    [joined, "\n".to_owned(), without_breaks].concat()
}

/// Returns whether an event handler may be among the attributes.
fn has_handler(html: &str) -> bool {
    let Some(first_tag) = html.find('<') else { return false };
    let html = &html[first_tag..];
    let starts = html.match_indices("on").map(|(at, _)| at);
    // Only the start of a word is read on from, so that the text is read once.
    let starts = starts
        .filter(|at| html[..*at].ends_with(|before: char| before.is_whitespace() || "/\"'".contains(before)));
    starts.map(|at| &html[at..]).any(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = &rest[..end];
        name.len() > 3
            && !WORDS.contains(&name)
            && rest[end..].trim_start_matches(|letter: char| letter.is_whitespace()).starts_with('=')
    })
}

/// Returns the number of images without an alternative text.
pub(super) fn images_without_text(html: &str) -> usize {
    let tags = html.split('<').skip(1).filter_map(|part| part.split('>').next());
    tags.map(str::to_ascii_lowercase).filter(|tag| is_named(tag, "img") && !tag.contains("alt=")).count()
}

fn is_named(tag: &str, name: &str) -> bool {
    tag.split(|letter: char| letter.is_whitespace() || letter == '/').next() == Some(name)
}

/// Returns the words of HTML without its tags.
pub fn text_of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut parts = html.split('<');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (tag, behind) = part.split_once('>').unwrap_or((part, ""));
        let tag = tag.to_ascii_lowercase();
        // The content of these elements is code.
        if !is_named(&tag, "script") && !is_named(&tag, "style") {
            text.push(' ');
            text.push_str(behind);
        }
    }
    let text = text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_where_a_browser_would_find_it() {
        for html in [
            "<script>x()</script>",
            "<SCRIPT src=a>",
            "<p onclick='x()'>a</p>",
            "<img src=x\nonerror\n=\nx()>",
            "<svg/onload=x()>",
            "<img alt='a > b' onerror=x()>",
            "<img alt=\"<b>\"onerror=x()>",
            "<!--> <img src=x onerror=x()> -->",
            "<!-- <a title=\"--><img src=x onerror=x()>",
            "<a href=\"javascript:x()\">a</a>",
            "<a href='java\tscript:x()'>a</a>",
            "<a href='&#106;avascript&#58;x()'>a</a>",
            "<a href='&#x6A;avascript&colon;x()'>a</a>",
            "<a href='\u{1}javascript:x()'>a</a>",
            "<iframe src=x></iframe>",
            "<base href=//evil.example>",
            "<meta http-equiv=refresh content='0;url=//evil.example'>",
            "<object data=x>",
            "<a href='data:text/html,x'>a</a>",
        ] {
            assert!(runs_code(html), "{html}");
        }
    }

    #[test]
    fn ordinary_articles_contain_no_code() {
        for html in [
            "",
            "<h1>News</h1><p>Only once: on = off, and <b>online</b>=1</p><img src='/a.png' alt='A cat'>",
            "on = off, on Monday",
            "<a href='https://shop.example/?online=1&once=2'>Once upon</a> &#8364; 5 &amp; &#bad;",
            "<p class='on'>contact = us</p>",
        ] {
            assert!(!runs_code(html), "{html}");
        }
    }

    #[test]
    fn the_text_of_html_has_no_tags() {
        assert_eq!(text_of_html("<h1>A</h1><p>b &amp; c<br>d</p>"), "A b & c d");
        assert_eq!(text_of_html("a<script>x()</script> b<STYLE>p{}</STYLE>"), "a b");
        assert_eq!(text_of_html("a < b"), "a");
        assert_eq!(text_of_html("&amp;lt;"), "&lt;");
    }
}
