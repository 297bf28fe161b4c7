//! Addresses as keys, by which pages and the links to them are compared.

use url::Url;

/// Returns the key of an address within its site: the path, decoded, without the name of a folder's page. The
/// query belongs to it, except for files.
pub(crate) fn key(url: &Url, is_folder: bool) -> String {
    let mut key = decoded(url.path());
    // Web servers do not tell apart how many slashes there are.
    while key.contains("//") {
        key = key.replace("//", "/");
    }
    for index in ["index.html", "index.htm"] {
        if key.strip_suffix(index).is_some_and(|folder| folder.ends_with('/')) {
            key.truncate(key.len() - index.len());
        }
    }
    if let Some(query) = url.query().filter(|query| !is_folder && !query.is_empty()) {
        key.push('?');
        key.push_str(query);
    }
    key
}

/// Decodes what is written as `%20`.
pub(crate) fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether a relative address leaves the folder by more `..` than the page has folders: what is there
/// is not known.
pub(crate) fn climbs_out(page: &Url, href: &str) -> bool {
    if href.starts_with('/') || href.contains("://") {
        return false;
    }
    let mut depth = page.path().matches('/').count().saturating_sub(1);
    let path = href.split(['?', '#']).next().unwrap_or_default();
    for part in path.split('/') {
        match part {
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

/// Returns whether an address means the machine of the reader.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "file"
        || matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0" | "[::1]")
        || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse("https://shop.example/").and_then(|root| root.join(text)).expect("an address")
    }

    #[test]
    fn the_key_of_a_folder_has_no_name_of_a_file() {
        assert_eq!(key(&url("/a/index.html?x=1#b"), true), "/a/");
        assert_eq!(key(&url("/a%20b.html"), true), "/a b.html");
        assert_eq!(key(&url("/a//b///c.html"), true), "/a/b/c.html");
        assert_eq!(key(&url("/a?x=1"), false), "/a?x=1");
        assert_eq!(key(&url("/myindex.html"), true), "/myindex.html");
        assert_eq!(key(&url("/100%.html"), true), "/100%.html");
    }

    #[test]
    fn a_link_above_the_folder_is_recognised() {
        assert!(climbs_out(&url("/a/b.html"), "../../x.html"));
        assert!(!climbs_out(&url("/a/b.html"), "../x.html"));
        assert!(!climbs_out(&url("/b.html"), "c/../x.html#../.."));
        assert!(!climbs_out(&url("/b.html"), "/../x.html"));
    }
}
