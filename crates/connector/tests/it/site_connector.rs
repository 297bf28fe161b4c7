//! The command `site-connector`, run in a folder against a service.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A running command. It is killed when the test ends.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a command, whose output can be read.
    pub fn spawn(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::piped()).spawn().expect("runs"))
    }

    /// Starts a command whose log goes to the file `log` in a folder.
    pub fn spawn_with_log(command: &mut Command, folder: &Path) -> Self {
        Self::spawn(command.stderr(File::create(folder.join("log")).expect("a file")))
    }

    /// Returns the first lines of the output.
    pub fn first_lines(&mut self, count: usize) -> Vec<String> {
        let stdout = self.0.stdout.as_mut().expect("piped");
        BufReader::new(stdout).lines().take(count).map(|line| line.expect("text")).collect()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().expect("kill").success());
    }

    /// Tells the process to stop, and waits for its orderly end.
    pub fn stop(mut self) {
        self.signal("-TERM");
        assert!(self.0.wait().expect("ends").success());
    }
}

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
    output(command(directory, origin, arguments)).await
}

/// Runs a command to its end.
pub async fn output(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("runs")
}

/// Runs a command that succeeds, and returns its output as JSON.
pub async fn succeeds(directory: &Path, origin: &str, arguments: &[&str]) -> Value {
    json(&run(directory, origin, arguments).await, arguments)
}

/// Returns the output of a command that succeeded as JSON.
pub fn json(output: &Output, arguments: &[&str]) -> Value {
    assert!(output.status.success(), "{arguments:?}: {}", error_of(output));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

pub fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that fails, and returns its exit code and its error.
pub async fn fails(directory: &Path, origin: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(directory, origin, arguments).await;
    assert!(!output.status.success(), "{arguments:?}");
    (output.status.code(), error_of(&output))
}
