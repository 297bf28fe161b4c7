//! The command `site-connector demo`.

#![cfg(unix)]

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::site_connector::{Process, error_of};

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    command.arg("demo").args(["--sandbox-only", "--port", "0", "--sandbox-port", "0"]).args(arguments);
    command.env_remove("PORT").env_remove("SANDBOX_PORT").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn prints_the_addresses_as_one_line_of_json() {
    let mut running = Process::spawn(&mut demo(&["--json"]));
    let line: Value = serde_json::from_str(&running.first_lines(1)[0]).expect("JSON");
    let console = line["console"].as_str().expect("a link");
    assert!(console.starts_with(&format!("{}/console/demo/", line["sandbox"].as_str().expect("an address"))));
    for name in ["site", "sandbox"] {
        let address = line[name].as_str().expect("an address");
        let port = address.strip_prefix("http://127.0.0.1:").expect("on loopback");
        assert_ne!(port.parse::<u16>().expect("a port"), 0);
    }
}

#[test]
fn prints_the_addresses_and_stops_cleanly_on_both_signals() {
    for signal in ["-INT", "-TERM"] {
        let mut running = Process::spawn(&mut demo(&[]));
        let lines = running.first_lines(2);
        assert!(lines[0].contains("http://127.0.0.1:") && lines[1].contains("/console/demo/"), "{lines:?}");
        running.signal(signal);
        assert!(running.0.wait().expect("ends").success(), "{signal}");
    }
}

#[test]
fn a_port_in_use_is_an_error_with_advice() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    let output = command
        .args(["demo", "--sandbox-only", "--sandbox-port", "0", "--port", &port])
        .output()
        .expect("runs");
    assert!(!output.status.success());
    let printed = error_of(&output);
    assert!(printed.contains("in use") && printed.contains("--port"), "{printed}");
    assert!(output.stdout.is_empty());
}

#[test]
fn refuses_invalid_faults_before_serving() {
    let output = demo(&["--fail-status", "200"]).output().expect("runs");
    assert!(!output.status.success());
    assert!(error_of(&output).contains("status must be from 400 to 599"));
}
