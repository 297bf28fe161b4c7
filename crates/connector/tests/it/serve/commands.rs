//! `admin`, `backup`, `restore` and `doctor`, beside a running service and without one.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::serve::{Running, command, error_of, fails, json, succeeds};

fn text<'value>(value: &'value Value, path: &str) -> &'value str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path} in {value}"))
}

#[test]
fn tenants_sites_tokens_and_licenses_are_managed_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let _running = Running::start(path, &[]);
    // The first start has created the only tenant.
    let site =
        json(path, &["admin", "site", "create", "--name", "Shop", "--origin", "https://shop.example/"]);
    let id = text(&site, "/site/id").to_owned();
    assert_eq!(site["site"]["allowedOrigins"], serde_json::json!(["https://shop.example"]));
    let tag = text(&site, "/scriptTag");
    assert!(tag.contains(&format!("data-proxy=\"http://127.0.0.1:8090/connector/{id}\"")), "{tag}");

    let token = json(path, &["admin", "token", "create", "--site", &id, "--name", "server"]);
    let secret = text(&token, "/token");
    assert!(secret.len() > 40);
    let rotated = json(path, &["admin", "token", "rotate", "--site", &id, "--overlap", "1h"]);
    assert_ne!(text(&rotated, "/token"), secret);
    let revoked = text(&token, "/info/id");
    json(path, &["admin", "token", "revoke", "--site", &id, revoked]);
    let tokens = succeeds(path, &["admin", "token", "list", "--site", &id, "--json"]);
    assert!(!tokens.contains(secret) && tokens.matches("\"id\"").count() == 2, "{tokens}");

    // The output can go to the file that the site's server reads.
    for secret in
        [&["token", "create", "--site", &id][..], &["license", "create", "--site", &id], &["owner-link"]]
    {
        let printed = succeeds(path, &[&["admin"], secret].concat());
        assert!(printed.trim_end().bytes().all(|byte| byte.is_ascii_graphic()), "{printed}");
    }

    let license = json(path, &["admin", "license", "create", "--site", &id, "--expires", "2d"]);
    assert!(text(&license, "/license").starts_with("lic_"));
    json(path, &["admin", "license", "revoke", text(&license, "/info/id")]);
    assert_eq!(json(path, &["admin", "license", "list"])["licenses"][0]["revoked"], true);

    json(path, &["admin", "site", "disable", &id]);
    assert_eq!(json(path, &["admin", "site", "show", &id])["site"]["disabled"], true);
    json(path, &["admin", "site", "enable", &id]);
    assert!(fails(path, &["admin", "site", "delete", &id]).1.contains("--yes"));
    json(path, &["admin", "site", "delete", &id, "--yes"]);
    assert!(fails(path, &["admin", "site", "show", &id]).1.contains("does not exist"));

    let link = json(path, &["admin", "owner-link"]);
    assert!(text(&link, "/link").starts_with("http://127.0.0.1:8090/console/#setup="));
    json(path, &["admin", "tenant", "create", "--name", "Second"]);
    assert!(fails(path, &["admin", "site", "create", "--name", "x"]).1.contains("--tenant"));
}

#[test]
fn wrong_arguments_are_refused_with_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    assert!(fails(path, &["admin", "tenant", "list"]).1.contains("start `site-connector serve` once"));
    assert!(!path.join("data").exists(), "a command creates nothing");
    Running::start(path, &[]).stop();
    let error = |arguments: &[&str]| fails(path, &[&["admin"], arguments].concat()).1;
    assert!(error(&["tenant", "create", "--name", " "]).contains("name"));
    assert!(error(&["tenant", "create", "--name", "two\nlines"]).contains("name"));
    assert!(error(&["tenant", "disable", "tenant_of_nobody"]).contains("does not exist"));
    assert!(
        error(&["site", "create", "--name", "x", "--origin", "shop.example"])
            .contains("https://shop.example")
    );
    assert!(error(&["site", "create", "--name", "x", "--tenant", "' OR 1=1 --"]).contains("does not exist"));
    assert!(error(&["site", "create", "--name", "x", "--publishing", "always"]).contains("semi_automatic"));
    assert!(error(&["token", "create", "--site", "site_of_nobody"]).contains("does not exist"));
    assert!(error(&["token", "rotate", "--site", "x", "--overlap", "soon"]).contains("such as 7d"));
    assert!(error(&["operator", "disable", "nobody@example.com"]).contains("does not exist"));
    fs::write(path.join("data/service.key"), "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=")
        .expect("written");
    assert!(error(&["tenant", "list"]).contains("does not belong to this database"));
}

