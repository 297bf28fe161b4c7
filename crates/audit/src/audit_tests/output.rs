//! The report in its three forms.

use crate::{Severity, json, rules, sarif, text};

use super::clean_site::{Files, audit, files};

fn broken() -> Files {
    let mut files = files();
    for name in ["mugs.html", "de/mugs.html"] {
        let html = String::from_utf8(files[name].clone()).expect("UTF-8");
        let html = html.replace("</main>", "\n<a href=/gone.html>Gone</a><img src=/mug.png></main>");
        files.insert(name.to_owned(), html.into_bytes());
    }
    files.insert("a b%.html".to_owned(), b"<p>x".to_vec());
    files
}

#[test]
fn the_text_has_each_finding_with_its_place_and_the_way_to_mend_it() {
    let printed = text(&audit(&broken()), false);
    assert!(printed.contains("ERROR link-broken: A link leads to a page that does not exist\n"), "{printed}");
    assert!(printed.contains("href=\"/gone.html\"") && printed.contains("  fix: "), "{printed}");
    let line = files()["mugs.html"].split(|byte| *byte == b'\n').position(|line| line == b"</main>");
    let place = format!("  mugs.html:{}", line.expect("a line") + 2);
    assert!(printed.contains(&place), "{place}\n{printed}");
    assert!(printed.lines().last().is_some_and(|line| line.starts_with("Score ")), "{printed}");
}

#[test]
fn the_json_has_counts_findings_and_pages() {
    let report = audit(&broken());
    let value = json(&report);
    assert_eq!(value["counts"]["error"], report.count(Severity::Error));
    assert_eq!(value["pages"].as_array().map(Vec::len), Some(26));
    let findings = value["findings"].as_array().expect("findings");
    let link = findings.iter().find(|finding| finding["rule"] == "link-broken").expect("a finding");
    assert_eq!(link["places"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["crawlers"][0]["name"], "GPTBot");
}

#[test]
fn the_sarif_is_as_code_scanning_reads_it() {
    let report = audit(&broken());
    let value = sarif(&report, "1.2.3");
    assert_eq!((&value["version"], value["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(1)));
    let run = &value["runs"][0];
    let described = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(described.len(), rules().len());
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), report.findings.len());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(described[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("a level")));
        assert!(!result["message"]["text"].as_str().expect("a text").is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().expect("a file");
        assert!(!uri.is_empty() && !uri.starts_with('/') && !uri.contains([' ', ':', '\\']), "{uri}");
        assert!(place["region"]["startLine"].as_u64().expect("a line") >= 1);
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string());
    }
    let uris: Vec<&str> = results
        .iter()
        .filter_map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str())
        .collect();
    assert!(uris.contains(&"a%20b%25.html"), "{uris:?}");
}

#[test]
fn rules_have_unique_ids_and_texts() {
    let all = rules();
    for pair in all.windows(2) {
        assert_ne!(pair[0].id, pair[1].id);
    }
    for rule in all {
        assert!(
            rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        );
        for sentence in [rule.why, rule.fix] {
            assert!(sentence.ends_with(['.', '>']), "{}: {sentence}", rule.id);
        }
        assert!(!rule.title.ends_with('.'), "{}", rule.id);
    }
}

#[test]
fn the_score_is_the_mean_of_the_pages_minus_what_the_site_lacks() {
    let mut files = files();
    let html = String::from_utf8(files["mugs.html"].clone()).expect("UTF-8");
    // An error (15) and a note (1), each twice, on one of 25 pages.
    let html = html.replace("</main>", "<img src=/mug.png><img src=/mug.png></main>");
    files.insert("mugs.html".to_owned(), html.into_bytes());
    let report = audit(&files);
    let page = report.pages.iter().find(|page| page.file.as_deref() == Some("mugs.html")).expect("a page");
    assert_eq!((page.score, report.score), (84, (2400 + 84) / 25));
    files.remove("sitemap.xml");
    assert_eq!(audit(&files).score, (2400 + 84) / 25 - 1);
}
