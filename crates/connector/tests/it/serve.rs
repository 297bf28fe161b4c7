//! `site-connector serve` and the commands beside it, as processes.

#![cfg(unix)]

mod ask;
mod commands;
mod connections;
mod described;
mod log;
mod settings;
mod start;
mod tls;
#[cfg(target_os = "linux")]
mod unwritable_log;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::site_connector::{Process, error_of};

/// A running service. It is killed when the test ends.
struct Running {
    process: Process,
    /// What the service has announced.
    announced: Value,
    log: std::path::PathBuf,
}

/// Returns the command in a folder, without settings of the environment.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SERVICE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).args(arguments);
    command
}

/// Runs a command that succeeds, and returns what it prints.
fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().expect("runs");
    assert!(output.status.success(), "{arguments:?}: {}", error_of(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs a command that prints JSON.
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    serde_json::from_str(&succeeds(folder, &arguments)).expect("one line of JSON")
}

/// Runs a command that fails, and returns its exit code and its error.
fn fails(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = command(folder, arguments).output().expect("runs");
    let error = error_of(&output);
    assert!(!output.status.success(), "{arguments:?}");
    assert!(!error.contains("panicked"), "{error}");
    (output.status.code().expect("no signal"), error)
}

impl Running {
    /// Starts a service on free ports.
    fn start(folder: &Path, flags: &[&str]) -> Self {
        let free = "127.0.0.1:0";
        let fixed = ["serve", "--json", "--listen", free, "--metrics-listen", free];
        Self::spawn(folder, command(folder, &[&fixed, flags].concat()))
    }

    fn spawn(folder: &Path, command: Command) -> Self {
        let log = File::create(folder.join("log")).expect("a file");
        Self::spawn_logging_to(log.into(), folder, command)
    }

    /// Starts a service whose log goes elsewhere.
    fn spawn_logging_to(stderr: Stdio, folder: &Path, mut command: Command) -> Self {
        let log = folder.join("log");
        let mut process = Process::spawn(command.stderr(stderr));
        let line = process.first_lines(1).pop().unwrap_or_default();
        let announced = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("{error}: {line} {}", std::fs::read_to_string(&log).unwrap_or_default())
        });
        Self { process, announced, log }
    }

    fn text(&self, member: &str) -> &str {
        self.announced[member].as_str().expect("a text")
    }

    /// Returns the origin of the service.
    fn address(&self) -> &str {
        self.text("address")
    }

    /// Returns the host and port of the service.
    fn authority(&self) -> &str {
        self.address().split_once("://").expect("an origin").1
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log")
    }

    /// Tells the service to stop, and waits for its end.
    fn stop(mut self) -> String {
        self.process.signal("-TERM");
        assert!(self.process.0.wait().expect("ends").success(), "{}", self.log());
        self.log()
    }
}

fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().expect("a client")
}

async fn get(url: &str) -> (u16, String) {
    let response = http().get(url).send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a body"))
}

/// Waits until a condition holds.
async fn until(mut condition: impl AsyncFnMut() -> bool) {
    let held = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), held).await.expect("the condition holds in time");
}

/// Reads a stream to its end.
fn read_all(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
