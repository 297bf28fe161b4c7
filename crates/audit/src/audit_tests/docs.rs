//! The table of docs/audit.md has the rules as they are.

use crate::{Severity, rules};

const PAGE: &str = include_str!("../../../../docs/audit.md");

#[test]
fn docs_audit_md_lists_each_rule_with_its_severity() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows: Vec<(String, String)> = rows
        .filter(|(_, rest)| ["error", "warning", "note"].iter().any(|name| rest.starts_with(name)))
        .map(|(id, rest)| (id.to_owned(), rest.trim_end_matches(" |").to_owned()))
        .collect();
    let expected: Vec<(String, String)> = rules()
        .iter()
        .map(|rule| (rule.id.to_owned(), format!("{} | {}", rule.severity.name(), rule.title)))
        .collect();
    for (expected, row) in expected.iter().zip(&rows) {
        assert_eq!(expected, row);
    }
    assert_eq!(rows.len(), expected.len());
    let errors = rules().iter().filter(|rule| rule.severity == Severity::Error).count();
    assert!(
        PAGE.contains(&format!("{} rules, {errors} of them errors", rules().len())),
        "{} {errors}",
        rules().len()
    );
}
