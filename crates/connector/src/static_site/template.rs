//! Renders the page of an article.

use html_escape::encode_safe;

use super::record::Version;

const PLAIN: &str = include_str!("plain.html");

/// Renders an article with the template, or with a plain one. Content that is a whole document stays as it
/// is.
pub(super) fn render(version: &Version, template: Option<&str>) -> String {
    let start = version.content.trim_start();
    let is = |begin: &str| start.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    if is("<!doctype") || is("<html") {
        return version.content.clone();
    }
    let title = encode_safe(&version.title);
    let locale = encode_safe(version.locale.as_deref().unwrap_or("en"));
    let places = [("{{title}}", &*title), ("{{locale}}", &*locale), ("{{content}}", &version.content)];
    fill(template.unwrap_or(PLAIN), &places)
}

/// Replaces all placeholders in one pass, so that inserted text is never replaced itself.
fn fill(template: &str, places: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let place = places.iter().find(|(name, _)| from.starts_with(name));
        let (text, length) = place.map_or(("{", 1), |(name, text)| (*text, name.len()));
        out.push_str(text);
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(title: &str, locale: &str, content: &str) -> Version {
        Version {
            path: "/a".to_owned(),
            title: title.to_owned(),
            locale: Some(locale.to_owned()),
            content: content.to_owned(),
        }
    }

    #[test]
    fn placeholders_in_inserted_text_are_not_replaced() {
        let places = ["{{title}}", "{{locale}}", "{{content}}"];
        let template = "[{{title}}|{{locale}}|{{content}}]";
        for title in places {
            for locale in places {
                for content in places {
                    let page = render(&version(title, locale, content), Some(template));
                    assert_eq!(page, format!("[{title}|{locale}|{content}]"));
                }
            }
        }
    }

    #[test]
    fn replaces_every_placeholder_and_nothing_else() {
        let page = render(
            &version("T", "en", "C"),
            Some("{{{title}}} {{title}}{{content}}{{content}} {{other}} {{"),
        );
        assert_eq!(page, "{T} TCC {{other}} {{");
    }

    #[test]
    fn escapes_the_title_and_the_locale() {
        let page = render(&version("<script>", "\"><script>", "<p>x</p>"), None);
        assert!(!page.contains("<script>") && page.contains("<p>x</p>"), "{page}");
    }

    proptest! {
        #[test]
        fn inserts_each_text_once_per_placeholder(
            parts in proptest::collection::vec(prop_oneof![
                "\\{\\{title\\}\\}", "\\{\\{content\\}\\}", "[a-z{ }]{0,6}x"
            ], 0..8),
            content in "[{}a-z]{0,12}|\\{\\{(title|locale|content)\\}\\}",
        ) {
            let template = parts.concat();
            let page = render(&version("T", "en", &content), Some(&template));
            let expected = parts.concat().replace("{{content}}", "\u{1}").replace("{{title}}", "T");
            prop_assert_eq!(page, expected.replace('\u{1}', &content));
        }
    }
}
