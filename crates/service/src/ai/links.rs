//! Addresses in an answer: a model invents them, and text from outside may smuggle them in. Only known ones
//! remain, with everything else as text.

use std::collections::HashSet;
use std::fmt::Write;

use reqwest::Url;

use super::Question;
use crate::knowledge::Passage;

/// Maximum links below a fallback text.
const MAX_FALLBACK_LINKS: usize = 2;
/// Maximum characters of the text of such a link.
const MAX_TITLE_LENGTH: usize = 80;
/// Maximum characters of the target of a link.
const MAX_TARGET_LENGTH: usize = 2048;

/// The addresses that an answer may link to.
pub(super) struct KnownLinks {
    addresses: HashSet<String>,
    /// The texts that stand behind the answer, in which other addresses may occur.
    texts: String,
    origin: Option<Url>,
}

impl KnownLinks {
    /// Returns the addresses that a question and its passages name.
    pub(super) fn of(question: &Question<'_>) -> Self {
        let mut texts = String::new();
        let mut addresses = HashSet::new();
        for Passage { location, text, .. } in question.passages {
            addresses.extend(location.as_deref().and_then(normalized));
            texts.push_str(text);
            texts.push('\n');
        }
        for turn in question.history {
            texts.push_str(&turn.content);
            texts.push('\n');
        }
        let origin = question.site.origin.and_then(|origin| Url::parse(origin).ok());
        addresses.extend(origin.as_ref().and_then(|origin| normalized(origin.as_str())));
        addresses.extend(addresses_in(&texts).filter_map(normalized));
        Self { addresses, texts, origin }
    }

    /// Returns the address to link to; `None` if it is not known.
    fn resolve(&self, target: &str) -> Option<String> {
        let target = target.trim();
        if let Some(contact) = target.strip_prefix("mailto:").or_else(|| target.strip_prefix("tel:")) {
            let contact = contact.split('?').next().unwrap_or_default();
            let is_known = !contact.is_empty() && self.texts.contains(contact);
            return is_known.then(|| target.replace([' ', '(', ')'], ""));
        }
        if target.starts_with('#') || target.is_empty() {
            return None;
        }
        let url = match Url::parse(target) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            Ok(_) => return None,
            Err(_) => self.origin.as_ref()?.join(target).ok()?,
        };
        let url = String::from(url).replace('(', "%28").replace(')', "%29");
        self.addresses.contains(&normalized(&url)?).then_some(url)
    }

    /// Returns an answer in Markdown without links to unknown addresses: their text remains.
    pub(super) fn checked(&self, answer: &str) -> String {
        let mut checked = String::with_capacity(answer.len());
        let mut rest = answer;
        while let Some(at) = rest.find(['`', '[', 'h', 'H']) {
            let (before, from) = rest.split_at(at);
            checked.push_str(before);
            let mut length = 1;
            if from.starts_with('`') {
                length = code_length(from);
                checked.push_str(&from[..length]);
            } else if let Some((whole, text, target)) = link(from) {
                length = whole;
                self.push_link(&mut checked, text, target);
            } else if begins_with_address(from) {
                length = address_length(from);
                if self.resolve(&from[..length]).is_some() {
                    checked.push_str(&from[..length]);
                } else if checked.ends_with(['<', '(']) && from[length..].starts_with(['>', ')']) {
                    checked.pop();
                    length += 1;
                }
            } else {
                checked.push_str(&from[..length]);
            }
            rest = &from[length..];
        }
        checked.push_str(rest);
        checked
    }

    fn push_link(&self, checked: &mut String, text: &str, target: &str) {
        // An image is shown as a link.
        if checked.ends_with('!') {
            checked.pop();
        }
        let Some(address) = self.resolve(target) else {
            return checked.push_str(&self.checked(text));
        };
        // The text must not name another address than the target.
        let text = if addresses_in(text).next().is_some() { &address } else { text };
        let _ = write!(checked, "[{text}]({address})");
    }
}

