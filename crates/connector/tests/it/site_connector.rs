//! The command `site-connector`, run in a folder against a service.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub fn command(directory: &Path, origin: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    for variable in ["CONNECTOR_TOKEN_FILE", "HTTP_PROXY", "http_proxy"] {
        command.env_remove(variable);
    }
    command
        .current_dir(directory)
        .args(arguments)
        .env("CONNECTOR_ORIGIN", origin)
        .env("CONNECTOR_LICENSE", chat_service::test_mode::LICENSE)
        .env("CONNECTOR_TOKEN", crate::service::TOKEN);
    command
}

pub async fn run(directory: &Path, origin: &str, arguments: &[&str]) -> Output {
    let mut command = command(directory, origin, arguments);
    tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("runs")
}

/// Runs a command that succeeds, and returns its output as JSON.
pub async fn succeeds(directory: &Path, origin: &str, arguments: &[&str]) -> Value {
    let output = run(directory, origin, arguments).await;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Runs a command that fails, and returns its exit code and its error.
pub async fn fails(directory: &Path, origin: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(directory, origin, arguments).await;
    assert!(!output.status.success(), "{arguments:?}");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
