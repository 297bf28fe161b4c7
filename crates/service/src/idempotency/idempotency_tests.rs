//! Tests of keys and leases.

use axum::http::StatusCode;
use chat_protocol::ErrorCode;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;

const NOW_MS: i64 = 1_800_000_000_000;

fn keyed() -> KeyedRequest {
    let key = IdempotencyKey::new("chat-key-1").expect("a key");
    KeyedRequest { site_id: "site".to_owned(), scope: "/chat/messages", key, request: [7; 32] }
}

async fn bind(db: &Db, now_ms: i64) -> Known {
    let bound: Result<Known, DbError> =
        transaction!(db, |tx| keyed().bind(tx, now_ms, now_ms + LEASE_MS).await).await;
    bound.expect("bound")
}

fn is_leased(known: &Known) -> bool {
    matches!(known, Known::Begun { leased: true, .. })
}

/// Stores a response as the last step of a request, and returns the one that counts.
async fn finish(db: &Db, message: &'static str) -> Vec<u8> {
    let finished: Result<ApiResponse, DbError> = transaction!(db, |tx| {
        if let Some(stored) = keyed().lock(tx).await? {
            return Ok(stored);
        }
        let response = ApiResponse::failure(StatusCode::OK, &ErrorCode::NotFound, message);
        keyed().store_response(tx, &response).await?;
        Ok(response)
    })
    .await;
    finished.expect("finished").parts().2.to_vec()
}

on_both_databases! {
    async fn a_lease_that_was_taken_over_is_neither_renewed_nor_released(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        assert!(matches!(bind(&db, NOW_MS).await, Known::New));
        let mut slow = Lease::new(keyed(), NOW_MS + LEASE_MS);
        let later_ms = NOW_MS + LEASE_MS + 1;
        assert!(!is_leased(&bind(&db, later_ms).await), "taken over");
        slow.renew(&db, 0).await.expect("executed");
        assert!(is_leased(&bind(&db, later_ms + 1).await), "released by the slow one");
        slow.renew(&db, later_ms + 2 * LEASE_MS).await.expect("executed");
        assert!(!is_leased(&bind(&db, later_ms + LEASE_MS).await), "renewed by the slow one");
    }

    async fn a_lease_is_renewed_and_released_by_its_holder(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        bind(&db, NOW_MS).await;
        let mut lease = Lease::new(keyed(), NOW_MS + LEASE_MS);
        lease.renew(&db, NOW_MS + LEASE_MS + 3000).await.expect("renewed");
        assert!(is_leased(&bind(&db, NOW_MS + LEASE_MS + 1).await));
        lease.renew(&db, 0).await.expect("released");
        assert!(!is_leased(&bind(&db, NOW_MS + 1).await));
    }

    async fn a_clock_that_was_set_back_does_not_prolong_a_lease(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        bind(&db, NOW_MS).await;
        // The clocks of nodes differ a little.
        assert!(is_leased(&bind(&db, NOW_MS - 2000).await));
        assert!(!is_leased(&bind(&db, NOW_MS - 3_600_000).await));
    }

    async fn of_two_holders_the_first_response_counts(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        bind(&db, NOW_MS).await;
        bind(&db, NOW_MS + LEASE_MS + 1).await;
        let first = finish(&db, "of the node that took over").await;
        assert_eq!(finish(&db, "of the slow node").await, first);
        let Known::Answered(stored) = bind(&db, NOW_MS).await else { panic!("answered") };
        assert_eq!(stored.parts().2, first);
    }

    async fn a_key_is_bound_until_it_expires(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        bind(&db, NOW_MS).await;
        finish(&db, "done").await;
        assert!(matches!(bind(&db, NOW_MS + KEY_LIFETIME_MS - 1).await, Known::Answered(_)));
        assert!(matches!(bind(&db, NOW_MS + KEY_LIFETIME_MS).await, Known::New));
    }
}
