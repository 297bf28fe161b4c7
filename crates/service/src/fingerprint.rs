//! SHA-256 hashes, by which texts are compared without storing them, and secrets in constant time.

use ring::digest::{Context, SHA256};
use subtle::ConstantTimeEq;

/// A SHA-256 hash.
pub(crate) type Fingerprint = [u8; 32];

/// Returns the hash of the concatenated parts.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    let mut hash = Context::new(&SHA256);
    for part in parts {
        hash.update(part);
    }
    let mut fingerprint = Fingerprint::default();
    fingerprint.copy_from_slice(hash.finish().as_ref());
    fingerprint
}

/// Compares two hashes in constant time.
pub(crate) fn is_same_hash(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_equals_only_itself() {
        let of = |text: &str| fingerprint(&[text.as_bytes()]);
        assert!(is_same_hash(&of("a-token"), &of("a-token")));
        for other in ["", "a-toke", "a-token-", "A-token", "b-token"] {
            assert!(!is_same_hash(&of(other), &of("a-token")), "{other}");
        }
        assert!(!is_same_hash(&of("a-token")[..31], &of("a-token")));
    }

    #[test]
    fn hashes_parts_as_one_concatenated_text() {
        assert_eq!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"abc"]));
        assert_eq!(fingerprint(&[b"abc"])[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
