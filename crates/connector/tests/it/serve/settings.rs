//! Settings: their precedence, the messages about wrong ones, and the documented table.

use std::collections::BTreeSet;
use std::fs;

use crate::serve::{Running, command, fails, succeeds};

#[test]
fn flags_override_variables_override_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "database = \"from-file/service.db\"\nlisten = \"127.0.0.1:0\"\npublic_origin = \"https://file.example\"\n\
                log = \"info\"\nlog_format = \"json\"\ngrace = 3\n";
    fs::write(folder.path().join("service.toml"), file).expect("written");
    let mut command = command(folder.path(), &["serve", "--json", "--database", "from-flag/service.db"]);
    command
        .env("SERVICE_CONFIG", "service.toml")
        .env("SERVICE_DATABASE", "from-variable/service.db")
        .env("SERVICE_PUBLIC_ORIGIN", "https://variable.example");
    let running = Running::spawn(folder.path(), command);
    assert!(folder.path().join("from-flag/service.db").is_file());
    assert!(folder.path().join("from-flag/service.key").is_file());
    for other in ["from-variable", "from-file"] {
        assert!(!folder.path().join(other).exists(), "{other}");
    }
    assert_eq!(running.text("console"), "https://variable.example/console/");
    assert!(running.text("ownerLink").starts_with("https://variable.example/console/#setup="));
    let log = running.stop();
    assert!(log.lines().all(|line| line.starts_with('{')) && log.contains("stopping"), "{log}");
}

/// Each wrong setting is named, nothing is created, and nothing panics.
#[test]
fn a_wrong_setting_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let error_of = |text: &str| {
        fs::write(folder.path().join("service.toml"), text).expect("written");
        let (code, error) =
            fails(folder.path(), &["serve", "--config", "service.toml", "--listen", "127.0.0.1:0"]);
        assert_eq!(code, 2, "{text}: {error}");
        assert!(!folder.path().join("data").exists(), "{text}: {error}");
        error
    };
    for (text, expected) in [
        ("listen = \"nowhere\"", "listen"),
        ("public_origin = \"https://chat.example/path\"", "public origin"),
        ("public_origin = \"chat.example\"", "https://chat.example"),
        ("trusted_hops = [\"10.0.0.0/99\"]", "trusted hop"),
        ("tls_certificate = \"one.crt\"", "tls_key"),
        ("tls_key = \"one.key\"", "tls_certificate"),
        ("smtp_tls = \"ssl\"", "starttls"),
        ("mail_from = \"chat@chat.example\"", "smtp_host"),
        ("smtp_host = \"smtp.example\"", "mail_from"),
        ("smtp_port = 0", "smtp_port"),
        ("grace = \"long\"", "grace"),
        ("connection_timeout = 0", "connection_timeout"),
        ("connections_per_address = 0", "connections_per_address"),
        ("rate_per_minute = -1", "rate_per_minute"),
        ("log = \"loud\"", "expected error, warn, info, debug or trace"),
        ("log_format = \"xml\"", "json"),
        ("databse = \"x\"", "databse"),
        ("key = \"q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=\"", "key_file"),
        ("smtp_password = \"hunter2\"", "smtp_password_file"),
        ("listen", "line 1"),
    ] {
        let error = error_of(text);
        assert!(error.contains(expected), "{text}: {error}");
        assert!(!error.contains("hunter2") && !error.contains("q83vAS"), "secrets are not shown: {error}");
    }
    let (_, error) = fails(folder.path(), &["serve", "--config", "missing.toml"]);
    assert!(error.contains("cannot read missing.toml"), "{error}");
    let (_, error) =
        fails(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--database", "postgres://127.0.0.1:1/x"]);
    assert!(error.contains("cannot open the database"), "{error}");
    let (code, error) = fails(folder.path(), &["serve", "--listen", "192.0.2.1:1", "--database", "here.db"]);
    assert!(code == 1 && error.contains("--listen"), "{error}");
}

#[test]
fn warns_of_a_folder_without_the_widget() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = Running::start(folder.path(), &["--widget-dir", "nowhere"]).stop();
    assert!(log.contains("nowhere has no chat-widget.js"), "{log}");
    fs::create_dir(folder.path().join("widget")).expect("created");
    fs::write(folder.path().join("widget/chat-widget.js"), "").expect("written");
    let log = Running::start(folder.path(), &["--widget-dir", "widget"]).stop();
    assert!(!log.contains("chat-widget.js"), "{log}");
}

/// The flags of `serve`, as its help lists them, with their variables.
fn flags() -> BTreeSet<(String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let help = succeeds(folder.path(), &["serve", "--help"]);
    let mut flags = BTreeSet::new();
    let mut flag = String::new();
    for line in help.lines() {
        if let Some(rest) = line.trim().strip_prefix("--") {
            rest.split([' ', '=']).next().unwrap_or_default().clone_into(&mut flag);
        }
        if let Some((_, variable)) = line.split_once("[env: ") {
            let variable = variable.split([']', '=']).next().unwrap_or_default();
            flags.insert((flag.clone(), variable.to_owned()));
        }
    }
    assert!(flags.len() > 20, "{help}");
    flags
}

/// The table of docs/self-host.md has each setting, with the name of its variable, and no other.
#[test]
fn the_documented_settings_are_those_that_exist() {
    let document = include_str!("../../../../../docs/self-host.md");
    let (_, section) = document.split_once("\n## All settings\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("an end");
    let cell = |line: &str, number: usize| {
        line.split('|').nth(number).unwrap_or_default().trim().trim_matches('`').to_owned()
    };
    let documented: BTreeSet<String> =
        section.lines().filter(|line| line.starts_with("| `")).map(|line| cell(line, 1)).collect();
    let mut existing: BTreeSet<String> = ["log", "log_format"].map(str::to_owned).into();
    for (flag, variable) in flags() {
        if flag == "config" {
            assert_eq!(variable, "SERVICE_CONFIG");
            continue;
        }
        let name = variable.strip_prefix("SERVICE_").expect("a variable of the service").to_ascii_lowercase();
        assert!(name.starts_with(&flag.replace('-', "_")), "{flag} and {variable}");
        existing.insert(name);
    }
    assert_eq!(documented, existing);
}

/// The example beside the recipes is accepted as it is, and with its settings of e-mails. Only addresses and
/// files of its machine are replaced.
#[test]
fn accepts_the_settings_of_the_recipe() {
    let text = include_str!("../../../../../docs/recipes/service/service.toml")
        .replace("127.0.0.1:8090", "127.0.0.1:0")
        .replace("127.0.0.1:9465", "127.0.0.1:0")
        .replace("/var/lib/site-connector/", "data/")
        .replace("/run/credentials/site-connector.service/smtp-password", "password");
    assert!(!text.contains("= \"/"), "a path of another machine: {text}");
    let with_mail = text.replace("\n# smtp_", "\nsmtp_").replace("\n# mail_", "\nmail_");
    for (text, mail_settings) in [(text, 0), (with_mail, 4)] {
        let is_mail = |line: &&str| line.starts_with("smtp_") || line.starts_with("mail_");
        assert_eq!(text.lines().filter(is_mail).count(), mail_settings, "{text}");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("service.toml"), text).expect("written");
        if mail_settings > 0 {
            fs::write(folder.path().join("password"), "secret\n").expect("written");
        }
        let running = Running::spawn(
            folder.path(),
            command(folder.path(), &["serve", "--json", "--config", "service.toml"]),
        );
        assert!(running.text("console").starts_with("https://"));
        running.stop();
    }
}
