//! Two tenants with each other's ids.

use serde_json::{Value, json};

use super::browser::{Browser, Fixture, PASSWORD};
use crate::accounts::{Role, owner_link};
use crate::databases::{Kind, TestDatabase, on_both_databases};

/// Returns what an owner sees of their tenant.
async fn everything(owner: &mut Browser) -> Vec<Value> {
    let mut all = Vec::new();
    for path in ["/session", "/operators", "/invitations", "/sessions"] {
        let mut seen = owner.get(path).await.ok();
        for session in seen["sessions"].as_array_mut().into_iter().flatten() {
            session["seenAt"] = Value::Null;
        }
        all.push(seen);
    }
    all
}

on_both_databases! {
    async fn an_owner_sees_and_changes_nothing_of_another_tenant(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (_, agent_id) = fixture.invite("agent@example.com", Role::Agent).await;
        let invited =
            fixture.owner.post("/invitations", json!({"email": "b@example.com", "role": "agent"})).await.ok();
        let text = |value: &Value| value.as_str().expect("an id").to_owned();
        let own_sessions = fixture.owner.get("/sessions").await.ok();
        let (session_id, invitation_id) = (text(&own_sessions["sessions"][0]["id"]), text(&invited["id"]));
        let sql = "INSERT INTO tenants (id, name, created_ms) VALUES ('tenant_other', 'Other', 1)";
        fixture.execute(sql, vec![]).await;
        let link = owner_link(&fixture.service, "tenant_other").await.expect("a link");
        let mut eve = Browser::at(&fixture.service, "198.51.100.1");
        eve.set_up(&link.url, json!({"name": "Eve", "email": "eve@example.com"})).await.ok();
        let before = everything(&mut fixture.owner).await;
        for id in [&agent_id, &fixture.owner_id] {
            for (method, path, body) in [
                ("PATCH", format!("/operators/{id}"), json!({"name": "Eve's"})),
                ("PATCH", format!("/operators/{id}"), json!({"role": "agent"})),
                ("PATCH", format!("/operators/{id}"), json!({"disabled": true})),
                ("DELETE", format!("/operators/{id}"), json!({})),
                ("GET", format!("/operators/{id}/sessions"), json!({})),
                ("DELETE", format!("/operators/{id}/sessions/{session_id}"), json!({})),
                ("POST", format!("/operators/{id}/password-link"), json!({})),
                ("POST", format!("/operators/{id}/totp/remove"), json!({"password": PASSWORD})),
                ("DELETE", format!("/sessions/{session_id}"), json!({})),
                ("DELETE", format!("/invitations/{invitation_id}"), json!({})),
            ] {
                let answer = eve.call(method, &path, Some(body)).await;
                assert_eq!(answer.failure(), (404, "NOT_FOUND"), "{method} {path}");
            }
        }
        let own = eve.get("/session").await.ok()["operator"]["id"].as_str().expect("an id").to_owned();
        let mixed = format!("/operators/{own}/sessions/{session_id}");
        assert_eq!(eve.delete(&mixed).await.failure(), (404, "NOT_FOUND"));
        // Neither inviting nor listing tells who works elsewhere.
        let known = eve.post("/invitations", json!({"email": "agent@example.com", "role": "agent"})).await;
        let unknown = eve.post("/invitations", json!({"email": "nobody@example.com", "role": "agent"})).await;
        assert_eq!(
            (known.status, unknown.status),
            (200.try_into().expect("valid"), 200.try_into().expect("valid"))
        );
        let operators = eve.get("/operators").await.ok();
        assert_eq!(operators["operators"].as_array().expect("a list").len(), 1);
        let log = eve.get("/audit").await.ok().to_string();
        for id in [&agent_id, &fixture.owner_id, &session_id, &invitation_id, &fixture.tenant_id] {
            assert!(!log.contains(id.as_str()), "{log}");
        }
        assert_eq!(everything(&mut fixture.owner).await, before);
    }

    async fn the_log_is_paged_and_names_who_did_what_from_where(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        for number in 0..7 {
            let path = format!("/operators/{}", fixture.owner_id);
            fixture.owner.patch(&path, json!({"name": format!("Name {number}")})).await.ok();
        }
        let mut seen = Vec::new();
        let mut path = "/audit?limit=3".to_owned();
        loop {
            let page = fixture.owner.get(&path).await.ok();
            let entries = page["entries"].as_array().expect("a list").clone();
            assert!(entries.len() <= 3);
            seen.extend(entries);
            match page["next"].as_i64() {
                Some(next) => path = format!("/audit?limit=3&before={next}"),
                None => break,
            }
        }
        assert_eq!(seen.len(), 8, "{seen:?}");
        assert!(seen.windows(2).all(|pair| pair[0]["no"].as_i64() > pair[1]["no"].as_i64()));
        assert_eq!(seen[0]["detail"]["name"], "Name 6");
        assert_eq!(
            (&seen[7]["action"], &seen[7]["address"]),
            (&json!("operator.create"), &json!("192.0.2.1"))
        );
        let log = Value::from(seen).to_string();
        assert!(!log.contains(PASSWORD) && !log.contains(&fixture.owner.session().expect("a session")));
        for query in ["limit=x", "before=", "tenant=tenant_other"] {
            assert_eq!(fixture.owner.get(&format!("/audit?{query}")).await.failure().0, 400, "{query}");
        }
        for query in ["limit=-1", "limit=0", "limit=99999999", "before=-1"] {
            fixture.owner.get(&format!("/audit?{query}")).await.ok();
        }
    }

    async fn the_log_is_filtered_and_exported_without_formulas(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let path = format!("/operators/{}", fixture.owner_id);
        fixture.owner.patch(&path, json!({"name": "=1+1"})).await.ok();
        fixture.owner.patch(&path, json!({"name": "100%"})).await.ok();
        for (query, found) in [
            ("action=operator.", 3),
            ("action=operator.update", 2),
            ("action=perator", 0),
            ("q=%3D1%2B1", 1),
            ("q=%25", 0),
            ("from=2001-01-01T00:00:00Z", 3),
            ("to=2001-01-01T00:00:00Z", 0),
            ("action=&q=&from=&to=", 3),
        ] {
            let page = fixture.owner.get(&format!("/audit?{query}")).await.ok();
            assert_eq!(page["entries"].as_array().map(Vec::len), Some(found), "{query}: {page}");
        }
        assert_eq!(fixture.owner.get("/audit?from=yesterday").await.failure().0, 400);

        let exported = fixture.owner.get("/audit.csv?action=operator.update").await;
        assert_eq!(exported.headers["content-type"], "text/csv; charset=utf-8");
        let csv = exported.json.as_str().expect("a text").to_owned();
        assert!(csv.starts_with("\u{feff}time,actor,action,target,details,address\r\n"), "{csv}");
        assert_eq!(csv.matches("operator.update").count(), 2, "{csv}");
        assert!(csv.contains("'=1+1 <owner@example.com>") && !csv.contains(",=1+1"), "{csv}");
    }
}
