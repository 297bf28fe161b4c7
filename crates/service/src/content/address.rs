//! Addresses in one spelling, by which a page is known however a link spells it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::Url;

use crate::fingerprint::fingerprint;

/// Parameters that say where a visitor came from, or which session it is, but not which page is meant. Those
/// that end with `_` stand for all that begin with them.
const TRACKING: [&str; 18] = [
    "utm_",
    "gclid",
    "fbclid",
    "msclkid",
    "dclid",
    "yclid",
    "twclid",
    "igshid",
    "srsltid",
    "gad_source",
    "mc_",
    "_ga",
    "_gl",
    "_hs",
    "mkt_tok",
    "phpsessid",
    "jsessionid",
    "gbraid",
];
/// The beginning of a session's id in a path.
const SESSION_IN_PATH: &str = ";jsessionid=";
/// Names that servers add to the address of a folder.
const INDEXES: [&str; 4] = ["/index.html", "/index.htm", "/index.php", "/index"];

/// Returns the host of an address without `www.`, with its port unless that is the scheme's own.
pub(crate) fn host_key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let host = host.strip_prefix("www.").unwrap_or(host);
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns the key of an address: the same for all spellings of it.
pub(crate) fn address_key(url: &Url) -> String {
    hashed(&[host_key(url).as_bytes(), b" ", &normalized_path(url)])
}

/// Returns the key of a path, whatever its host.
pub(crate) fn path_key(url: &Url) -> String {
    hashed(&[b" ", &normalized_path(url)])
}

/// Returns the key of the path that an item of a sync has.
pub(super) fn key_of_path(path: &str) -> Option<String> {
    let base = Url::parse("http://site.invalid/").ok()?;
    base.join(path).ok().map(|url| path_key(&url))
}

fn hashed(parts: &[&[u8]]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(fingerprint(parts))
}

/// Returns the path and the parameters without what servers, links and statistics add.
fn normalized_path(url: &Url) -> Vec<u8> {
    let mut path = decoded(url.path());
    path.dedup_by(|next, last| *next == b'/' && *last == b'/');
    if let Some(session) =
        path.windows(12).position(|part| part.eq_ignore_ascii_case(SESSION_IN_PATH.as_bytes()))
    {
        path.truncate(session);
    }
    let index = INDEXES.iter().find(|index| path.to_ascii_lowercase().ends_with(index.as_bytes()));
    path.truncate(path.len() - index.map_or(0, |index| index.len()));
    for ending in [".html", ".htm"] {
        if path.to_ascii_lowercase().ends_with(ending.as_bytes()) {
            path.truncate(path.len() - ending.len());
            break;
        }
    }
    while path.last() == Some(&b'/') {
        path.pop();
    }
    let mut parameters: Vec<(String, String)> =
        url.query_pairs().into_owned().filter(|(name, _)| !is_tracking(name)).collect();
    parameters.sort();
    for (index, (name, value)) in parameters.into_iter().enumerate() {
        path.push(if index == 0 { b'?' } else { b'&' });
        path.extend(name.into_bytes());
        path.push(b'=');
        path.extend(value.into_bytes());
    }
    path
}

/// Removes the parameters of [`TRACKING`] from an address, and a session in its path, and leaves the rest as
/// it is spelled.
pub(crate) fn remove_tracking(url: &mut Url) {
    if let Some(session) = url.path().to_ascii_lowercase().find(SESSION_IN_PATH) {
        let path = url.path()[..session].to_owned();
        url.set_path(&path);
    }
    let Some(query) = url.query() else { return };
    let is_kept = |part: &&str| {
        let name = decoded(part.split('=').next().unwrap_or_default());
        !is_tracking(&String::from_utf8_lossy(&name))
    };
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    let kept = kept.join("&");
    if kept.len() < query.len() {
        url.set_query(Some(kept.as_str()).filter(|kept| !kept.is_empty()));
    }
}

fn is_tracking(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TRACKING.iter().any(|known| if known.ends_with('_') { name.starts_with(known) } else { name == *known })
}

