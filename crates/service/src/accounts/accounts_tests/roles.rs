//! The rights of each role: every route, as everybody.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use utoipa::OpenApi;

use super::browser::{Browser, Fixture, PASSWORD};
use crate::accounts::{AccountsApi, Role, session};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{DbError, args, transaction};

/// A request, and the statuses for a stranger, an agent, an admin and an owner. Statuses such as 404 and 409
/// show that the role is allowed.
type Row = (&'static str, &'static str, fn() -> Value, [u16; 4]);

fn none() -> Value {
    json!({})
}

const ROWS: [Row; 41] = [
    ("POST", "/setup", || json!({"token": "x", "password": PASSWORD}), [401, 401, 401, 401]),
    ("POST", "/setup/check", || json!({"token": "x"}), [401, 401, 401, 401]),
    ("POST", "/session", || json!({"email": "nobody@example.com", "password": "x"}), [401, 401, 401, 401]),
    ("POST", "/setup/join", || json!({"token": "x"}), [401, 401, 401, 401]),
    ("POST", "/session/switch", || json!({"operatorId": "operator_0"}), [401, 404, 404, 404]),
    ("GET", "/session", none, [401, 200, 200, 200]),
    ("GET", "/sessions", none, [401, 200, 200, 200]),
    ("DELETE", "/sessions/session_0", none, [401, 404, 404, 404]),
    ("GET", "/operators/AGENT/sessions", none, [401, 403, 403, 200]),
    ("GET", "/operators/OWNER/sessions", none, [401, 403, 403, 200]),
    ("DELETE", "/operators/AGENT/sessions/session_0", none, [401, 403, 403, 404]),
    ("POST", "/password", || json!({"currentPassword": "x", "newPassword": "y"}), [401, 401, 401, 401]),
    ("POST", "/password/forgot", || json!({"email": "nobody@example.com"}), [200, 200, 200, 200]),
    ("POST", "/totp", || json!({"password": PASSWORD}), [401, 200, 200, 200]),
    ("POST", "/totp/confirm", || json!({"enrolment": "x", "code": "1"}), [401, 400, 400, 400]),
    ("POST", "/totp/disable", || json!({"password": PASSWORD}), [401, 409, 409, 409]),
    ("POST", "/totp/recovery-codes", || json!({"password": PASSWORD}), [401, 409, 409, 409]),
    ("GET", "/operators", none, [401, 200, 200, 200]),
    ("PATCH", "/operators/AGENT", || json!({"name": "New"}), [401, 403, 200, 200]),
    ("PATCH", "/operators/ADMIN", || json!({"name": "New"}), [401, 403, 403, 200]),
    ("PATCH", "/operators/OWNER", || json!({"name": "New"}), [401, 403, 403, 200]),
    ("PATCH", "/operators/AGENT", || json!({"disabled": false}), [401, 403, 200, 200]),
    ("PATCH", "/operators/ADMIN", || json!({"disabled": true}), [401, 403, 403, 200]),
    ("PATCH", "/operators/OWNER", || json!({"disabled": true}), [401, 403, 403, 200]),
    ("PATCH", "/operators/AGENT", || json!({"role": "owner"}), [401, 403, 403, 200]),
    ("PATCH", "/operators/SELF", || json!({"role": "owner"}), [401, 403, 403, 200]),
    ("PATCH", "/operators/SELF", || json!({"name": "Me"}), [401, 200, 200, 200]),
    ("POST", "/operators/AGENT/password-link", none, [401, 403, 403, 200]),
    ("POST", "/operators/AGENT/totp/remove", || json!({"password": PASSWORD}), [401, 403, 403, 200]),
    ("GET", "/invitations", none, [401, 403, 200, 200]),
    ("POST", "/invitations", || json!({"email": "x@example.com", "role": "agent"}), [401, 403, 200, 200]),
    ("POST", "/invitations", || json!({"email": "y@example.com", "role": "admin"}), [401, 403, 403, 200]),
    ("POST", "/invitations", || json!({"email": "z@example.com", "role": "owner"}), [401, 403, 403, 200]),
    ("DELETE", "/invitations/link_0", none, [401, 403, 404, 404]),
    ("GET", "/audit", none, [401, 403, 200, 200]),
    ("GET", "/audit.csv", none, [401, 403, 200, 200]),
    ("DELETE", "/operators/OWNER", none, [401, 403, 403, 200]),
    ("DELETE", "/operators/ADMIN", none, [401, 403, 403, 200]),
    ("DELETE", "/operators/AGENT", none, [401, 403, 200, 200]),
    ("DELETE", "/sessions", none, [401, 200, 200, 200]),
    ("DELETE", "/session", none, [200, 200, 200, 200]),
];

