//! How long browsers keep a file.

use axum::http::HeaderValue;

/// The caching of a file whose name contains the hash of its content.
pub(super) const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The caching of other files: a browser asks whether its copy is current.
pub(super) const REVALIDATED: HeaderValue = HeaderValue::from_static("no-cache");

/// The least digits of a hash in a file's name.
const MIN_HASH_DIGITS: usize = 8;

/// Returns whether a file's name contains the hash of its content, as in `chat-widget.0f1e2d3c.wasm`.
pub(super) fn has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut parts = name.split(['.', '-']).rev();
    // The last part is the extension, the first one the name.
    let last = parts.next();
    let is_hash = |part: &str| {
        part.len() >= MIN_HASH_DIGITS
            && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    last.is_some() && parts.next().is_some_and(is_hash) && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_hash_are_cached_forever() {
        for path in ["/chat-widget.0f1e2d3c.wasm", "/a/b-0123456789abcdef.mjs"] {
            assert!(has_hash(path), "{path}");
        }
        for path in
            ["/chat-widget.js", "/locales/de.mjs", "/0f1e2d3c.js", "/a.0f1e2d3.js", "/a.defaced!.js", "/"]
        {
            assert!(!has_hash(path), "{path}");
        }
    }
}
