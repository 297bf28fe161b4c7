//! Starting and stopping: the key, the first owner's link, the lock, and crashes.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use chat_connector::serve::{ServeError, ServeOptions, Server};
use chat_service::{Service, ServiceKey, ServiceOptions};

use crate::serve::{Running, command, error_of, fails, get, http, json, until};
use crate::service::free_port;
use crate::site_connector::Process;

#[tokio::test]
async fn the_first_start_creates_everything_and_later_ones_keep_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(folder.path(), &[]);
    assert_eq!(get(&format!("{}/readyz", first.address())).await, (200, "ok\n".to_owned()));
    assert!(get(first.text("metrics")).await.1.contains("site_connector_service_database_up 1"));
    assert!(first.text("ownerLink").starts_with(&format!("{}/console/#setup=", first.address())));
    assert_eq!(first.text("newKeyFile"), "data/service.key");
    let key = fs::read_to_string(folder.path().join("data/service.key")).expect("a key");
    for file in fs::read_dir(folder.path().join("data")).expect("a folder") {
        let mode = file.as_ref().expect("a file").metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file:?}");
    }
    first.stop();
    let second = Running::start(folder.path(), &[]);
    assert!(second.announced["newKeyFile"].is_null());
    assert_eq!(fs::read_to_string(folder.path().join("data/service.key")).expect("a key"), key);
}

#[test]
fn people_read_what_to_do_with_the_key_and_the_link() {
    use std::io::{BufRead, BufReader};
    let folder = tempfile::tempdir().expect("a folder");
    let mut process = Process::spawn(&mut command(folder.path(), &["serve", "--listen", "127.0.0.1:0"]));
    let lines = BufReader::new(process.0.stdout.take().expect("piped")).lines();
    let mut said = String::new();
    for line in lines.map_while(Result::ok) {
        said.push_str(&line);
        said.push('\n');
        if line.contains("#setup=") {
            break;
        }
    }
    for expected in
        ["Service  http://127.0.0.1:", "Console  ", "COPY THIS FILE", "data/service.key", "within 24 hours"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn existing_data_needs_its_own_key() {
    let folder = tempfile::tempdir().expect("a folder");
    Running::start(folder.path(), &[]).stop();
    let key = folder.path().join("data/service.key");
    let kept = folder.path().join("kept.key");
    fs::rename(&key, &kept).expect("renamed");
    let (code, error) = fails(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == 1 && error.contains("key file data/service.key is missing"), "{error}");
    assert!(!key.exists(), "no other key is made up");
    fs::write(&key, "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=").expect("written");
    let (code, error) = fails(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == 65 && error.contains("does not belong to this database"), "{error}");
    fs::write(&key, "no key").expect("written");
    let (code, error) = fails(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == 1 && error.contains("32 bytes in base64"), "{error}");
    assert!(!error.contains("no key"), "the contents of a key file are not shown");
    fs::rename(&kept, &key).expect("renamed");
    Running::start(folder.path(), &[]).stop();
}

#[test]
fn a_second_process_on_the_same_file_may_try_again_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &[]);
    let (code, error) = fails(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == 75 && error.contains("in use by another process"), "{error}");
    let (code, error) = fails(folder.path(), &["serve", "--listen", running.authority()]);
    assert!(code == 1 && error.contains("--listen"), "{error}");
}

#[test]
fn a_damaged_database_is_no_failure_that_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let running = Running::start(path, &[]);
    // One file with all pages, without those that wait beside the database.
    json(path, &["backup", "whole.db"]);
    running.stop();
    let whole = fs::read(path.join("whole.db")).expect("a backup");
    for damaged in [&whole[..100], &whole[..5000], &whole[..whole.len() / 2], &[b'x'; 5000]] {
        for waiting in ["data/service.db-wal", "data/service.db-shm"] {
            // Missing after an orderly end.
            let _ = fs::remove_file(path.join(waiting));
        }
        fs::write(path.join("data/service.db"), damaged).expect("written");
        let (code, error) = fails(path, &["serve", "--listen", "127.0.0.1:0"]);
        assert!(code == 65 && error.contains("database"), "{} bytes: {code} {error}", damaged.len());
    }
}

