//! A report as JSON.

use serde_json::{Value, json as value};

use crate::{Finding, Report, Severity};

/// Returns a report as JSON, for programs.
pub fn json(report: &Report) -> Value {
    let pages: Vec<Value> = report
        .pages
        .iter()
        .map(|page| {
            value!({
                "address": page.address,
                "file": page.file,
                "title": page.title,
                "words": page.words,
                "score": page.score,
            })
        })
        .collect();
    let crawlers: Vec<Value> =
        report.crawlers.iter().map(|(name, allowed)| value!({ "name": name, "allowed": allowed })).collect();
    value!({
        "score": report.score,
        "counts": {
            "error": report.count(Severity::Error),
            "warning": report.count(Severity::Warning),
            "note": report.count(Severity::Note),
        },
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "pages": pages,
        "crawlers": crawlers,
    })
}

fn finding(finding: &Finding) -> Value {
    let places: Vec<Value> = finding
        .places
        .iter()
        .map(|place| value!({ "address": place.address, "file": place.file, "line": place.line, "count": place.count }))
        .collect();
    value!({
        "rule": finding.rule.id,
        "severity": finding.rule.severity.name(),
        "title": finding.rule.title,
        "why": finding.rule.why,
        "fix": finding.rule.fix,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
        "places": places,
    })
}
