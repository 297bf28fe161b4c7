//! Planted faults are found, and nothing else is.

use std::collections::BTreeSet;

use crate::{Severity, rules};

use super::clean_site::{audit, files, found};
use super::faults::{FAULTS, page};

#[test]
fn a_clean_site_in_five_languages_has_no_finding() {
    let report = audit(&files());
    let findings: Vec<String> = report
        .findings
        .iter()
        .map(|finding| format!("{} {} {:?}", finding.rule.id, finding.evidence, finding.places[0].file))
        .collect();
    assert_eq!(findings, Vec::<String>::new());
    assert_eq!((report.score, report.pages.len()), (100, 25));
    assert!(report.crawlers.len() > 10 && report.crawlers.iter().all(|(_, allowed)| *allowed));
}

#[test]
fn planted_faults_are_found_where_they_are() {
    let clean = files();
    let (mut planted, mut missed) = (0, Vec::new());
    for fault in FAULTS {
        for variant in 0..5 {
            let mut files = clean.clone();
            (fault.plant)(&mut files, variant);
            let report = audit(&files);
            let page = page(variant);
            planted += 1;
            if !found(&report, (!fault.elsewhere).then_some(page.as_str())).contains(&fault.rule) {
                missed.push(format!("{} in {page}: {:?}", fault.rule, found(&report, None)));
            }
        }
    }
    println!("{} kinds, {planted} faults, {} missed", FAULTS.len(), missed.len());
    assert!(FAULTS.len() >= 40 && planted >= 200);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn every_rule_that_a_folder_can_break_has_a_planted_fault() {
    let planted: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.rule).collect();
    let rules: BTreeSet<&str> = rules().iter().map(|rule| rule.id).collect();
    let missing: Vec<&&str> = rules.difference(&planted).collect();
    // An error of a server.
    assert_eq!(missing, [&"page-error"]);
    assert_eq!(planted.difference(&rules).count(), 0);
}

#[test]
fn what_is_unusual_but_right_is_no_finding() {
    let mut files = files();
    let html = String::from_utf8(files["mugs.html"].clone()).expect("UTF-8");
    let more = "<a href=/old/list>An old list</a><a href=/private/>Members</a><a href=#top>To the top</a>\
        <a href='#:~:text=mug'>A mug</a><a href=//mugs.html?ref=1>All the mugs</a><a href=/mugs>Mugs again</a>\
        <a href=mailto:ann@shop.example>Write to Ann</a><a href=tel:+44>Call the studio</a>\
        <a href=/ aria-label='The front page'><svg></svg></a><a href=/ ><svg><title>Home</title></svg></a>\
        <a href=/><img src=/mug.png alt='The shop' width=9 height=9></a>\
        <img src='data:image/gif;base64,R0' alt=''><img src=/mug.png alt='' width=1 height=1>\
        <img src=/mug.png role=presentation style='width: 1em'>\
        <p hidden><img src=/mug.png><a href=/></a></p><template><h1>x</h1><img></template>\
        <svg><title>Sign</title><a></a></svg><a id=place></a><a href=#place>To the place</a>\
        <a href=http://localhost:631/>http://localhost:631/</a>\
        <script type=application/ld+json>{\"@context\":\"https://schema.org\",\"@id\":\"#a\",\"@type\":\"Organization\",\
        \"name\":\"Shop\",\"logo\":{\"@id\":\"#logo\"}}</script>";
    files.insert("mugs.html".to_owned(), html.replace("</main>", &format!("{more}</main>")).into_bytes());
    files.insert("sitemap.xml".to_owned(), {
        let map = String::from_utf8(files["sitemap.xml"].clone()).expect("UTF-8");
        let list: Vec<&str> = map.split("<loc>").skip(1).filter_map(|part| part.split('<').next()).collect();
        list.join("\r\n").into_bytes()
    });
    let root = url::Url::parse(super::clean_site::ORIGIN).expect("an address");
    let report = super::clean_site::audit_with(&files, |audit| {
        audit.add_redirect_rules("/old/* /mugs 301\n");
        audit.add_unknown(&root.join("/private").expect("an address"));
    });
    let findings: Vec<_> =
        report.findings.iter().map(|finding| (finding.rule.id, &finding.evidence)).collect();
    assert_eq!(findings, []);
}

#[test]
fn a_fault_on_one_page_makes_no_error_on_the_others() {
    for fault in
        FAULTS.iter().filter(|fault| fault.rule.starts_with("title") || fault.rule.starts_with("description"))
    {
        for variant in 0..5 {
            let mut files = files();
            (fault.plant)(&mut files, variant);
            let report = audit(&files);
            let elsewhere: Vec<_> = report
                .findings
                .iter()
                .filter(|finding| finding.rule.severity == Severity::Error)
                .flat_map(|finding| &finding.places)
                .filter(|place| place.file.as_deref() != Some(page(variant).as_str()))
                .collect();
            assert!(elsewhere.is_empty(), "{}: {elsewhere:?}", fault.rule);
        }
    }
}
