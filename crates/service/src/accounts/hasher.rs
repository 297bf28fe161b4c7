//! Hashes passwords, a few at a time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use argon2::{
    Algorithm, Argon2, CustomizedPasswordHasher, Params, PasswordHash, PasswordHasher, PasswordVerifier,
    Version,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tracing::error;

use super::password::normalize;
use crate::error::ApiError;
use crate::limits::parallel_work;
use crate::secrets::random_bytes;

/// The parameters that OWASP recommends where memory is scarce: 19 MiB, 2 passes, 1 lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// Maximum hashes that are computed at a time, where there are processors enough.
const MAX_PARALLEL: usize = 2;
/// Nice value of the hashing threads: they get about a third of a processor that another thread wants as
/// well.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;
/// Maximum hashes of strangers that are computed or waited for.
const MAX_WAITING: usize = 64;
/// Maximum hashes of one tenant's operators that go first. Further ones wait with the strangers, so that a
/// tenant cannot keep the operators of others waiting.
const MAX_FIRST_PER_TENANT: usize = 8;
/// Maximum hashes for one password. Accounts of an address share a salt, and need one hash together, unless
/// two of them were created at the same moment.
const MAX_SALTS: usize = 5;

/// Is verified where there is no account, so that this takes as long.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm8gYWNjb3VudCBoZXJl$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The one whose password is hashed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Caller<'a> {
    /// An operator of a tenant: signed in, with a browser that has signed in before, or with a valid link.
    Known { tenant_id: &'a str },
    /// Anybody else.
    Stranger,
}

/// Hashes passwords on threads of their own: a few at a time, with a lower priority than everything else, so
/// that logins cannot take the machine. Known operators go first: they wait for the hashes that are being
/// computed, and never for strangers that wait.
///
/// Take a place, then count the attempt, then hash: what is refused for want of a place was not checked, and
/// must not count as a wrong password.
#[derive(Debug)]
pub(super) struct Hasher {
    slots: Arc<Semaphore>,
    /// Held by a stranger who waits for a slot or has one, so that no more of them are ahead of a known
    /// operator than can compute at once.
    stranger_turns: Arc<Semaphore>,
    stranger_places: Arc<Semaphore>,
    /// The number of known operators who wait or have a slot, by tenant.
    first: Arc<Mutex<HashMap<String, usize>>>,
    /// The number of hashes, for tests: what takes the same number of them takes the same time.
    computed: Arc<AtomicU64>,
}

impl Default for Hasher {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(parallel_work(MAX_PARALLEL))),
            stranger_turns: Arc::new(Semaphore::new(parallel_work(MAX_PARALLEL))),
            stranger_places: Arc::new(Semaphore::new(MAX_WAITING)),
            first: Arc::default(),
            computed: Arc::default(),
        }
    }
}

impl Hasher {
    /// Takes a place among those who wait, or refuses with 503 when there is none.
    pub(super) fn place(&self, caller: Caller<'_>) -> Result<Place, ApiError> {
        let first = match caller {
            Caller::Known { tenant_id } => FirstPlace::take(&self.first, tenant_id),
            Caller::Stranger => None,
        };
        let held = if let Some(first) = first {
            Held::First { _place: first }
        } else {
            let place = Arc::clone(&self.stranger_places).try_acquire_owned();
            let place = place.map_err(|_| ApiError::Unavailable)?;
            Held::Stranger { _place: place, turns: Arc::clone(&self.stranger_turns) }
        };
        Ok(Place { held, slots: Arc::clone(&self.slots), computed: Arc::clone(&self.computed) })
    }

    #[cfg(test)]
    pub(super) fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    /// Occupies all slots until the returned value is dropped.
    #[cfg(test)]
    pub(super) async fn stall(&self) -> OwnedSemaphorePermit {
        let all = u32::try_from(parallel_work(MAX_PARALLEL)).expect("few");
        Arc::clone(&self.slots).acquire_many_owned(all).await.expect("never closed")
    }
}

