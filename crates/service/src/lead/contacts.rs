//! Finds the contact details in a message.

use std::ops::Range;

use super::phone::{self, Countries};
use crate::knowledge::is_unspaced;

/// Maximum contact details that are read from one message.
const MAX_CONTACTS: usize = 20;
/// Maximum bytes of an e-mail address (RFC 5321).
const MAX_ADDRESS_BYTES: usize = 254;

/// A contact detail of the visitor, found in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contact {
    Email(String),
    Phone {
        /// As it was written, in ASCII.
        number: String,
        /// Whether it cannot well be anything else than a phone number. One that may be something else does
        /// not replace one that is known.
        is_certain: bool,
    },
}

/// Returns the e-mail addresses and phone numbers in a text of a visitor of these countries.
pub(crate) fn contacts_in(text: &str, countries: &Countries) -> Vec<Contact> {
    found(text, countries).into_iter().map(|(contact, _)| contact).collect()
}

/// Returns the e-mail addresses in a text.
pub(crate) fn emails_in(text: &str) -> impl Iterator<Item = String> {
    emails(text).map(|(address, _)| address)
}

/// Returns a text without its e-mail addresses and phone numbers.
pub(crate) fn without_contacts(text: &str, countries: &Countries) -> String {
    let mut ranges: Vec<Range<usize>> = found(text, countries).into_iter().map(|(_, range)| range).collect();
    ranges.sort_by_key(|range| range.start);
    let (mut rest, mut from) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        rest.push_str(text.get(from..range.start).unwrap_or_default());
        rest.push(' ');
        from = range.end.max(from);
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    rest
}

fn found(text: &str, countries: &Countries) -> Vec<(Contact, Range<usize>)> {
    let emails = emails(text).map(|(address, range)| (Contact::Email(address), range));
    let phones = phone::numbers(text, countries).into_iter();
    let phones = phones.map(|(number, is_certain, range)| (Contact::Phone { number, is_certain }, range));
    emails.chain(phones).take(MAX_CONTACTS).collect()
}

/// Returns the e-mail addresses in a text, also where other words are written beside them without a space.
fn emails(text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
    let words = text.split(|letter: char| !(is_of_address(letter) || letter == '@'));
    words.filter_map(move |word| {
        let (name, host) = word.split_once('@')?;
        let name = name.trim_start_matches(['.', '-', '\'', '_']);
        let host = host.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let (_, ending) = host.rsplit_once('.')?;
        let is_host = ending.chars().count() >= 2
            && !host.starts_with(['.', '-'])
            && !host.contains(['@', '%', '+', '\'', '_'])
            && !host.contains("..");
        let length = name.len() + 1 + host.len();
        if name.is_empty() || !is_host || length > MAX_ADDRESS_BYTES {
            return None;
        }
        // Both are slices of the text.
        let start = name.as_ptr().addr() - text.as_ptr().addr();
        Some((format!("{name}@{host}"), start..start + length))
    })
}

/// Returns whether a letter is part of an address. A script without spaces is not: the words around an
/// address would be taken for a part of it.
fn is_of_address(letter: char) -> bool {
    (letter.is_alphanumeric() && !is_unspaced(letter)) || "._%+-'".contains(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emails(text: &str) -> Vec<String> {
        emails_in(text).collect()
    }

    #[test]
    fn finds_e_mail_addresses_in_messages() {
        assert_eq!(emails("it's ann.lee@example.co.uk, thanks!"), ["ann.lee@example.co.uk"]);
        for text in [
            "(ann@example.org)",
            "我的邮箱是ann@example.org，谢谢",
            "メールはann@example.orgです",
            "E-mail:ann@example.org",
            "mailto:ann@example.org?subject=Hi",
            "Ann <ann@example.org>",
            "'ann@example.org'",
            "ann@example.org/home",
            "email=ann@example.org&x=1",
        ] {
            assert_eq!(emails(text), ["ann@example.org"], "{text}");
        }
        assert_eq!(emails("ann@example.org,bob@example.org").len(), 2);
        assert_eq!(emails("jörg@bücher.example"), ["jörg@bücher.example"]);
        assert_eq!(emails("o'neil+shop@example.org"), ["o'neil+shop@example.org"]);
        for text in ["4 mugs @ 24.00 each", "@home", "a@b"] {
            assert!(emails(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_text_without_its_contact_details_is_the_rest() {
        let countries = Countries::default();
        let text = "My mail is ann@example.org. What does it cost? +44 20 7946 0991";
        assert_eq!(without_contacts(text, &countries), "My mail is  . What does it cost?  ");
        let long = format!("{}@example.org", "x".repeat(3000));
        let spread = format!("+49{}30901820", "-".repeat(3000));
        assert_eq!(contacts_in(&format!("{long} {spread}"), &countries), []);
        assert_eq!(contacts_in(&"a@example.org ".repeat(280), &countries).len(), MAX_CONTACTS);
    }

    proptest! {
        #[test]
        fn any_text_has_a_rest(text in any::<String>(), digits in "[0-9+ ()./-]{0,60}") {
            let countries = Countries::of(["de-DE", "en-US"]);
            without_contacts(&text, &countries);
            without_contacts(&format!("{text}{digits}{text}"), &countries);
        }
    }
}
