//! SHA-256 hashes, by which texts are compared without storing them, and secrets in constant time.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A SHA-256 hash.
pub(crate) type Fingerprint = [u8; 32];

/// Returns the hash of the concatenated parts.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Compares two secrets in constant time, by their hashes.
pub(crate) fn is_same_secret(sent: &str, stored: &str) -> bool {
    fingerprint(&[sent.as_bytes()]).ct_eq(&fingerprint(&[stored.as_bytes()])).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_equals_only_itself() {
        assert!(is_same_secret("a-token", "a-token") && is_same_secret("", ""));
        for other in ["", "a-toke", "a-token-", "A-token", "b-token"] {
            assert!(!is_same_secret(other, "a-token"), "{other}");
        }
    }

    #[test]
    fn hashes_parts_as_one_concatenated_text() {
        assert_eq!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"abc"]));
        assert_eq!(fingerprint(&[b"abc"])[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
