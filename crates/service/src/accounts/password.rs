//! Passwords: which are accepted, how they are hashed, and how often at a time.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use tokio::sync::Semaphore;
use tracing::error;
use unicode_normalization::UnicodeNormalization;

use crate::error::ApiError;
use crate::secrets::random_bytes;

/// Minimum length of a password, in characters.
const MIN_CHARS: usize = 10;
/// Maximum length of a password, in characters.
const MAX_CHARS: usize = 1000;
/// Minimum number of different characters.
const MIN_DISTINCT_CHARS: usize = 5;

/// The parameters that OWASP recommends where memory is scarce: 19 MiB, 2 passes, 1 lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// Maximum hashes that are computed at a time.
const MAX_PARALLEL: usize = 2;
/// Maximum hashes that are computed or waited for.
const MAX_WAITING: usize = 64;

/// Is verified where there is no account, so that this takes as long.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm8gYWNjb3VudCBoZXJl$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The words that most of the worst passwords consist of, before and after which people add digits. Shorter
/// passwords are refused anyway.
const WORST: [&str; 40] = [
    "abcdefghij",
    "administrator",
    "basketball",
    "changeme",
    "computer",
    "dragon",
    "football",
    "iloveyou",
    "internet",
    "letmein",
    "liverpool",
    "login",
    "manchester",
    "master",
    "michelle",
    "monkey",
    "mustang",
    "operator",
    "passw0rd",
    "password",
    "passwort",
    "princess",
    "qazwsx",
    "qwerty",
    "qwertyuiop",
    "qwertz",
    "qwertzuiop",
    "secret",
    "shadow",
    "starwars",
    "summer",
    "sunshine",
    "superman",
    "supersecret",
    "support",
    "trustno",
    "welcome",
    "whatever",
    "winter",
    "zxcvbnm",
];

/// A password as it is hashed: normalised, so that it is the same from every keyboard.
pub(super) fn normalize(password: &str) -> String {
    // The rest of a password that is too long to be valid makes no difference.
    password.chars().take(MAX_CHARS + 1).nfkc().collect()
}

/// Accepts a new password. `context` is what an attacker tries first: the e-mail address and names.
pub(super) fn accept(password: &str, context: &[&str]) -> Result<String, ApiError> {
    let password = normalize(password);
    let length = password.chars().count();
    let refused = |reason: String| Err(ApiError::InvalidRequest(format!("invalid password: {reason}.")));
    if length < MIN_CHARS {
        return refused(format!("expected at least {MIN_CHARS} characters, got {length}"));
    }
    if length > MAX_CHARS {
        return refused(format!("expected at most {MAX_CHARS} characters"));
    }
    let folded = password.to_lowercase();
    if is_simple(&folded)
        || WORST.contains(&core(&folded))
        || context.iter().any(|word| repeats(&folded, word))
    {
        return refused(
            "expected one that others do not guess: use several words, or a password manager".to_owned(),
        );
    }
    Ok(password)
}

/// Returns whether a password has few different characters, or runs along the alphabet or the digits.
fn is_simple(password: &str) -> bool {
    let chars: Vec<u32> = password.chars().map(u32::from).collect();
    let distinct: HashSet<u32> = chars.iter().copied().collect();
    let steps: Vec<i64> = chars.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0])).collect();
    // 9 is followed by 0.
    let runs = |step: i64| steps.iter().filter(|found| **found == step || **found == -9 * step).count();
    distinct.len() < MIN_DISTINCT_CHARS || runs(1).max(runs(-1)) * 4 >= steps.len() * 3
}

/// Returns a password without what people add around a word. A word that is repeated counts once.
fn core(password: &str) -> &str {
    let word = password.trim_matches(|character: char| !character.is_alphabetic());
    let middle = word.len() / 2;
    match word.split_at_checked(middle) {
        Some((first, second)) if first == second => first,
        _ => word,
    }
}

/// Returns whether a password is a word of its context, or a part of that between `@`, dots and spaces, with
/// no more than what people add around it.
fn repeats(password: &str, word: &str) -> bool {
    let folded = normalize(word).to_lowercase();
    let bare = core(password);
    let parts = folded.split(['@', '.', ' ', '-', '+', '_']);
    let joined = folded.replace(' ', "");
    [folded.as_str(), joined.as_str()]
        .into_iter()
        .chain(parts)
        .filter(|part| part.chars().count() > 2)
        .any(|part| password == part || bare == core(part))
}

/// Hashes passwords on threads of their own, so few at a time that logins cannot take the machine.
#[derive(Debug)]
pub(super) struct Hasher {
    slots: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// The number of hashes, for tests: what takes the same number of them takes the same time.
    computed: Arc<AtomicU64>,
}

