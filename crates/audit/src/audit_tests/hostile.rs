//! Hostile pages, and sites of all sizes.

use crate::{Audit, PageSource, Report, Site};
use fastrand::Rng;
use proptest::prelude::*;
use url::Url;

use super::clean_site::{Files, audit, found, words};

fn audit_one(html: &[u8]) -> Report {
    audit(&Files::from([("index.html".to_owned(), html.to_vec())]))
}

#[test]
fn hostile_pages_are_read_to_their_end_or_to_a_bound() {
    let big = 10 * 1024 * 1024;
    let pages = [
        "<div>".repeat(200_000),
        "<a href=/x>".repeat(100_000),
        format!("<title>{}", "x".repeat(big)),
        "<h1>".repeat(20_000),
        format!("<p>{}", "word ".repeat(big / 5)),
        format!("<img src=x alt={}>", "a".repeat(big)),
        "<link rel=alternate hreflang=de href=/a>".repeat(100_000),
        format!("<script type=application/ld+json>{}", "[".repeat(300_000)),
        format!(
            "<script type=application/ld+json>{}</script>",
            "{\"a\":".repeat(100) + "1" + &"}".repeat(100)
        ),
        format!("<script type=application/ld+json>[{}1]</script>", "{\"@type\":\"Offer\"},".repeat(20_000)),
        "<p id=x>".repeat(200_000),
        format!("<meta name=robots content='{}'>", "index,noindex,".repeat(100_000)),
        "<img src=http://[::1>".repeat(50_000),
        "\0\u{feff}<<<<>>>&#xD800;<svg><title>x</title></svg>".repeat(10_000),
        String::new(),
    ];
    for html in &pages {
        let report = audit_one(html.as_bytes());
        assert!(report.score <= 100 && report.pages.len() == 1);
        assert!(report.findings.len() < 6000, "{}", report.findings.len());
        assert!(report.findings.iter().all(|finding| finding.evidence.chars().count() <= 161));
    }
}

#[test]
fn broken_encodings_are_findings_and_their_excerpts_are_text() {
    let (japanese, _, _) = encoding_of("shift_jis")
        .encode("<meta charset=shift_jis><title>急須</title><h2></h2><p>手作りの茶碗");
    let report = audit_one(&japanese);
    assert_eq!(report.pages[0].title.as_deref(), Some("急須"));
    assert!(!found(&report, None).contains(&"encoding-broken"));
    let report = audit_one(b"<meta charset=utf-8><title>Gr\xf6\xdfe</title>");
    assert!(found(&report, None).contains(&"encoding-broken"));
    for html in [&b"\xff\xfe<\0p\0>\0"[..], b"\xfe\xff\0<\0p", b"\xef\xbb\xbf", b"\xff\xfe\xff"] {
        audit_one(html);
    }
}

fn encoding_of(label: &str) -> &'static encoding_rs::Encoding {
    encoding_rs::Encoding::for_label(label.as_bytes()).expect("an encoding")
}

#[test]
fn a_site_without_pages_has_a_score_of_zero_and_no_finding() {
    let report = audit(&Files::new());
    assert_eq!((report.score, report.pages.len(), report.findings.len()), (0, 0, 0));
}

/// Audits a site whose pages have a menu, links to each other and one of three texts.
fn audit_many(count: usize, is_same: bool) -> Report {
    let root = Url::parse("https://shop.example").expect("an address");
    let site = Site { root: root.clone(), is_public: true, is_folder: true, is_complete: true, today: None };
    let mut audit = Audit::new(site);
    let menu: Vec<String> =
        (0..30).map(|number| format!("<a href=/{number}.html>Page {number}</a>")).collect();
    let menu = menu.concat();
    for number in 0..count {
        let mut random = Rng::with_seed(if is_same { number as u64 % 3 } else { number as u64 });
        let text = words(&mut random, 0, 100);
        let next = (number + 1) % count;
        let html = format!(
            "<html lang=en><title>Title</title><nav>{menu}</nav><main><h1>Page {number}</h1><p>{text} {number}\
             <a href=/{next}.html#x>Next page</a><a href=/gone.html>Gone</a></main>"
        );
        let file = format!("{number}.html");
        let url = root.join(&file).expect("an address");
        let headers = chat_page::Headers::default();
        audit.add_page(PageSource {
            url: &url,
            file: Some(&file),
            status: 200,
            headers,
            html: html.as_bytes(),
        });
    }
    audit.finish()
}

#[test]
fn the_work_grows_no_faster_than_the_site() {
    for is_same in [false, true] {
        let (small, large) = (audit_many(1000, is_same), audit_many(5000, is_same));
        let (one, five) = (small.work, large.work);
        for (one, five, name) in [
            (one.parts, five.parts, "parts"),
            (one.lookups, five.lookups, "lookups"),
            (one.comparisons, five.comparisons, "comparisons"),
        ] {
            assert!(five <= one * 6 + 5000 * 32, "{name}: {one} for 1,000 pages, {five} for 5,000");
        }
        assert!(five.comparisons <= 5000 * 32);
        // One finding for a link that is broken on all pages.
        let broken: Vec<_> =
            large.findings.iter().filter(|finding| finding.rule.id == "link-broken").collect();
        assert_eq!((broken.len(), broken[0].places.len()), (1, 5000));
        assert_eq!(large.findings.len() < 6000, !is_same || large.findings.len() < 6000);
    }
}

proptest! {
    #[test]
    fn any_page_is_audited(
        parts in proptest::collection::vec(
            prop_oneof![
                "</?(html|head|body|main|title|meta|p|a|img|link|h1|h3|script|svg|template|base)[ />]?".prop_map(String::into_bytes),
                "<(a|img|link|meta|base|script) (href|src|rel|name|content|lang|hreflang)=['\"]?[a-z:/.#?%0-9]{0,12}['\"]?>".prop_map(String::into_bytes),
                "<script type=application/ld.json>[\\[\\]{}\":,a-z@0-9]{0,30}</script>".prop_map(String::into_bytes),
                "<(link rel=(canonical|alternate) hreflang=[a-z_-]{0,5}) href=.{0,10}>".prop_map(String::into_bytes),
                proptest::collection::vec(any::<u8>(), 0..12),
            ],
            0..40,
        ),
        robots in "((user-agent|disallow|allow|sitemap|)[:= ]{0,2}[*/$a-z%é]{0,12}\n){0,6}",
    ) {
        let html = parts.concat();
        let files = Files::from([
            ("index.html".to_owned(), html.clone()),
            ("a/b.html".to_owned(), html),
            ("robots.txt".to_owned(), robots.clone().into_bytes()),
            ("sitemap.xml".to_owned(), robots.into_bytes()),
        ]);
        let report = audit(&files);
        prop_assert!(report.score <= 100);
        prop_assert!(report.findings.iter().all(|finding| !finding.places.is_empty()));
        let _ = (crate::text(&report, true), crate::json(&report), crate::sarif(&report, "0"));
    }
}