/// Returns links to pages of the site that fit the question, for a text that answers nothing.
pub(super) fn fallback_links(passages: &[Passage]) -> String {
    let mut links = String::new();
    let mut seen = HashSet::new();
    for Passage { title, location, .. } in passages {
        let Some(location) = location.as_deref().filter(|location| location.contains("://")) else {
            continue;
        };
        if seen.len() < MAX_FALLBACK_LINKS && seen.insert(location) {
            let title = title.lines().next().unwrap_or_default().replace(['[', ']'], "");
            let title = crate::text::truncate_words(&title, MAX_TITLE_LENGTH);
            let link = link_target(location);
            let title = if title.is_empty() { &link } else { &title };
            let _ = write!(links, "\n- [{title}]({link})");
        }
    }
    if links.is_empty() { links } else { format!("\n{links}") }
}

/// Returns an address for comparison: without what leads to the same page.
fn normalized(address: &str) -> Option<String> {
    let mut url = Url::parse(address).ok()?;
    url.set_fragment(None);
    let _ = url.set_scheme("https");
    let text = String::from(url).replace("https://www.", "https://").replace('(', "%28").replace(')', "%29");
    Some(text.trim_end_matches('/').to_owned())
}

/// Returns the addresses in a text.
fn addresses_in(text: &str) -> impl Iterator<Item = &str> {
    let begins = text.match_indices(['h', 'H']).map(|(at, _)| &text[at..]);
    begins.filter(|from| begins_with_address(from)).map(|from| &from[..address_length(from)])
}

