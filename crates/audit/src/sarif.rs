//! A report as SARIF 2.1.0, as code scanning reads it.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::similar::hash;
use crate::{Finding, Place, Report, rules};

/// Maximum results of a run that code scanning accepts.
const MAX_RESULTS: usize = 25_000;
/// Maximum further places of a result.
const MAX_RELATED: usize = 20;

/// Returns a report as SARIF 2.1.0. Places are files relative to the folder, or else addresses.
pub fn sarif(report: &Report, version: &str) -> Value {
    let rules = rules();
    let described: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "name": rule.id,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": rule.why },
                "help": { "text": format!("{} {}", rule.why, rule.fix), "markdown": format!("{}\n\n**Mend it.** {}", rule.why, rule.fix) },
                "defaultConfiguration": { "level": rule.severity.name() },
                "properties": { "tags": ["site-audit"] },
            })
        })
        .collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .take(MAX_RESULTS)
        .map(|finding| {
            let index = rules.iter().position(|rule| rule.id == finding.rule.id).unwrap_or_default();
            result(finding, index)
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "site-connector audit", "semanticVersion": version, "rules": described } },
            "results": results,
            "columnKind": "unicodeCodePoints",
            "properties": { "score": report.score },
        }],
    })
}

fn result(finding: &Finding, index: usize) -> Value {
    let mut message = format!("{}: {}", finding.rule.title, finding.evidence);
    if finding.places.len() > 1 {
        message = format!("{message} (on {} pages)", finding.places.len());
    }
    if let Some(suggestion) = &finding.suggestion {
        message = format!("{message}. Suggestion: {suggestion}");
    }
    let first = &finding.places[0];
    let print = hash(format!("{}\0{}\0{}", finding.rule.id, first.address, finding.evidence).as_bytes(), 0);
    let related: Vec<Value> = finding.places.iter().skip(1).take(MAX_RELATED).map(location).collect();
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": finding.rule.severity.name(),
        "message": { "text": message },
        "locations": [location(first)],
        "relatedLocations": related,
        "partialFingerprints": { "primaryLocationLineHash": format!("{print:016x}:1") },
    })
}

fn location(place: &Place) -> Value {
    let uri = place.file.as_deref().map_or_else(|| encoded(place.address.trim_start_matches('/')), encoded);
    // The front page of a website has no name.
    let uri = if uri.is_empty() { "index.html".to_owned() } else { uri };
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": { "startLine": place.line.max(1) },
        },
    })
}

/// Encodes the name of a file as a relative address.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
