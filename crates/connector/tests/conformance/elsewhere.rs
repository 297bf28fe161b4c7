//! What these tests say of a server that is no sandbox of their own.

use crate::api::{Checked, TOKEN, Unchecked, sandbox};

sentences! {
    what_is_not_checked_of_another_server_is_named_with_its_reason,
}

/// This very program, against a sandbox that it is told of by its address.
async fn what_is_not_checked_of_another_server_is_named_with_its_reason() -> Checked {
    if std::env::var("CONFORMANCE_ORIGIN").is_ok() {
        return Err(Unchecked("it is about these tests, and not about the server"));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let token = directory.path().join("token");
    std::fs::write(&token, TOKEN).expect("a file");
    let mut command = std::process::Command::new(std::env::current_exe().expect("a program"));
    command.env("CONFORMANCE_ORIGIN", sandbox().await).env("CONFORMANCE_TOKEN_FILE", token);
    command.env_remove("CONFORMANCE_JOBS");
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    let of_jobs = "jobs::a_job_already_completed_is_a_resource_conflict";
    let line = said.lines().find(|line| line.contains(of_jobs)).expect("a line");
    assert!(line.contains("ignored"), "{line}");
    assert!(said.contains("CONFORMANCE_JOBS=1"), "{said}");
    assert!(said.contains("0 failed; 9 ignored"), "{said}");
    Ok(())
}
