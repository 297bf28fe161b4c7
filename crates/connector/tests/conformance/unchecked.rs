//! A test of this suite: against a server with an address, it says what it did not check.

use libtest_mimic::Trial;

use crate::servers::{TOKEN, test_mode};

pub fn trial() -> Trial {
    Trial::test("suite::unchecked_requirements_are_reported_with_their_reason", || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(unchecked_requirements_are_reported_with_their_reason());
        Ok(())
    })
}

/// Runs this program against a test mode that is given by its address.
async fn unchecked_requirements_are_reported_with_their_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = directory.path().join("token");
    std::fs::write(&token, TOKEN).expect("a file");
    let mut command = std::process::Command::new(std::env::current_exe().expect("a program"));
    command.env("CONFORMANCE_ORIGIN", test_mode(crate::api::LEASE, 6000).await);
    command.env("CONFORMANCE_TOKEN_FILE", token).env_remove("CONFORMANCE_JOBS");
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    let of_jobs = "server::jobs::a_job_already_completed_is_a_resource_conflict";
    let line = printed.lines().find(|line| line.contains(of_jobs)).expect("a line");
    assert!(line.contains("ignored"), "{line}");
    for reason in ["CONFORMANCE_JOBS=1", "the settings of the site would have to be changed"] {
        assert!(printed.contains(reason), "{printed}");
    }
    assert!(printed.contains("0 failed;") && !printed.contains(" 0 ignored"), "{printed}");
}
