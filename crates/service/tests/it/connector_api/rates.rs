//! The rate limits of visitors and of tokens count separately, on both databases and on two nodes.

use std::time::Duration;

use chat_service::{RateLimit, Service, ServiceOptions, SiteChange};
use secrecy::ExposeSecret;

use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Client, options};

/// Returns the options of a service with these limits of an hour.
fn limited(database: &TestDatabase, per_visitor: u32, per_token: u32) -> ServiceOptions {
    let limit = |requests| RateLimit { requests, window: Duration::from_hours(1) };
    ServiceOptions { rate_limit: limit(per_visitor), token_rate_limit: limit(per_token), ..options(database) }
}

/// Reads the config for the visitor with a number.
async fn read(client: &Client, visitor: u32) -> Answer {
    let mut request = client.api("GET", "/chat/config", axum::body::Body::empty());
    let address = format!("10.0.{}.{}", visitor / 256, visitor % 256);
    request.headers_mut().insert("x-forwarded-for", address.parse().expect("a header value"));
    client.send(request).await
}

async fn accepted(client: &Client, visitors: impl Iterator<Item = u32>) -> u32 {
    let mut accepted = 0;
    for visitor in visitors {
        accepted += u32::from(read(client, visitor).await.status == 200);
    }
    accepted
}

on_both_databases! {
    async fn a_token_has_a_limit_for_all_of_its_visitors_together(database: &TestDatabase) {
        let client = Client::with(limited(database, 100, 30), SiteChange::default()).await;
        let other = Client::of(client.service.clone(), SiteChange::default()).await;
        assert_eq!(accepted(&client, 0..50).await, 30);
        let refused = read(&client, 77).await;
        assert_eq!(refused.failure(), (429, "RATE_LIMITED".to_owned()));
        let retry_after: u32 = refused.header("retry-after").expect("a header").parse().expect("a number");
        assert!((1..=3600).contains(&retry_after));
        assert_eq!(refused.header("x-ratelimit-limit"), Some("30"));
        assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
        // Another token of the same site, and another site.
        let mut second = client.clone();
        let token = client.service.directory().create_token(&client.site.id, "second", None).await.expect("a token");
        token.secret.expose_secret().clone_into(&mut second.token);
        assert_eq!(read(&second, 77).await.status, 200);
        assert_eq!(read(&other, 77).await.status, 200);
    }

    async fn visitors_who_come_at_once_are_accepted_up_to_the_limit(database: &TestDatabase) {
        let client = &Client::with(limited(database, 100, 60), SiteChange::default()).await;
        let answers = futures_util::future::join_all((0..60).map(|visitor| read(client, visitor))).await;
        let refused = answers.iter().filter(|answer| answer.status != 200).count();
        assert_eq!(refused, 0);
        assert_eq!(read(client, 61).await.status, 429);
    }

    async fn a_visitor_beyond_their_limit_does_not_use_up_that_of_the_token(database: &TestDatabase) {
        let client = Client::with(limited(database, 5, 30), SiteChange::default()).await;
        assert_eq!(accepted(&client, std::iter::repeat_n(1, 60)).await, 5);
        assert_eq!(read(&client, 1).await.header("x-ratelimit-limit"), Some("5"));
        assert_eq!(accepted(&client, 2..40).await, 25);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limits_of_a_visitor_and_of_a_token_hold_for_both_nodes_together() {
    for (per_visitor, per_token, visitors) in [(10, 100, 1), (100, 10, 40)] {
        let database = TestDatabase::new(Kind::Postgres).await;
        let limited = || limited(&database, per_visitor, per_token);
        let one = Client::with(limited(), SiteChange::default()).await;
        let other = one.at(&Service::open(limited()).await.expect("a second node"));
        let mut accepted = 0;
        for (number, node) in (0..40).zip([&one, &other].into_iter().cycle()) {
            accepted += u32::from(read(node, number % visitors).await.status == 200);
        }
        assert_eq!(accepted, 10, "{per_visitor} of a visitor, {per_token} of a token");
    }
}