/// A place among those who go first. It is free again when this is dropped.
#[derive(Debug)]
struct FirstPlace {
    first: Arc<Mutex<HashMap<String, usize>>>,
    tenant_id: String,
}

impl FirstPlace {
    /// Takes a place; `None` when the tenant has all of its own.
    fn take(first: &Arc<Mutex<HashMap<String, usize>>>, tenant_id: &str) -> Option<Self> {
        let mut tenants = first.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = tenants.entry(tenant_id.to_owned()).or_default();
        if *taken >= MAX_FIRST_PER_TENANT {
            return None;
        }
        *taken += 1;
        Some(Self { first: Arc::clone(first), tenant_id: tenant_id.to_owned() })
    }
}

impl Drop for FirstPlace {
    fn drop(&mut self) {
        let mut tenants = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = tenants.get_mut(&self.tenant_id) {
            *taken -= 1;
            if *taken == 0 {
                tenants.remove(&self.tenant_id);
            }
        }
    }
}

/// What a caller holds until its hash is computed.
#[derive(Debug)]
enum Held {
    First { _place: FirstPlace },
    Stranger { _place: OwnedSemaphorePermit, turns: Arc<Semaphore> },
}

/// A place among those who wait for a hash.
#[derive(Debug)]
pub(super) struct Place {
    held: Held,
    slots: Arc<Semaphore>,
    computed: Arc<AtomicU64>,
}

impl Place {
    /// Returns the hash of a password, in PHC format. It has the salt of the hash `like`, if there is one.
    pub(super) async fn hash(self, password: String, like: Option<String>) -> Result<String, ApiError> {
        self.compute(move |argon2| {
            let salt = like.and_then(|like| PasswordHash::new(&like).ok()?.salt);
            let salt = salt.map_or_else(|| random_bytes::<SALT_BYTES>().to_vec(), |salt| salt.to_vec());
            Ok(argon2.hash_password_with_salt(password.as_bytes(), &salt)?.to_string())
        })
        .await
    }

    /// Returns the positions of the hashes that a password has. With none, it takes as long as with some of
    /// the same salt.
    pub(super) async fn matches(self, password: &str, hashes: Vec<String>) -> Result<Vec<usize>, ApiError> {
        if hashes.is_empty() {
            self.verify(password, None).await?;
            return Ok(Vec::new());
        }
        let (password, counter) = (normalize(password), Arc::clone(&self.computed));
        self.compute(move |argon2| {
            let mut outputs: Vec<(&str, PasswordHash)> = Vec::new();
            let mut matching = Vec::new();
            for (position, stored) in hashes.iter().enumerate() {
                // Everything but the output: the algorithm, its parameters and the salt.
                let (settings, _) = stored.rsplit_once('$').unwrap_or_default();
                let parsed = PasswordHash::new(stored)?;
                let computed = outputs.iter().position(|(of, _)| *of == settings);
                let computed = match computed {
                    Some(computed) => computed,
                    None if outputs.len() == MAX_SALTS => continue,
                    None => {
                        if !outputs.is_empty() {
                            counter.fetch_add(1, Ordering::Relaxed);
                        }
                        outputs.push((settings, compute_like(argon2, &password, &parsed)?));
                        outputs.len() - 1
                    }
                };
                // Takes as long wherever they differ.
                if parsed.hash.is_some() && parsed.hash == outputs[computed].1.hash {
                    matching.push(position);
                }
            }
            Ok(matching)
        })
        .await
    }

