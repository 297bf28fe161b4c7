//! The service's key as a text, for a file.

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use secrecy::SecretString;

use crate::ServiceKey;
use crate::secrets::random_secret;

/// Returns a new random key as base64, in one line.
pub fn generate_key() -> SecretString {
    random_secret().into()
}

/// Parses a key: 32 bytes in base64, of either alphabet, with or without padding.
pub fn parse_key(text: &str) -> Option<ServiceKey> {
    let text = text.trim().trim_end_matches('=').replace('-', "+").replace('_', "/");
    ServiceKey::new(&BASE64_STANDARD_NO_PAD.decode(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn a_generated_key_can_be_read_back() {
        let text = generate_key();
        let key = parse_key(text.expose_secret()).expect("a key");
        let sealed = key.seal("test", "secret");
        let again = parse_key(&format!("{}=\n", text.expose_secret())).expect("the same key");
        assert_eq!(again.unseal("test", &sealed).expect("the same key").expose_secret(), "secret");
    }

    #[test]
    fn other_texts_are_no_keys() {
        let standard = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=";
        assert!(parse_key(standard).is_some(), "as openssl rand -base64 32 prints it");
        for text in
            ["", "=", "abc", &standard[4..], &format!("{standard}{standard}"), "\u{e9}", "a key with spaces"]
        {
            assert!(parse_key(text).is_none(), "{text}");
        }
    }
}