fn begins_with_address(text: &str) -> bool {
    let begins = |scheme: &str| {
        text.as_bytes().get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    begins("https://") || begins("http://")
}

/// Returns the length of the address that a text begins with, without punctuation after it.
fn address_length(text: &str) -> usize {
    let is_end =
        |letter: char| letter.is_whitespace() || "<>\"`|[]*".contains(letter) || letter >= '\u{2e80}';
    let address = &text[..text.find(is_end).unwrap_or(text.len())];
    let mut length = address.len();
    while let Some(last) = address[..length].chars().next_back() {
        let is_unpaired = last == ')' && !address[..length].contains('(');
        if !is_unpaired && !".,;:!?'_…".contains(last) {
            break;
        }
        length -= last.len_utf8();
    }
    length.max("http://".len())
}

/// Returns the length of the code that a text begins with; that of the backticks if it has no end.
fn code_length(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    let fence = &text[..marks];
    text[marks..].find(fence).map_or(marks, |end| marks + end + marks)
}

/// Returns the length, the text and the target of the Markdown link that a text begins with.
fn link(text: &str) -> Option<(usize, &str, &str)> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find(['[', ']', '\n']).filter(|end| inner[*end..].starts_with("]("))?;
    let label = &inner[..end];
    let from = 1 + end + 2;
    let line = text[from..].lines().next().unwrap_or_default();
    let mut depth = 0_usize;
    let close = line.char_indices().take(MAX_TARGET_LENGTH).find_map(|(at, letter)| {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let target = line[..close].trim();
    // A title stands in quotes behind the target.
    let target = target
        .find([' ', '\t'])
        .filter(|at| target[*at..].trim_start().starts_with(['"', '\'']))
        .map_or(target, |at| &target[..at]);
    let target = target.strip_prefix('<').and_then(|target| target.strip_suffix('>')).unwrap_or(target);
    Some((from + close + 1, label, target))
}

/// Returns a location as the target of a Markdown link, which ends at a space or a closing parenthesis.
pub(super) fn link_target(location: &str) -> String {
    let mut link = String::with_capacity(location.len());
    for letter in location.chars() {
        if letter.is_whitespace() || letter.is_control() || "()<>\\\"".contains(letter) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(link, "%{byte:02X}");
            }
        } else {
            link.push(letter);
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use chat_protocol::Role;
    use proptest::prelude::*;

    use super::super::{SiteFacts, Turn};
    use super::*;
    use crate::cases;

    fn passage(title: &str, location: Option<&str>, text: &str) -> Passage {
        let location = location.map(str::to_owned);
        Passage {
            id: "content:1".to_owned(),
            title: title.to_owned(),
            location,
            text: text.to_owned(),
            shown: String::new(),
            certainty: 1.0,
        }
    }

    /// Returns an answer as a visitor of a shop sees it.
    fn checked(answer: &str) -> String {
        let passages = [
            passage(
                "Returns",
                Some("https://shop.example/returns"),
                "Write to help@shop.example or use https://dhl.example/label.",
            ),
            passage("Sizes", Some("https://shop.example/size%20guide"), ""),
        ];
        let history =
            [Turn { role: Role::Visitor, content: "I read https://blog.example/mugs?a=1".to_owned() }];
        let site = SiteFacts { origin: Some("https://shop.example"), ..SiteFacts::default() };
        let question = Question { passages: &passages, history: &history, site, ..Question::default() };
        KnownLinks::of(&question).checked(answer)
    }

    #[test]
    fn links_to_known_addresses_only() {
        for (answer, expected) in [
            ("See [Returns](/returns).", "See [Returns](https://shop.example/returns)."),
            ("See [Returns](returns).", "See [Returns](https://shop.example/returns)."),
            ("See [Returns](//shop.example/returns/).", "See [Returns](https://shop.example/returns/)."),
            (
                "See [Returns](https://www.shop.example/returns#a)",
                "See [Returns](https://www.shop.example/returns#a)",
            ),
            ("[Sizes](https://shop.example/size guide)", "[Sizes](https://shop.example/size%20guide)"),
            (
                "[Sizes](<https://shop.example/size%20guide> \"Our sizes\")",
                "[Sizes](https://shop.example/size%20guide)",
            ),
            ("See [Top](#top), [a](returns.html), [b](//evil.example/x).", "See Top, a, b."),
            ("See [Offers](https://evil.example/returns) now", "See Offers now"),
            ("[https://evil.example](https://evil.example)", ""),
            ("![A mug](https://shop.example/mug.jpg)", "A mug"),
            ("Go to https://evil.example/a_(b), then (https://evil.example).", "Go to , then ."),
            ("Go to <https://shop.example/returns>.", "Go to <https://shop.example/returns>."),
            (
                "Use https://dhl.example/label, or https://blog.example/mugs?a=1!",
                "Use https://dhl.example/label, or https://blog.example/mugs?a=1!",
            ),
            (
                "[Mail](mailto:help@shop.example?subject=x) [me](mailto:evil@evil.example) [x](javascript:alert)",
                "[Mail](mailto:help@shop.example?subject=x) me x",
            ),
            (
                "Run `curl https://evil.example` [not a link] here",
                "Run `curl https://evil.example` [not a link] here",
            ),
            ("請看https://shop.example/returns謝謝", "請看https://shop.example/returns謝謝"),
        ] {
            assert_eq!(checked(answer), expected, "{answer}");
        }
    }

    #[test]
    fn a_fallback_links_to_two_pages_and_quotes_none() {
        let passages = [
            passage("Our answer", None, "SECRET"),
            passage("[Returns]\nSECRET", Some("https://shop.example/returns"), "SECRET"),
            passage("Again", Some("https://shop.example/returns"), "SECRET"),
            passage("", Some("https://shop.example/size (1)"), "SECRET"),
            passage("Third", Some("https://shop.example/3"), "SECRET"),
            passage("A path", Some("/4"), "SECRET"),
        ];
        let size = "https://shop.example/size%20%281%29";
        let expected = format!("\n\n- [Returns](https://shop.example/returns)\n- [{size}]({size})");
        assert_eq!(fallback_links(&passages), expected);
        assert_eq!(fallback_links(&passages[..1]), "");
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn accepts_any_answer_and_links_to_nothing_unknown(
            answer in "(\\[|\\]|\\(|\\)|https://evil.example/|/x|!|`| |a|é|<|>|\n|\"){0,24}",
        ) {
            let shown = checked(&answer);
            if !answer.contains('`') {
                prop_assert!(!shown.contains("https://evil.example/"), "{}", shown);
            }
        }
    }
}