    /// Returns whether a password has this hash. Without a hash it takes as long, and is wrong.
    pub(super) async fn verify(self, password: &str, hash: Option<String>) -> Result<bool, ApiError> {
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

    async fn compute<T, F>(self, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&Argon2<'_>) -> Result<T, argon2::password_hash::Error> + Send + 'static,
    {
        let Self { held, slots, computed } = self;
        let turn = match &held {
            Held::First { .. } => None,
            Held::Stranger { turns, .. } => {
                Some(Arc::clone(turns).acquire_owned().await.map_err(|_| ApiError::Unavailable)?)
            }
        };
        let slot = slots.acquire_owned().await.map_err(|_| ApiError::Unavailable)?;
        let (result, computing) = oneshot::channel();
        // A thread that yields to others does so for good: it cannot be one of Tokio's.
        let thread = std::thread::Builder::new().name("password".to_owned()).spawn(move || {
            yield_to_others();
            // Held by the thread, which goes on when the client gives up.
            let permits = (held, turn, slot);
            computed.fetch_add(1, Ordering::Relaxed);
            let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
            let hasher = params.map(|params| Argon2::new(Algorithm::Argon2id, Version::V0x13, params));
            let output = hasher.map_err(Into::into).and_then(|argon2| work(&argon2));
            drop(permits);
            // Fails when the client has given up.
            _ = result.send(output);
        });
        if let Err(error) = thread {
            error!("a password was not hashed: {error}");
            return Err(ApiError::Unavailable);
        }
        computing.await.map_err(|_| ApiError::Internal)?.map_err(|error| {
            error!("a password was not hashed: {error}");
            ApiError::Internal
        })
    }
}

/// Returns the hash of a password with the parameters and the salt of a stored one.
fn compute_like(
    argon2: &Argon2<'_>,
    password: &str,
    stored: &PasswordHash,
) -> Result<PasswordHash, argon2::password_hash::Error> {
    let salt = stored.salt.as_ref().ok_or(argon2::password_hash::Error::SaltInvalid)?;
    let (algorithm, params) = (Some(stored.algorithm.as_str()), Params::try_from(stored)?);
    argon2.hash_password_customized(password.as_bytes(), salt, algorithm, stored.version, params)
}

/// Gives this thread less of a processor that others want as well. Elsewhere than on Linux, that concerns the
/// whole process, so that nothing is done.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!("passwords are hashed with the priority of visitors' messages: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::password::accept;
    use super::*;

    async fn verify(hasher: &Hasher, password: &str, hash: Option<&str>) -> Result<bool, ApiError> {
        hasher.place(Caller::Stranger)?.verify(password, hash.map(str::to_owned)).await
    }

    #[tokio::test]
    async fn a_password_is_the_same_in_every_normal_form() {
        let hasher = Hasher::default();
        let place = hasher.place(Caller::Stranger).expect("a place");
        let hash = place
            .hash(accept("ju\u{308}rgens pass wort", &[]).expect("accepted"), None)
            .await
            .expect("hashed");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        for (password, expected) in [
            ("j\u{fc}rgens pass wort", true),
            ("ｊ\u{fc}rgens pass wort", true),
            ("jurgens pass wort", false),
        ] {
            assert_eq!(verify(&hasher, password, Some(&hash)).await, Ok(expected), "{password}");
        }
        assert_eq!(verify(&hasher, "j\u{fc}rgens pass wort", None).await, Ok(false));
        assert_eq!(hasher.computed(), 5, "without an account as well");
        assert_eq!(verify(&hasher, "anything", Some("no hash")).await, Err(ApiError::Internal));
    }

    /// Otherwise the time of an answer told how many accounts an address has.
    #[tokio::test]
    async fn one_hash_is_compared_with_those_of_all_accounts_of_an_address() {
        let hasher = Hasher::default();
        let hash = async |password: &str, like: Option<&String>| {
            let place = hasher.place(Caller::Stranger).expect("a place");
            place.hash(password.to_owned(), like.cloned()).await.expect("hashed")
        };
        let first = hash("first phrase", None).await;
        let second = hash("second phrase", Some(&first)).await;
        let elsewhere = hash("elsewhere", None).await;
        let matches = async |password: &str, hashes: &[&String]| {
            let (place, before) = (hasher.place(Caller::Stranger).expect("a place"), hasher.computed());
            let matching = place.matches(password, hashes.iter().map(|hash| (*hash).clone()).collect()).await;
            (matching, hasher.computed() - before)
        };
        assert_eq!(matches("first phrase", &[&first, &second, &first]).await, (Ok(vec![0, 2]), 1));
        assert_eq!(matches("wrong", &[&first, &second]).await, (Ok(vec![]), 1));
        assert_eq!(matches("wrong", &[]).await, (Ok(vec![]), 1));
        assert_eq!(matches("elsewhere", &[&first, &elsewhere]).await, (Ok(vec![1]), 2), "another salt");
        assert_eq!(matches("any", &[&"no hash".to_owned()]).await, (Err(ApiError::Internal), 1));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_flood_of_logins_is_refused_and_not_queued_for_ever() {
        let hasher = Arc::new(Hasher::default());
        let attempts = chat_test_servers::at_once(MAX_WAITING * 2, |_| {
            let hasher = Arc::clone(&hasher);
            async move { verify(&hasher, "a password", None).await }
        });
        let refused = attempts.await.iter().filter(|result| **result == Err(ApiError::Unavailable)).count();
        assert!(refused > 0 && hasher.computed() <= (MAX_WAITING * 2 - refused) as u64, "{refused}");
        assert_eq!(hasher.slots.available_permits(), parallel_work(MAX_PARALLEL));
        assert_eq!(verify(&hasher, "a password", None).await, Ok(false), "works again");
    }

    #[tokio::test]
    async fn known_operators_go_before_a_flood_of_strangers() {
        let hasher = Arc::new(Hasher::default());
        let stalled = hasher.stall().await;
        let hash_for = |hasher: &Arc<Hasher>, caller: Caller<'_>| {
            let (place, hasher) = (hasher.place(caller), Arc::clone(hasher));
            place.map(|place| {
                tokio::spawn(async move {
                    place.verify("a password", None).await.expect("computed");
                    hasher.computed()
                })
            })
        };
        let strangers: Vec<_> =
            (0..MAX_WAITING).map(|_| hash_for(&hasher, Caller::Stranger).expect("a place")).collect();
        assert_eq!(hasher.place(Caller::Stranger).expect_err("no place is left"), ApiError::Unavailable);
        // The test's only thread runs every task until it waits.
        tokio::task::yield_now().await;
        let tenants: Vec<String> = (0..3).map(|number| format!("tenant_{number}")).collect();
        let mut known = Vec::new();
        for tenant_id in &tenants {
            known.push(hash_for(&hasher, Caller::Known { tenant_id }).expect("a place of its own"));
        }
        tokio::task::yield_now().await;
        drop(stalled);
        for known in known {
            let computed = known.await.expect("no panic");
            // The strangers who had a turn, the known ones, and those who began before this was noticed.
            assert!(computed <= 12, "{computed} hashes were computed before");
        }
        for stranger in strangers {
            stranger.await.expect("no panic");
        }
        assert!(hasher.first.lock().expect("no panic").is_empty(), "nobody is remembered");
    }

    #[tokio::test]
    async fn a_tenant_has_a_bounded_number_of_places_that_go_first() {
        let hasher = Hasher::default();
        let place = |tenant_id| hasher.place(Caller::Known { tenant_id });
        let own: Vec<Place> =
            (0..MAX_FIRST_PER_TENANT + MAX_WAITING).map(|_| place("a").expect("a place")).collect();
        let with_strangers = own.iter().filter(|place| matches!(place.held, Held::Stranger { .. })).count();
        assert_eq!(with_strangers, MAX_WAITING, "the others wait with the strangers");
        assert_eq!(place("a").expect_err("all are taken"), ApiError::Unavailable);
        assert!(matches!(place("b").expect("a place").held, Held::First { .. }), "another tenant");
        drop(own);
        assert!(matches!(place("a").expect("a place").held, Held::First { .. }));
    }
}