impl Default for Hasher {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(MAX_PARALLEL)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            computed: Arc::default(),
        }
    }
}

impl Hasher {
    /// Returns the hash of a password, in PHC format.
    pub(super) async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.compute(move |argon2| {
            let hash = argon2.hash_password_with_salt(password.as_bytes(), &random_bytes::<SALT_BYTES>())?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Returns whether a password has this hash. Without a hash it takes as long, and is wrong.
    pub(super) async fn verify(&self, password: &str, hash: Option<String>) -> Result<bool, ApiError> {
        let password = normalize(password);
        self.compute(move |argon2| {
            let stored = hash.as_deref().unwrap_or(DUMMY_HASH);
            match argon2.verify_password(password.as_bytes(), stored) {
                Ok(()) => Ok(hash.is_some()),
                Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn compute<T, F>(&self, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&Argon2<'_>) -> Result<T, argon2::password_hash::Error> + Send + 'static,
    {
        let waiting = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| ApiError::Unavailable)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| ApiError::Unavailable)?;
        let computed = Arc::clone(&self.computed);
        let computing = tokio::task::spawn_blocking(move || {
            // Held by the thread, which goes on when the client gives up.
            let _permits = (waiting, slot);
            computed.fetch_add(1, Ordering::Relaxed);
            let params = Params::new(MEMORY_KIB, PASSES, LANES, None)?;
            work(&Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
        });
        computing.await.map_err(|_| ApiError::Internal)?.map_err(|error| {
            error!("a password was not hashed: {error}");
            ApiError::Internal
        })
    }

    #[cfg(test)]
    pub(super) fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(password: &str) -> bool {
        accept(password, &["ada.lovelace@example.com", "Ada Lovelace", "Harbour Coffee"]).is_ok()
    }

    #[test]
    fn accepts_long_passwords_in_every_script() {
        for password in [
            "correct horse battery staple",
            "kT9#vQ2!xR7$",
            "пароль из пяти слов",
            "密码很长而且没有人猜到它",
            "1029384756102938x",
            "password of my grandmother",
            "harbour coffee with ada",
        ] {
            assert!(accepted(password), "{password}");
        }
        assert!(accepted(&"four score and 7 years".repeat(45)));
    }

    #[test]
    fn refuses_passwords_that_are_guessed_first() {
        for password in [
            "",
            "short",
            "123456789",
            "1234567890",
            "0987654321",
            "1111111111",
            "aaaaaaaaaaab",
            "ababababab",
            "abcdefghijklm",
            "password123",
            "Password2024!",
            "passwordpassword",
            "QWERTYUIOP",
            "qwertzuiop1",
            "!!!welcome!!!",
            "changeme123",
            "ada.lovelace@example.com",
            "Ada.Lovelace@Example.com",
            "lovelace1843",
            "harbour coffee",
            "HarbourCoffee1",
            "supersecret",
        ] {
            assert!(!accepted(password), "{password}");
        }
        assert!(!accepted(&"four score and 7 years".repeat(46)));
        assert!(!accepted(&"\u{fdfa}".repeat(1000)), "18 characters each, once normalised");
        assert!(!accepted(&"x".repeat(1_000_000)));
    }

    #[tokio::test]
    async fn a_password_is_the_same_in_every_normal_form() {
        let hasher = Hasher::default();
        let hash =
            hasher.hash(accept("ju\u{308}rgens pass wort", &[]).expect("accepted")).await.expect("hashed");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        for (password, expected) in [
            ("j\u{fc}rgens pass wort", true),
            ("ｊ\u{fc}rgens pass wort", true),
            ("jurgens pass wort", false),
        ] {
            assert_eq!(hasher.verify(password, Some(hash.clone())).await, Ok(expected), "{password}");
        }
        assert_eq!(hasher.verify("j\u{fc}rgens pass wort", None).await, Ok(false));
        assert_eq!(hasher.computed(), 5, "without an account as well");
        assert_eq!(hasher.verify("anything", Some("no hash".to_owned())).await, Err(ApiError::Internal));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_flood_of_logins_is_refused_and_not_queued_for_ever() {
        let hasher = Arc::new(Hasher::default());
        let attempts = chat_test_servers::at_once(MAX_WAITING * 2, |_| {
            let hasher = Arc::clone(&hasher);
            async move { hasher.verify("a password", None).await }
        });
        let refused = attempts.await.iter().filter(|result| **result == Err(ApiError::Unavailable)).count();
        assert!(refused > 0 && hasher.computed() <= (MAX_WAITING * 2 - refused) as u64, "{refused}");
        assert_eq!(hasher.slots.available_permits(), MAX_PARALLEL);
        assert_eq!(hasher.verify("a password", None).await, Ok(false), "works again");
    }
}
