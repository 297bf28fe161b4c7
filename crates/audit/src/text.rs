//! A report for people.

use std::fmt::Write;

use crate::{Finding, Place, Report, Severity};

/// Places of a finding that are shown.
const PLACES: usize = 3;
/// Findings of a rule that are shown.
const FINDINGS: usize = 10;

/// Returns a report as text, the gravest findings first. `all` shows every finding and place.
pub fn text(report: &Report, all: bool) -> String {
    let mut out = String::new();
    let max = |some: usize| if all { usize::MAX } else { some };
    let mut rest = report.findings.as_slice();
    while let Some(first) = rest.first() {
        let rule = first.rule;
        let (of_rule, others) =
            rest.split_at(rest.iter().take_while(|finding| finding.rule.id == rule.id).count());
        rest = others;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{} {}: {}", rule.severity.name().to_uppercase(), rule.id, rule.title);
        for finding in of_rule.iter().take(max(FINDINGS)) {
            write_finding(&mut out, finding, max(PLACES));
        }
        if of_rule.len() > max(FINDINGS) {
            let _ = writeln!(out, "  … and {} more", of_rule.len() - FINDINGS);
        }
        let _ = writeln!(out, "  why: {}\n  fix: {}\n", rule.why, rule.fix);
    }
    let _ = write!(
        out,
        "Score {} of 100: {}, {}, {} on {}",
        report.score,
        counted(report.count(Severity::Error), "error"),
        counted(report.count(Severity::Warning), "warning"),
        counted(report.count(Severity::Note), "note"),
        counted(report.pages.len(), "page"),
    );
    out
}

fn write_finding(out: &mut String, finding: &Finding, max: usize) {
    for (index, place) in finding.places.iter().take(max).enumerate() {
        let evidence = if index == 0 { format!("  {}", finding.evidence) } else { String::new() };
        let _ = writeln!(out, "  {}{evidence}", shown(place));
    }
    if finding.places.len() > max {
        let _ = writeln!(out, "  … and on {}", counted(finding.places.len() - max, "more page"));
    }
    if let Some(suggestion) = &finding.suggestion {
        let _ = writeln!(out, "    → {suggestion}");
    }
}

fn shown(place: &Place) -> String {
    let times = if place.count > 1 { format!(" ({} times)", place.count) } else { String::new() };
    format!("{}:{}{times}", place.file.as_deref().unwrap_or(&place.address), place.line)
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
