//! The path of a page, and its file: a name that is valid on every system and stays within the site.

use std::fmt::{self, Display, Formatter};

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::printable::{Printable, is_unprintable};

/// Maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 1000;
/// Maximum length of a part, in bytes. Systems allow 255, and a temporary name must fit as well.
const MAX_PART_BYTES: usize = 200;
/// Maximum number of parts.
const MAX_PARTS: usize = 32;

/// An invalid path of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PageError {
    path: String,
    reason: &'static str,
}

impl Display for PageError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let path: String = self.path.chars().take(200).collect();
        write!(out, "invalid path of a page: {}, got {}", self.reason, Printable(&path))
    }
}

/// The path of a page, such as `/news`, and its file, such as `news/index.html`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SitePath {
    path: String,
    folders: Vec<String>,
    file: String,
}

impl SitePath {
    /// Parses a path. `/a` and `/a/` are `a/index.html`, `/a.html` is itself.
    pub(super) fn new(path: &str) -> Result<Self, PageError> {
        let bad = |reason| PageError { path: path.to_owned(), reason };
        let rest = path.strip_prefix('/').ok_or_else(|| bad("expected / at the beginning"))?;
        if path.len() > MAX_PATH_BYTES {
            return Err(bad("expected at most 1000 bytes"));
        }
        let mut folders = Vec::new();
        for part in rest.strip_suffix('/').unwrap_or(rest).split('/').filter(|_| !rest.is_empty()) {
            check(part).map_err(bad)?;
            folders.push(part.to_owned());
        }
        if folders.len() > MAX_PARTS {
            return Err(bad("expected at most 32 parts"));
        }
        let is_file = !path.ends_with('/') && folders.last().is_some_and(|last| is_html(last));
        let file = folders.pop_if(|_| is_file).unwrap_or_else(|| "index.html".to_owned());
        Ok(Self { path: path.to_owned(), folders, file })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.path
    }

    /// Returns the folders of the file, outermost first.
    pub(super) fn folders(&self) -> &[String] {
        &self.folders
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }
}

/// Returns whether a file of this name is a page.
pub(super) fn is_html(name: &str) -> bool {
    name.strip_suffix(".html").or(name.strip_suffix(".htm")).is_some_and(|stem| !stem.is_empty())
}

/// Returns the name in NFC and lower case, as systems compare it that ignore case and Unicode normal forms.
pub(super) fn case_folded(name: &str) -> String {
    let lower = ComposingNormalizerBorrowed::new_nfc().normalize(name).to_lowercase();
    ComposingNormalizerBorrowed::new_nfc().normalize(&lower).into_owned()
}

/// Checks that a part of a path is a valid name on every system, and means the same to the web server.
fn check(part: &str) -> Result<(), &'static str> {
    if part.is_empty() || part.starts_with('.') {
        return Err("expected no part that is empty or begins with a dot");
    }
    if part.len() > MAX_PART_BYTES {
        return Err("expected parts of at most 200 bytes");
    }
    if part.ends_with(['.', ' ']) || part.starts_with(' ') {
        return Err("expected no part that begins or ends with a space, or ends with a dot");
    }
    if part.contains(['\\', ':', '%', '?', '#', '<', '>', '"', '|', '*']) {
        return Err("expected none of the characters \\ : % ? # < > \" | *");
    }
    if part.chars().any(is_unprintable) {
        return Err("expected no control characters");
    }
    if is_device(part) {
        return Err("expected no name of a device, such as con or nul");
    }
    Ok(())
}

/// Returns whether Windows treats a name as a device, whatever its extension.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    let is_digit = |rest: &str| matches!(rest.chars().next(), Some('0'..='9' | '¹' | '²' | '³'));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || numbered.is_some_and(|rest| rest.chars().count() == 1 && is_digit(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    fn file(path: &str) -> Result<String, PageError> {
        let path = SitePath::new(path)?;
        Ok([path.folders(), &[path.file().to_owned()]].concat().join("/"))
    }

    #[test]
    fn maps_a_path_to_a_file_in_the_folder() {
        for (path, expected) in [
            ("/", "index.html"),
            ("/news", "news/index.html"),
            ("/news/", "news/index.html"),
            ("/news/a.html", "news/a.html"),
            ("/v1.2/", "v1.2/index.html"),
            ("/a.html/", "a.html/index.html"),
            ("/grüße/你好", "grüße/你好/index.html"),
            ("/console/comma/com10", "console/comma/com10/index.html"),
        ] {
            assert_eq!(file(path).as_deref(), Ok(expected), "{path}");
        }
    }

    #[test]
    fn refuses_paths_that_leave_the_folder_or_are_not_portable() {
        let (part, path, parts) = ("x".repeat(201), "/x".repeat(501), "/x".repeat(33));
        let long = [format!("/{part}"), path, parts];
        let bad = [
            "news",
            "",
            "/../x",
            "/a/../../x",
            "/.htaccess",
            "//x",
            "/a//b",
            "/a\\b",
            "/%2e%2e/x",
            "/%2E%2E",
            "/a\0b",
            "/a\nb",
            "/a\x1b[2Jb",
            "/a\u{9b}b",
            "/gpj.\u{202e}exe",
            "/a?b",
            "/a#b",
            "/C:",
            "/a:stream",
            "/a.",
            "/a /b",
            "/a./b",
            "/ a",
            "/con",
            "/CON.html",
            "/nul.tar.html",
            "/a/AUX/b",
            "/com1",
            "/LPT9.html",
            "/com¹",
            "/a<b",
            "/a|b",
            "/a*",
            "/a\"b",
        ];
        for bad in bad.into_iter().chain(long.iter().map(String::as_str)) {
            let error = file(bad).expect_err(bad);
            assert!(!error.to_string().chars().any(is_unprintable) && error.to_string().len() < 600);
        }
    }

    #[test]
    fn names_that_differ_in_case_or_accents_fold_to_the_same() {
        assert_eq!(case_folded("Grüße"), case_folded("GRU\u{308}ßE"));
        assert_eq!(case_folded("News"), case_folded("nEWS"));
        assert_ne!(case_folded("news"), case_folded("nevs"));
    }

    proptest! {
        #[test]
        fn any_path_is_refused_or_stays_in_the_folder(
            path in prop_oneof![any::<String>(), "/[a-zA-Z0-9./\\\\%: ~é-]{0,60}", "(/[^/]{0,300}){0,40}"],
        ) {
            let Ok(site_path) = SitePath::new(&path) else { return Ok(()) };
            prop_assert_eq!(site_path.as_str(), &path);
            let names = [site_path.folders(), &[site_path.file().to_owned()]].concat();
            for name in &names {
                let components: Vec<_> = Path::new(name).components().collect();
                prop_assert_eq!(components, [Component::Normal(name.as_ref())]);
                prop_assert!(name.len() <= 255 && !name.chars().any(is_unprintable));
            }
            prop_assert!(is_html(site_path.file()));
        }
    }
}