/// Decodes what need not be encoded. An encoded `/`, `?`, `#` or `%` means something else than a plain one.
fn decoded(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let digits = (*first == b'%').then(|| tail.get(..2)).flatten();
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            None => bytes.push(*first),
            Some(b'/' | b'?' | b'#' | b'%') => {
                bytes.push(b'%');
                bytes.extend(tail[..2].to_ascii_uppercase());
                rest = &tail[2..];
            }
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(address: &str) -> String {
        address_key(&Url::parse(address).expect("an address"))
    }

    #[test]
    fn spellings_of_one_address_have_one_key() {
        for (one, other) in [
            ("https://shop.example/", "https://shop.example"),
            ("https://shop.example/mugs/", "http://www.Shop.example/mugs"),
            ("https://shop.example/index.html", "https://shop.example/"),
            ("https://shop.example/mugs/index.php", "https://shop.example/mugs/"),
            ("https://shop.example/mugs.html", "https://shop.example//mugs"),
            ("https://shop.example/t%C3%B6pfe", "https://shop.example/t\u{f6}pfe"),
            ("https://shop.example/%6Dugs", "https://shop.example/mugs"),
            ("https://shop.example/a%2Fb", "https://shop.example/a%2fb"),
            ("https://shop.example/mugs?utm_source=x&gclid=1", "https://shop.example/mugs#top"),
            ("https://shop.example/p?b=2&a=1", "https://shop.example/p?a=1&b=2&fbclid=z"),
            ("https://shop.example:443/mugs", "http://shop.example:80/mugs"),
            ("https://shop.example/mugs;jsessionid=1f", "https://shop.example/mugs"),
        ] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
    }

    #[test]
    fn an_address_loses_what_names_a_visitor_and_keeps_its_spelling() {
        for (address, expected) in [
            ("https://shop.example/p?b=2&PHPSESSID=1f&a=%C3%B6+x", "https://shop.example/p?b=2&a=%C3%B6+x"),
            ("https://shop.example/p?utm_source=x&%67clid=1", "https://shop.example/p"),
            ("https://shop.example/a%2Fb;JSESSIONID=1f?a=1", "https://shop.example/a%2Fb?a=1"),
            ("https://shop.example/p?", "https://shop.example/p?"),
            ("https://shop.example/?&&a", "https://shop.example/?&&a"),
        ] {
            let mut url = Url::parse(address).expect("an address");
            remove_tracking(&mut url);
            assert_eq!((url.as_str(), address_key(&url)), (expected, key(address)), "{address}");
        }
    }

    #[test]
    fn other_pages_have_other_keys() {
        for (one, other) in [
            ("https://shop.example/mugs", "https://shop.example/Mugs"),
            ("https://shop.example/a%2Fb", "https://shop.example/a/b"),
            ("https://shop.example/p?id=1", "https://shop.example/p?id=2"),
            ("https://shop.example/", "https://blog.example/"),
            ("https://shop.example/", "https://shop.example:8443/"),
            ("https://shop.example/a%3Fb=1", "https://shop.example/a?b=1"),
        ] {
            assert_ne!(key(one), key(other), "{one} {other}");
        }
    }

    #[test]
    fn a_path_of_a_sync_has_the_key_of_the_page() {
        let page = Url::parse("https://www.shop.example/mugs/?utm_medium=mail").expect("an address");
        assert_eq!(key_of_path("/mugs/index.html"), Some(path_key(&page)));
        assert_eq!(key_of_path("mugs"), Some(path_key(&page)));
        assert_ne!(key_of_path("/cups"), Some(path_key(&page)));
    }

    proptest::proptest! {
        #[test]
        fn any_path_has_a_key(path in ".{0,60}") {
            let _ = key_of_path(&path);
            if let Ok(mut url) = Url::parse("https://shop.example/").and_then(|url| url.join(&path)) {
                let before = address_key(&url);
                remove_tracking(&mut url);
                proptest::prop_assert_eq!(address_key(&url), before);
            }
        }
    }
}