fn tenants(folder: &Path) -> usize {
    json(folder, &["admin", "tenant", "list"])["tenants"].as_array().expect("a list").len()
}

#[test]
fn a_backup_of_a_running_service_can_be_put_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let running = Running::start(path, &[]);
    json(path, &["admin", "tenant", "create", "--name", "before"]);
    let backup = json(path, &["backup", "backup.db"]);
    assert!(backup["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.join("backup.db")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(fails(path, &["backup", "backup.db"]).1.contains("--replace"));
    json(path, &["backup", "backup.db", "--replace"]);
    json(path, &["admin", "tenant", "create", "--name", "after"]);
    let (code, error) = fails(path, &["restore", "backup.db", "--replace"]);
    assert!(code == 75 && error.contains("stop the service first"), "{error}");
    running.stop();
    assert!(fails(path, &["restore", "backup.db"]).1.contains("--replace"));
    assert_eq!(tenants(path), 3);
    let restored = json(path, &["restore", "backup.db", "--replace"]);
    let kept = text(&restored, "/kept").to_owned();
    Running::start(path, &[]).stop();
    assert_eq!(tenants(path), 2);
    json(path, &["restore", &kept, "--replace"]);
    assert_eq!(tenants(path), 3, "the replaced data was kept");

    // On another machine: the backup and the key.
    let other = tempfile::tempdir().expect("a folder");
    fs::copy(path.join("backup.db"), other.path().join("backup.db")).expect("copied");
    assert!(succeeds(other.path(), &["restore", "backup.db"]).contains("data/service.key is missing"));
    fs::copy(path.join("data/service.key"), other.path().join("data/service.key")).expect("copied");
    Running::start(other.path(), &[]).stop();
    assert_eq!(tenants(other.path()), 2);
    let leftovers = fs::read_dir(path).expect("a folder");
    let names: Vec<_> = leftovers.map(|file| file.expect("a file").file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(".unfinished")), "{names:?}");
}

/// A backup in the place of its own database would leave the running service with a file that has no name.
#[test]
fn a_backup_never_replaces_the_services_own_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let running = Running::start(path, &[]);
    std::os::unix::fs::symlink(path.join("data"), path.join("link")).expect("linked");
    let key = fs::read(path.join("data/service.key")).expect("a key");
    for own in ["data/service.db", "./data/../data/service.db", "link/service.db", "data/service.db-wal"]
        .into_iter()
        .chain(["data/service.db-lock", "data/service.key"])
    {
        for flags in [&["backup", own][..], &["backup", own, "--replace"]] {
            let (code, error) = fails(path, flags);
            assert!(code == 1 && error.contains("choose another name"), "{own}: {error}");
        }
    }
    json(path, &["admin", "tenant", "create", "--name", "after"]);
    running.stop();
    assert_eq!(fs::read(path.join("data/service.key")).expect("a key"), key);
    Running::start(path, &[]).stop();
    assert_eq!(tenants(path), 2);
}

#[test]
fn links_lead_to_the_address_that_the_environment_sets() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let _running = Running::start(path, &[]);
    let tag = |variables: &[(&str, &str)]| {
        let mut command = command(path, &["admin", "site", "create", "--name", "Shop", "--json"]);
        let output = command.envs(variables.iter().copied()).output().expect("runs");
        let site: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        text(&site, "/scriptTag").to_owned()
    };
    let listen = ("SERVICE_LISTEN", "0.0.0.0:9000");
    assert!(tag(&[listen]).contains("src=\"http://127.0.0.1:9000/"));
    assert!(
        tag(&[listen, ("SERVICE_TLS_CERTIFICATE", "a"), ("SERVICE_TLS_KEY", "b")])
            .contains("src=\"https://127.0.0.1:9000/")
    );
    assert!(
        tag(&[listen, ("SERVICE_PUBLIC_ORIGIN", "https://chat.example")])
            .contains("src=\"https://chat.example/")
    );
}

