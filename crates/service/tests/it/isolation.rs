//! No tenant ever sees or changes anything of another.
//!
//! Two tenants call random endpoints of both APIs, with their own and with each other's ids, keys and bodies.
//! After each call, the response holds nothing of the other tenant, and no row of the other has changed. The
//! endpoints are read from the service's own description, so that a new one takes part by itself.

mod calls;
mod rows;
mod tenant;

use std::collections::BTreeSet;

use chat_service::{Service, SiteChange};

use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

use calls::{Call, calls};
use rows::Rows;
use tenant::Tenant;

/// Random calls of one run.
const CALLS: u32 = 900;
/// Minimum endpoints that succeed with ids of the caller's own: a call that never succeeds proves nothing.
const MIN_SUCCEEDED: usize = 30;

/// Returns the seed of the random numbers: that of `ISOLATION_SEED`, or a new one.
fn seed() -> u64 {
    std::env::var("ISOLATION_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| fastrand::u64(..))
}

async fn tenant(service: &Service, name: &str) -> Tenant {
    Tenant::new(Client::of(service.clone(), SiteChange::default()).await, name).await
}

on_both_databases! {
    async fn tenants_are_separate(database: &TestDatabase) {
        let seed = seed();
        let mut random = fastrand::Rng::with_seed(seed);
        let service = Service::open(options(database)).await.expect("opened");
        let mut tenants = [tenant(&service, "alpha").await, tenant(&service, "omega").await];
        let rows = Rows::connect(database).await;
        let calls = calls(&tenants[0]).await;
        let mut succeeded = BTreeSet::new();
        for number in 0..crate::support::cases(CALLS).cases {
            let caller = random.usize(..2);
            let call = random.choice(&calls).expect("there are calls");
            let before = rows.of(&tenants[1 - caller]).await;
            let [one, other] = &mut tenants;
            let (own, other) = if caller == 0 { (one, other) } else { (other, one) };
            let request = call.request(&mut random, own, other);
            let what = format!("call {number} of seed {seed}: {} by {}", request.what(), own.name);
            let answer = request.send(own).await;
            if answer.status == 200 && !request.names_other {
                succeeded.insert(call.to_string());
                own.learn(&answer);
            }
            assert!(
                !(answer.status == 200 && request.needs_other),
                "{what}: succeeded with an id of the other tenant: {:?}",
                answer.body
            );
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            for secret in other.secrets() {
                assert!(request.contains(&secret) || !text.contains(&secret), "{what}: the response holds {secret}: {text}");
            }
            let after = rows.of(&tenants[1 - caller]).await;
            assert_eq!(before, after, "{what}: changed rows of the other tenant");
        }
        let never: Vec<String> =
            calls.iter().map(Call::to_string).filter(|call| !succeeded.contains(call)).collect();
        assert!(succeeded.len() >= MIN_SUCCEEDED, "seed {seed}: never succeeded: {never:?}");
    }
}
