//! One owner remains, whatever owners do to each other.

use chat_test_servers::at_once;
use serde_json::json;

use super::browser::{Fixture, PASSWORD};
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};

on_both_databases! {
    async fn the_last_owner_cannot_be_removed_disabled_or_made_less(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        fixture.invite("admin@example.com", Role::Admin).await;
        let path = format!("/operators/{}", fixture.owner_id);
        for change in
            [json!({"disabled": true}), json!({"role": "admin"}), json!({"role": "agent", "name": "X"})]
        {
            assert_eq!(
                fixture.owner.patch(&path, change.clone()).await.failure(),
                (409, "RESOURCE_CONFLICT"),
                "{change}"
            );
        }
        assert_eq!(fixture.owner.delete(&path).await.failure(), (409, "RESOURCE_CONFLICT"));
        let who = fixture.owner.get("/session").await.ok();
        assert_eq!((&who["operator"]["role"], &who["operator"]["name"]), (&json!("owner"), &json!("Owner")));
        let (mut second, _) = fixture.invite("second@example.com", Role::Owner).await;
        fixture.owner.delete(&path).await.ok();
        assert!(!fixture.owner.is_signed_in().await && second.is_signed_in().await);
        assert_eq!(fixture.owner.sign_in("owner@example.com", PASSWORD).await.status, 401);
    }

    /// A disabled owner does not count.
    async fn an_owner_who_cannot_sign_in_does_not_replace_one_who_can(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (_, second) = fixture.invite("second@example.com", Role::Owner).await;
        fixture.owner.patch(&format!("/operators/{second}"), json!({"disabled": true})).await.ok();
        let own = format!("/operators/{}", fixture.owner_id);
        assert_eq!(fixture.owner.delete(&own).await.failure().0, 409);
        fixture.owner.delete(&format!("/operators/{second}")).await.ok();
    }

    /// The one who comes second was signed out by the first one. Neither waits for the other for ever.
    async fn of_two_owners_who_remove_each_others_second_factor_at_once_one_does(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (second, second_id) = fixture.invite("second@example.com", Role::Owner).await;
        let mut owners = [fixture.owner.clone(), second];
        let paths = [&second_id, &fixture.owner_id].map(|id| format!("/operators/{id}/totp/remove"));
        for _ in 0..4 {
            let statuses = at_once(2, |index| {
                let (mut owner, path) = (owners[index].clone(), paths[index].clone());
                async move { owner.post(&path, json!({"password": PASSWORD})).await.status.as_u16() }
            });
            let mut statuses = statuses.await;
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 401]);
            for (owner, email) in owners.iter_mut().zip(["owner@example.com", "second@example.com"]) {
                owner.sign_in(email, PASSWORD).await.ok();
            }
        }
    }

    async fn two_owners_who_remove_each_other_at_once_leave_one(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        for round in 0..5 {
            let email = format!("second{round}@example.com");
            let (mut second, second_id) = fixture.invite(&email, Role::Owner).await;
            let mut first = fixture.owner.clone();
            let (one, other) =
                (format!("/operators/{second_id}"), format!("/operators/{}", fixture.owner_id));
            let (one, other) = tokio::join!(
                tokio::spawn(async move { first.delete(&one).await.status.as_u16() }),
                tokio::spawn(
                    async move { second.patch(&other, json!({"role": "agent"})).await.status.as_u16() }
                ),
            );
            let statuses = (one.expect("no panic"), other.expect("no panic"));
            // The one who comes second was removed, or has lost the right.
            assert!(matches!(statuses, (200, 401 | 403) | (401 | 403, 200)), "{statuses:?}");
            let owners = "SELECT count(*) FROM operators WHERE role = 'owner' AND disabled_ms IS NULL";
            assert_eq!(fixture.count(owners, vec![]).await, 1);
            fixture.execute("DELETE FROM operators WHERE email LIKE 'second%'", vec![]).await;
            fixture.execute("UPDATE operators SET role = 'owner'", vec![]).await;
            fixture.owner.sign_in("owner@example.com", PASSWORD).await.ok();
        }
    }
}
