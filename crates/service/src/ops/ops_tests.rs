//! Tests of health, metrics, the request log, the key, backups and checks.

mod backups;
mod requests;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use super::{Level, check_database, check_service};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, DbError, args, transaction};
use crate::{OpenError, Service, ServiceKey, ServiceOptions, StorageBudgets};

/// Opens a service. The lock of the file may be held a moment longer by the one before.
async fn open(database: &TestDatabase, key: &ServiceKey) -> Result<Service, OpenError> {
    let opened = async {
        loop {
            match Service::open(ServiceOptions::new(&database.address, key.clone())).await {
                Err(OpenError::InUse(_)) => tokio::task::yield_now().await,
                opened => return opened,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), opened).await.expect("the lock becomes free")
}

async fn beside(address: &str) -> Result<Db, OpenError> {
    Db::open_beside(address, std::sync::Arc::new(|_| {})).await
}

async fn get(router: &Router, path: &str) -> (StatusCode, String) {
    let request = Request::get(path).body(Body::empty()).expect("a request");
    let response = router.clone().oneshot(request).await.expect("infallible");
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

async fn add_tenant(db: &Db, id: &str) {
    let id = id.to_owned();
    let added: Result<u64, DbError> = transaction!(db, |tx| tx
        .execute("INSERT INTO tenants (id, name, created_ms) VALUES ($1, 'T', 1)", args![id])
        .await)
    .await;
    added.expect("written");
}

async fn tenants(db: &Db) -> Vec<String> {
    let rows = db.all("SELECT id FROM tenants ORDER BY id", args![]).await.expect("rows");
    rows.iter().map(|row| row.text(0).expect("text")).collect()
}

on_both_databases! {
    async fn a_service_does_not_open_with_another_key(database: &TestDatabase) {
        let key = ServiceKey::random();
        open(database, &key).await.expect("opened").close().await;
        let refused = open(database, &ServiceKey::random()).await.expect_err("another key");
        assert!(matches!(refused, OpenError::Key), "{refused}");
        open(database, &key).await.expect("opened with its own key");
    }

    async fn is_ready_until_it_is_told_to_stop(database: &TestDatabase) {
        let service = open(database, &ServiceKey::random()).await.expect("opened");
        let router = service.metrics_router();
        assert_eq!(get(&router, "/livez").await, (StatusCode::OK, "ok\n".to_owned()));
        assert_eq!(get(&router, "/readyz").await, (StatusCode::OK, "ok\n".to_owned()));
        service.stop();
        let (status, text) = get(&router, "/readyz").await;
        assert_eq!((status, text.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"));
        assert_eq!(get(&router, "/livez").await.0, StatusCode::OK);
    }

    async fn is_not_ready_and_still_renders_metrics_without_a_database(database: &TestDatabase) {
        let service = open(database, &ServiceKey::random()).await.expect("opened");
        let router = service.metrics_router();
        assert!(get(&router, "/metrics").await.1.contains("site_connector_service_database_up 1\n"));
        service.db().close().await;
        assert_eq!(get(&router, "/readyz").await.0, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(get(&router, "/livez").await.0, StatusCode::OK);
        let (status, metrics) = get(&router, "/metrics").await;
        assert_eq!(status, StatusCode::OK);
        assert!(metrics.contains("site_connector_service_database_up 0\n"), "{metrics}");
    }

    async fn is_not_ready_while_nothing_can_be_written(database: &TestDatabase) {
        let service = open(database, &ServiceKey::random()).await.expect("opened");
        let router = service.metrics_router();
        // More than PostgreSQL has connections that write. SQLite has one.
        let release = Arc::new(Semaphore::new(0));
        let writes: Vec<_> = (0..12)
            .map(|_| {
                let (db, release) = (service.db().clone(), Arc::clone(&release));
                tokio::spawn(async move {
                    let written: Result<(), DbError> = transaction!(db, |tx| {
                        tx.one("SELECT CAST(1 AS BIGINT)", args![]).await?;
                        drop(release.acquire().await);
                        Ok(())
                    })
                    .await;
                    written
                })
            })
            .collect();
        let unready = async {
            loop {
                let answer = get(&router, "/readyz").await;
                if answer.0 != StatusCode::OK {
                    break answer;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let (status, text) =
            tokio::time::timeout(Duration::from_secs(20), unready).await.expect("every writer waits");
        assert_eq!((status, text.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n"));
        assert_eq!(get(&router, "/livez").await.0, StatusCode::OK);
        release.add_permits(writes.len());
        let ready = async {
            while get(&router, "/readyz").await.0 != StatusCode::OK {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), ready).await.expect("ready again");
        for write in writes {
            write.await.expect("no panic").expect("written");
        }
    }

    async fn a_command_beside_the_service_reads_and_writes(database: &TestDatabase) {
        let missing = beside(&database.address).await.expect_err("nobody created it");
        assert!(matches!(missing, OpenError::Missing(_) | OpenError::Version { found: 0, .. }), "{missing}");
        let service = open(database, &ServiceKey::random()).await.expect("opened");
        let beside = beside(&database.address).await.expect("opened beside");
        add_tenant(&beside, "from-the-command").await;
        add_tenant(service.db(), "from-the-service").await;
        assert_eq!(tenants(&beside).await, ["from-the-command", "from-the-service"]);
        assert_eq!(tenants(service.db()).await, ["from-the-command", "from-the-service"]);
    }

    async fn writes_of_a_service_and_of_commands_beside_it_are_all_kept(database: &TestDatabase) {
        let service = open(database, &ServiceKey::random()).await.expect("opened");
        let commands = [
            beside(&database.address).await.expect("opened beside"),
            beside(&database.address).await.expect("opened beside"),
        ];
        let writers = [service.db().clone()].into_iter().chain(commands).enumerate();
        let written = writers.map(|(writer, db)| {
            tokio::spawn(async move {
                for number in 0..20 {
                    add_tenant(&db, &format!("{writer}-{number}")).await;
                }
            })
        });
        for writer in written.collect::<Vec<_>>() {
            writer.await.expect("all were written");
        }
        assert_eq!(tenants(service.db()).await.len(), 60);
    }

    async fn a_newer_schema_is_refused_with_both_versions(database: &TestDatabase) {
        let key = ServiceKey::random();
        let service = open(database, &key).await.expect("opened");
        let newer: Result<u64, DbError> = transaction!(service.db(), |tx| tx.execute(
                "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 SELECT 9999, description, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1",
                args![],
            ).await).await;
        newer.expect("written");
        service.close().await;
        drop(service);
        for refused in [
            open(database, &key).await.expect_err("newer"),
            beside(&database.address).await.expect_err("newer"),
        ] {
            let text = refused.to_string();
            assert!(matches!(refused, OpenError::Version { found: 9999, .. }), "{text}");
            assert!(text.contains("use the program of the version that serves it"), "{text}");
        }
        let (findings, is_current) = check_database(&database.address).await;
        assert!(!is_current && findings.iter().any(|finding| finding.level == Level::Error), "{findings:?}");
    }

    async fn the_doctor_finds_nothing_wrong_with_a_new_service(database: &TestDatabase) {
        let key = ServiceKey::random();
        let service = open(database, &key).await.expect("opened");
        let (findings, is_current) = check_database(&database.address).await;
        assert!(is_current);
        let contents = check_service(&database.address, Some(&key), &StorageBudgets::default(), true).await;
        for finding in findings.iter().chain(&contents) {
            assert_eq!(finding.level, Level::Ok, "{finding:?}");
        }
        let stranger = ServiceKey::random();
        let other =
            check_service(&database.address, Some(&stranger), &StorageBudgets::default(), true).await;
        assert!(other.iter().any(|finding| finding.subject == "key" && finding.level == Level::Error));
        service.close().await;
    }

    async fn the_doctor_asks_each_ai_a_question_and_reports_the_providers_words(database: &TestDatabase) {
        let key = ServiceKey::random();
        let service = open(database, &key).await.expect("opened");
        add_tenant(service.db(), "t").await;
        let site: Result<u64, DbError> = transaction!(service.db(), |tx| {
            let sql = "INSERT INTO sites (id, tenant_id, name, created_ms, ai_base, ai_model) \
                       VALUES ('s', 't', 'Shop', 1, 'http://127.0.0.1:9/v1', 'm')";
            tx.execute(sql, args![]).await
        })
        .await;
        site.expect("written");
        let finding = async |allows_private| {
            let budgets = StorageBudgets::default();
            let findings = check_service(&database.address, Some(&key), &budgets, allows_private).await;
            findings.into_iter().find(|finding| finding.subject == "AI").expect("a finding")
        };
        let silent = finding(true).await;
        assert!(silent.level == Level::Error && silent.text.contains("site Shop, model m"), "{silent:?}");
        for (status, said, level, words) in [
            (200, json!({ "choices": [{ "message": { "content": "Yes." } }] }), Level::Ok, "ms: Yes."),
            (401, json!({ "error": { "message": "Incorrect API key" } }), Level::Error, ": Incorrect API key;"),
            (404, json!({ "error": "model 'm' not found" }), Level::Error, ": model 'm' not found;"),
            (400, json!({ "message": "Invalid model: m" }), Level::Error, ": Invalid model: m;"),
            (503, json!({}), Level::Error, "503 Service Unavailable"),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let answer = move || async move { (status, [("retry-after", "0")], axum::Json(said)) };
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let base = format!("http://{}/v1/chat/completions", listener.local_addr().expect("an address"));
            tokio::spawn(axum::serve(listener, axum::Router::new().fallback(answer)).into_future());
            let moved: Result<u64, DbError> = transaction!(service.db(), |tx| {
                tx.execute("UPDATE sites SET ai_base = $1", args![base]).await
            })
            .await;
            moved.expect("written");
            let found = finding(true).await;
            assert!(found.level == level && found.text.contains(words), "{status}: {found:?}");
        }
        let private = finding(false).await;
        assert!(private.level == Level::Error && private.text.contains("invalid base address"), "{private:?}");
    }

    async fn the_doctor_reports_sites_and_tenants_that_have_nearly_used_up_their_storage(database: &TestDatabase) {
        let key = ServiceKey::random();
        let service = open(database, &key).await.expect("opened");
        add_tenant(service.db(), "t").await;
        let stored: Result<(), DbError> = transaction!(service.db(), |tx| {
            let sql = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('s', 't', 'Shop', 1)";
            tx.execute(sql, args![]).await?;
            let sql = "INSERT INTO events (site_id, type, event, received_ms) VALUES ('s', 'x', $1, 1)";
            tx.execute(sql, args!["x".repeat(800_000)]).await.map(drop)
        })
        .await;
        stored.expect("written");
        for (budgets, expected) in [
            (StorageBudgets::new(1_000_000, 2_000_000), vec!["site Shop stores"]),
            (StorageBudgets::new(2_000_000, 1_000_000), vec!["tenant T stores"]),
            (StorageBudgets::new(2_000_000, 2_000_000), vec![]),
        ] {
            let findings = check_service(&database.address, Some(&key), &budgets, true).await;
            let found: Vec<_> = findings.iter().filter(|finding| finding.subject == "storage").collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (finding, expected) in found.iter().zip(expected) {
                assert!(finding.level == Level::Warning && finding.text.contains(expected), "{finding:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_doctor_reports_missing_and_damaged_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("service.db");
    let address = path.to_str().expect("UTF-8");
    let (findings, is_current) = check_database(address).await;
    assert!(!is_current && findings[0].level == Level::Warning, "{findings:?}");
    assert!(!path.exists(), "a check creates nothing");
    std::fs::write(&path, "this is not a database, but somebody's notes. ".repeat(100)).expect("written");
    let (findings, _) = check_database(address).await;
    assert_eq!(findings[0].level, Level::Error, "{findings:?}");
}