#[tokio::test]
async fn what_was_written_before_a_kill_is_there_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..3 {
        let mut running = Running::start(folder.path(), &[]);
        json(folder.path(), &["admin", "tenant", "create", "--name", &format!("tenant {round}")]);
        running.process.0.kill().expect("killed");
        running.process.0.wait().expect("ended");
    }
    let _running = Running::start(folder.path(), &[]);
    let tenants = json(folder.path(), &["admin", "tenant", "list"]);
    assert_eq!(
        tenants["tenants"].as_array().expect("a list").len(),
        4,
        "with that of the first start: {tenants}"
    );
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("created");
    fs::write(folder.path().join("data/service.key"), "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=")
        .expect("written");
    fs::write(folder.path().join("data/service.db"), "somebody's notes, and no database").expect("written");
    let output = command(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).output().expect("runs");
    assert!(!output.status.success());
    assert!(error_of(&output).contains("cannot open the database"), "{}", error_of(&output));
}

/// While another process locks the database, as a long migration does, the service cannot open it.
#[tokio::test]
async fn answers_that_it_starts_until_the_database_is_open() {
    use rustix::fs::{FlockOperation, fcntl_lock};
    let folder = tempfile::tempdir().expect("a folder");
    Running::start(folder.path(), &[]).stop();
    let start = || {
        let (listen, metrics) = (format!("127.0.0.1:{}", free_port()), format!("127.0.0.1:{}", free_port()));
        let mut command =
            command(folder.path(), &["serve", "--listen", &listen, "--metrics-listen", &metrics]);
        let log = folder.path().join("log");
        let errors = fs::File::create(&log).expect("a file");
        let process = Process(command.stdout(Stdio::null()).stderr(errors).spawn().expect("runs"));
        let announced = serde_json::Value::Null;
        (Running { process, announced, log }, format!("http://{listen}"), format!("http://{metrics}"))
    };
    let database = folder.path().join("data/service.db");
    let database = fs::File::options().read(true).write(true).open(database).expect("a database");
    fcntl_lock(&database, FlockOperation::LockExclusive).expect("nobody else has it");

    let (stopped, origin, _) = start();
    until(async || http().get(format!("{origin}/livez")).send().await.is_ok()).await;
    stopped.stop();

    let (running, origin, metrics) = start();
    until(async || http().get(format!("{origin}/livez")).send().await.is_ok()).await;
    for origin in [&origin, &metrics] {
        assert_eq!(get(&format!("{origin}/livez")).await, (200, "ok\n".to_owned()));
        assert_eq!(get(&format!("{origin}/readyz")).await, (503, "starting\n".to_owned()));
    }
    for path in ["/api/connector/v1/chat/config", "/api/admin/v1/session", "/connector/site_1/events"] {
        let response = http().post(format!("{origin}{path}")).send().await.expect("an answer");
        assert_eq!(response.status(), 503, "{path}");
        assert_eq!(response.headers()["retry-after"], "2", "{path}");
        let id = response.headers()["x-request-id"].clone();
        let envelope: serde_json::Value = response.json().await.expect("JSON");
        assert_eq!((&envelope["ok"], &envelope["error"]["code"]), (&false.into(), &"UNAVAILABLE".into()));
        assert_eq!(envelope["requestId"], id.to_str().expect("text"));
    }
    fcntl_lock(&database, FlockOperation::Unlock).expect("unlocked");
    until(async || get(&format!("{origin}/readyz")).await == (200, "ok\n".to_owned())).await;
    assert_eq!(get(&format!("{metrics}/readyz")).await, (200, "ok\n".to_owned()));
    running.stop();
}

#[tokio::test]
async fn background_work_that_ends_for_good_ends_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("service.db");
    let options = ServeOptions {
        service: ServiceOptions::new(database.to_str().expect("text"), ServiceKey::random()),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls: None,
        tls_reload_interval: Duration::from_mins(1),
        metrics_listen: None,
        trusted_hops: Vec::new(),
        connection_timeout: Duration::from_mins(1),
        connections: 10,
        connections_per_address: 10,
        grace: Duration::from_secs(5),
    };
    let server = Server::bind(options).await.expect("bound");
    // Nobody tells the server to stop.
    let outcome = server.serve(std::future::pending(), async |service: Service| service.stop()).await;
    assert!(matches!(outcome, Err(ServeError::Server(_))), "{outcome:?}");
}
