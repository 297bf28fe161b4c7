//! SHA-256, where a text is compared without being kept, or without telling how much of it is right.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A SHA-256 hash.
pub(crate) type Fingerprint = [u8; 32];

/// Returns the hash of the parts, one after the other.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Compares two secrets in a time that depends on neither: hashes have one length.
pub(crate) fn is_same_secret(sent: &str, kept: &str) -> bool {
    fingerprint(&[sent.as_bytes()]).ct_eq(&fingerprint(&[kept.as_bytes()])).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_the_same_as_itself_alone() {
        assert!(is_same_secret("a-token", "a-token") && is_same_secret("", ""));
        for other in ["", "a-toke", "a-token-", "A-token", "b-token"] {
            assert!(!is_same_secret(other, "a-token"), "{other}");
        }
    }

    #[test]
    fn parts_are_hashed_as_one_text() {
        assert_eq!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"abc"]));
        assert_eq!(fingerprint(&[b"abc"])[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
