use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::visitors::fixture::{number, service};

const NOW_MS: i64 = 1_800_000_000_000;

fn key(scope: &str, caller: Caller) -> Key {
    Key { scope: scope.to_owned(), place: Place::Caller(caller) }
}

/// Counts a request as [`RateLimiter::take`] does where there is one node.
fn accepts(limiter: &RateLimiter, scope: &str, caller: Caller) -> bool {
    let key = limiter.windows().key(scope, caller, NOW_MS);
    limiter.count(&key, NOW_MS, false, 1).1
}

/// Returns the caller with a number: each in a /64 network of its own, all in one /48.
fn neighbour(number: u32) -> Caller {
    Caller::at(IpAddr::V6(((0x2001_0db8_u128 << 96) | (u128::from(number) << 64)).into()))
}

fn entries(limiter: &RateLimiter, scope: &str) -> usize {
    limiter.windows().scopes.get(scope).map_or(0, |scope| scope.callers.len() + scope.overflow.len())
}

#[test]
fn a_flood_of_callers_takes_no_place_of_another_scope_and_none_of_other_networks() {
    let limiter = RateLimiter::new(RateLimit { requests: 2, window: Duration::from_mins(1) });
    for number in 0..60_000 {
        accepts(&limiter, "flooded", neighbour(number));
    }
    assert_eq!(entries(&limiter, "flooded"), MAX_CALLERS + 1, "the /48 has one window more");
    assert!(!accepts(&limiter, "flooded", neighbour(60_000)));
    for number in 0..1000 {
        assert!(accepts(&limiter, "other", neighbour(number)), "{number}");
    }
    let other_network = Caller::at(IpAddr::V6((0x2001_0db9_u128 << 96).into()));
    assert!(accepts(&limiter, "flooded", other_network));
    assert!(accepts(&limiter, "flooded", Caller::Anybody));
}

#[test]
fn a_scope_has_a_maximum_of_windows_whatever_addresses_are_invented() {
    let limiter = RateLimiter::new(RateLimit { requests: 2, window: Duration::from_mins(1) });
    for number in 0..200_000_u32 {
        accepts(&limiter, "site", Caller::at(IpAddr::V4((number << 8).into())));
    }
    assert!(entries(&limiter, "site") <= MAX_CALLERS + 1024);
    // Those who were there before keep their windows.
    assert!(accepts(&limiter, "site", Caller::at(Ipv4Addr::UNSPECIFIED.into())));
}

on_both_databases! {
    async fn during_a_flood_of_one_site_every_new_visitor_of_another_is_answered(database: &TestDatabase) {
        let service = service(database).await;
        let limiter = RateLimiter::new(RateLimit { requests: 40, window: Duration::from_hours(1) });
        limiter.windows().max_callers = 20;
        for number in 0..300 {
            limiter.take(&service, "flooded", neighbour(number)).await.expect("counted");
        }
        let refused = limiter.take(&service, "flooded", neighbour(300)).await.expect("counted");
        assert!(refused.exceeded, "all callers of the /48 share a window");
        for number in 0..100_u32 {
            let visitor = Caller::at(IpAddr::V4((number << 8).into()));
            let quota = limiter.take(&service, "other", visitor).await.expect("counted");
            assert!(!quota.exceeded, "{number}");
        }
        assert_eq!(entries(&limiter, "flooded"), 21);
        let stored = number(service.db(), "SELECT count(*) FROM rate_counters WHERE key LIKE 'flooded %'", vec![]);
        let expected = if service.db().dialect() == Dialect::Postgres { 21 } else { 0 };
        assert_eq!(stored.await, expected);
    }

    async fn nodes_that_start_often_do_not_use_up_the_hour_of_a_caller(database: &TestDatabase) {
        let service = service(database).await;
        let limit = RateLimit { requests: 32 << 20, window: Duration::from_hours(1) };
        for start in 0..100 {
            let visitor = Caller::visitor("ada");
            let quota = RateLimiter::new(limit).take_weight(&service, "site", visitor, 1000).await;
            assert!(!quota.expect("counted").exceeded, "after {start} starts");
        }
    }
}

#[test]
fn the_window_of_a_network_is_found_again() {
    let limiter = RateLimiter::new(RateLimit { requests: 1, window: Duration::from_mins(1) });
    for number in 0..10_000 {
        accepts(&limiter, "site", neighbour(number));
    }
    let (one, other) = (neighbour(20_000), neighbour(30_000));
    assert!(accepts(&limiter, "site", one) && !accepts(&limiter, "site", other));
    limiter.refund("site", other);
    assert!(accepts(&limiter, "site", one));
}

#[test]
fn the_windows_of_callers_begin_at_different_times() {
    let visitors = (0..1000).map(|number: u32| Caller::at(IpAddr::V4(number.into())));
    let seconds: HashSet<i64> =
        visitors.map(|caller| offset_ms(&key("site", caller)).rem_euclid(60_000) / 1000).collect();
    assert_eq!(seconds.len(), 60);
}

#[test]
fn a_clock_that_is_set_back_begins_a_new_window() {
    let limit = RateLimit { requests: 2, window: Duration::from_mins(1) };
    let key = key("site", Caller::Anybody);
    let limiter = RateLimiter::new(limit);
    for accepted in [true, true, false] {
        assert_eq!(limiter.count(&key, NOW_MS, false, 1).1, accepted);
    }
    assert!(!limiter.count(&key, NOW_MS - 1, false, 1).1, "still the same window");
    let (window, accepted) = limiter.count(&key, NOW_MS - 3_600_000, false, 1);
    assert!(accepted);
    assert_eq!(window.ends_ms, NOW_MS - 3_600_000 + 60_000);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_what_has_expired() {
    let limit = RateLimit { requests: 2, window: Duration::from_secs(1) };
    let limiter = RateLimiter::new(limit);
    let count = |scope: i64, now_ms: i64| {
        let key = limiter.windows().key(&scope.to_string(), Caller::Anybody, now_ms);
        limiter.count(&key, now_ms, false, 1);
    };
    for second in 0..100 {
        count(second, NOW_MS - second * 2000);
    }
    assert!(limiter.windows().scopes.len() <= 100);
    for second in 0..100 {
        count(100 + second, NOW_MS + second * 2000);
    }
    assert_eq!(limiter.windows().scopes.len(), 1);
}
