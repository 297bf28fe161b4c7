//! The conformance tests against a server with an address.

use crate::api::{Checked, TOKEN, Unchecked, sandbox};

sentences! {
    unchecked_requirements_are_reported_with_their_reason,
}

/// Runs this program against a sandbox that is given by its address.
async fn unchecked_requirements_are_reported_with_their_reason() -> Checked {
    if std::env::var("CONFORMANCE_ORIGIN").is_ok() {
        return Err(Unchecked("tests this program, not the server"));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let token = directory.path().join("token");
    std::fs::write(&token, TOKEN).expect("a file");
    let mut command = std::process::Command::new(std::env::current_exe().expect("a program"));
    command.env("CONFORMANCE_ORIGIN", sandbox().await).env("CONFORMANCE_TOKEN_FILE", token);
    command.env_remove("CONFORMANCE_JOBS");
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    let of_jobs = "jobs::a_job_already_completed_is_a_resource_conflict";
    let line = printed.lines().find(|line| line.contains(of_jobs)).expect("a line");
    assert!(line.contains("ignored"), "{line}");
    assert!(printed.contains("CONFORMANCE_JOBS=1"), "{printed}");
    assert!(printed.contains("0 failed; 9 ignored"), "{printed}");
    Ok(())
}