/// The operators that the rows are about, and the one who asks.
const OPERATORS: [(&str, Role); 3] = [("AGENT", Role::Agent), ("ADMIN", Role::Admin), ("OWNER", Role::Owner)];

/// Restores an operator, whom an earlier row may have changed or removed.
async fn restore(fixture: &Fixture, id: &str, role: Role) {
    let email = format!("row-{}@example.com", id.to_lowercase());
    let sql = "INSERT INTO accounts (id, address, password, created_ms)
               SELECT $1, $2, a.password, 1 FROM accounts a JOIN operators o ON o.account_id = a.id WHERE o.id = $3
               ON CONFLICT (id) DO NOTHING";
    fixture.execute(sql, args![id, &email, &fixture.owner_id]).await;
    let sql = "INSERT INTO operators (id, account_id, tenant_id, email, name, role, created_ms)
               SELECT $1, $1, tenant_id, $2, 'Somebody', $3, created_ms FROM operators WHERE id = $4
               ON CONFLICT (id) DO UPDATE SET role = excluded.role, disabled_ms = NULL";
    fixture.execute(sql, args![id, &email, role.as_str(), &fixture.owner_id]).await;
}

/// Returns a browser in which an operator is signed in.
async fn signed_in(fixture: &Fixture, id: &'static str) -> Browser {
    let now = fixture.service.now_ms();
    let secret: Result<String, DbError> = transaction!(fixture.service.db(), |tx| {
        let of_test = session::Browser { address: String::new(), user_agent: String::new() };
        session::create(tx, now, id, &of_test).await
    })
    .await;
    let mut browser = Browser::new(&fixture.service);
    browser.cookies.insert("__Host-session".to_owned(), secret.expect("created"));
    browser
}

#[test]
fn the_table_has_every_route_of_the_description() {
    let places = [
        ("AGENT", "{operator}"),
        ("ADMIN", "{operator}"),
        ("OWNER", "{operator}"),
        ("SELF", "{operator}"),
        ("session_0", "{session}"),
        ("link_0", "{invitation}"),
    ];
    let tested: BTreeSet<String> = ROWS
        .iter()
        .map(|(method, path, ..)| {
            let path = places.iter().fold((*path).to_owned(), |path, (id, name)| path.replace(id, name));
            format!("{method} {path}")
        })
        .collect();
    let document = serde_json::to_value(AccountsApi::openapi()).expect("a document");
    let described: BTreeSet<String> = document["paths"]
        .as_object()
        .expect("an object")
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("an object").keys();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    assert_eq!(tested, described);
}

on_both_databases! {
    async fn only_oneself_and_who_manages_an_account_know_of_its_second_factor(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, agent_id) = fixture.invite("agent@example.com", Role::Agent).await;
        let (mut admin, admin_id) = fixture.invite("admin@example.com", Role::Admin).await;
        let owner_id = fixture.owner_id.clone();
        for (browser, expected) in [
            (&mut agent, vec![&agent_id]),
            (&mut admin, vec![&agent_id, &admin_id]),
            (&mut fixture.owner, vec![&owner_id, &agent_id, &admin_id]),
        ] {
            let listed = browser.get("/operators").await.ok();
            let listed = listed["operators"].as_array().expect("a list").iter();
            let known = listed.filter(|account| account["totp"].is_boolean()).map(|account| &account["id"]);
            let known: BTreeSet<&str> = known.map(|id| id.as_str().expect("an id")).collect();
            assert_eq!(known, expected.into_iter().map(String::as_str).collect());
        }
    }

    async fn every_route_allows_what_the_table_says(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let roles = [None, Some(Role::Agent), Some(Role::Admin), Some(Role::Owner)];
        for (method, path, body, expected) in ROWS {
            for (role, expected) in roles.into_iter().zip(expected) {
                for (id, role) in OPERATORS {
                    restore(&fixture, id, role).await;
                }
                let mut browser = match role {
                    Some(role) => {
                        restore(&fixture, "SELF", role).await;
                        signed_in(&fixture, "SELF").await
                    }
                    None => Browser::new(&fixture.service),
                };
                let answer = browser.call(method, path, Some(body())).await;
                assert_eq!(answer.status.as_u16(), expected, "{role:?} {method} {path}: {}", answer.json);
                fixture.wait_out().await;
            }
        }
    }

    async fn unknown_routes_and_methods_are_refused_to_everybody(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        for (method, path, status) in
            [("GET", "/nowhere", 404), ("PUT", "/session", 405), ("GET", "/setup", 405)]
        {
            assert_eq!(fixture.owner.call(method, path, None).await.status, status, "{method} {path}");
        }
    }
}