#[test]
fn postgres_is_left_to_its_own_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = ["--database", "postgres://user:hunter2@127.0.0.1:1/chat"];
    let (_, error) = fails(folder.path(), &[&["backup", "x.db"], &database[..]].concat());
    assert!(error.contains("pg_dump") && !error.contains("hunter2"), "{error}");
    let (_, error) = fails(folder.path(), &[&["restore", "x.db"], &database[..]].concat());
    assert!(error.contains("pg_restore") && !error.contains("hunter2"), "{error}");
}

/// Returns the level of a finding.
fn level<'value>(report: &'value Value, subject: &str) -> &'value str {
    let findings = report["findings"].as_array().expect("findings");
    let found = findings.iter().rev().find(|finding| finding["subject"] == subject);
    found.and_then(|finding| finding["level"].as_str()).unwrap_or_else(|| panic!("{subject}: {report}"))
}

fn doctor(folder: &Path, flags: &[&str]) -> (bool, Value) {
    let output = command(folder, &[&["doctor", "--json"], flags].concat()).output().expect("runs");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", error_of(&output)));
    (output.status.success(), report)
}

#[test]
fn the_doctor_tells_a_good_set_up_from_a_bad_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let (is_good, report) = doctor(path, &[]);
    assert!(is_good, "nothing was started yet: {report}");
    assert_eq!((level(&report, "key file"), level(&report, "database")), ("warning", "warning"));
    assert!(!path.join("data").exists(), "a check creates nothing");

    fs::create_dir(path.join("widget")).expect("created");
    fs::write(path.join("widget/chat-widget.js"), "").expect("written");
    fs::write(path.join("tls.crt"), include_str!("../../tls/one.crt")).expect("written");
    fs::write(path.join("tls.key"), include_str!("../../tls/one.key")).expect("written");
    let running = Running::start(path, &[]);
    let file = |rest: &str| {
        let text = format!("public_origin = \"{}\"\nwidget_dir = \"widget\"\n{rest}", running.address());
        fs::write(path.join("service.toml"), text).expect("written");
    };
    file("");
    let (is_good, report) = doctor(path, &["--config", "service.toml"]);
    assert!(is_good, "{report}");
    for subject in ["key file", "settings", "integrity", "schema", "key", "widget", "public origin"] {
        assert_eq!(level(&report, subject), "ok", "{report}");
    }
    file("tls_certificate = \"tls.crt\"\ntls_key = \"tls.key\"\n");
    assert_eq!(level(&doctor(path, &["--config", "service.toml"]).1, "TLS"), "ok");
    file("tls_certificate = \"missing.crt\"\ntls_key = \"tls.key\"\ntrusted_hops = [\"everybody\"]\n");
    let (is_good, report) = doctor(path, &["--config", "service.toml"]);
    assert!(!is_good);
    assert_eq!((level(&report, "TLS"), level(&report, "settings")), ("error", "error"));

    let port = running.authority();
    assert!(doctor(path, &["--live", "--listen", port]).0);
    assert!(doctor(path, &["--live", "--listen", "127.0.0.1:1"]).1["findings"][0]["level"] == "error");

    let (is_good, report) = doctor(path, &["--public-origin", "http://127.0.0.1:1"]);
    assert!(!is_good && level(&report, "public origin") == "error");
    let lines = command(path, &["doctor"]).output().expect("runs");
    let lines = String::from_utf8_lossy(&lines.stdout).into_owned();
    assert!(
        lines.lines().all(|line| ["ok", "warning", "error"].iter().any(|word| line.starts_with(word))),
        "{lines}"
    );
    running.stop();
    // The log may have every page of the file.
    for file in ["service.db-wal", "service.db-shm"] {
        let _ = fs::remove_file(path.join("data").join(file));
    }
    fs::write(path.join("data/service.db"), "x".repeat(10_000)).expect("written");
    let (is_good, report) = doctor(path, &[]);
    assert!(!is_good && level(&report, "database") == "error", "{report}");
}
