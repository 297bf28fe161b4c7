//! `ask` beside a running service.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::{Running, command, error_of, fails, json as parsed, succeeds};

#[test]
fn a_site_is_tested_with_a_file_of_questions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let running = Running::start(path, &[]);
    let site = parsed(path, &["admin", "site", "create", "--name", "Shop"]);
    let id = site["site"]["id"].as_str().expect("an id");
    let token = succeeds(path, &["admin", "token", "create", "--site", id]);
    fs::write(path.join("token"), token).expect("written");
    let page = json!({
        "externalId": "page-1", "type": "page", "path": "/shipping", "locale": "en", "title": "Shipping to Norway",
        "content": "We ship to Norway within 14 days, free of charge.",
    });
    fs::write(path.join("items.jsonl"), page.to_string()).expect("written");
    let origin = running.address();
    succeeds(path, &["sync", "--items", "items.jsonl", "--origin", origin, "--token-file", "token"]);

    let asked = parsed(path, &["ask", "--site", id, "Do you ship to Norway?"]);
    assert_eq!(
        (&asked["outcome"], &asked["sources"][0]["location"]),
        (&json!("answered"), &json!("/shipping"))
    );
    let shown = succeeds(path, &["ask", "--site", id, "Do you ship to Norway?"]);
    assert!(shown.contains("within 14 days") && shown.contains("  /shipping ("), "{shown}");

    let question = |question: &str, expects: &str, expected: &str| {
        json!({ "question": question, "expects": expects, "expected": expected }).to_string()
    };
    let good = [
        "# What matters most".to_owned(),
        question("Do you ship to Norway?", "page", "/shipping/"),
        question("Do you ship to Norway?", "words", "14 days\nfree of charge"),
        String::new(),
        question("Who won the election?", "no_answer", ""),
    ];
    fs::write(path.join("good.jsonl"), good.join("\r\n")).expect("written");
    let printed = succeeds(path, &["ask", "--site", id, "--test", "good.jsonl"]);
    assert_eq!(printed.matches("ok      ").count(), 3, "{printed}");
    assert!(printed.ends_with("3 questions passed.\n"), "{printed}");

    // With a threshold that no source reaches, nothing is answered.
    let (code, error) = fails(path, &["ask", "--site", id, "--test", "good.jsonl", "--threshold", "1"]);
    assert!(code == 1 && error.contains("2 of 3 questions failed"), "{error}");

    let mut piped = command(path, &["ask", "--site", id, "--test", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let wrong = question("Do you ship to Norway?", "no_answer", "");
    piped.stdin.take().expect("a pipe").write_all(wrong.as_bytes()).expect("written");
    let output = piped.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1));
    let line: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    assert_eq!((&line["passed"], &line["outcome"]), (&json!(false), &json!("answered")));
    let failure: Value = serde_json::from_str(&error_of(&output)).expect("a line of JSON");
    assert_eq!(failure["exitCode"], 1);

    for (arguments, problem) in [
        (&["--site", id][..], "required"),
        (&["--site", "site_of_nobody", "Open?"], "does not exist"),
        (&["--site", id, "--test", "missing.jsonl"], "cannot read missing.jsonl"),
        (&["--site", id, "--test", "items.jsonl"], "invalid line 1"),
        (&["--site", id, "Open?", "--threshold", "40"], "expected 0 to 1"),
    ] {
        let (_, error) = fails(path, &[&["ask"], arguments].concat());
        assert!(error.contains(problem), "{arguments:?}: {error}");
    }
}
