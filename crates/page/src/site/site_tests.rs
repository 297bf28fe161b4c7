//! What all pages of a site together show.

use super::*;

fn site(pages: &[(&str, &str)]) -> Vec<SitePage> {
    pages
        .iter()
        .map(|(path, html)| SitePage { path: (*path).to_owned(), page: Page::read(html.as_bytes()) })
        .collect()
}

#[test]
fn lines_that_repeat_across_a_site_are_left_out() {
    let frame = |title: &str, content: &str| {
        format!(
            "<div id=menu><a href=/>Home</a> <a href=/a>Mugs</a></div><div>Pottery by hand</div><h1>{title}</h1>\
             <p>{content}</p><h2>Price</h2><p>24 €</p><h2>Visit us</h2><p>Leeds, <a href=/map>map</a></p>\
             <footer>Open 9-18</footer>"
        )
    };
    let pages: Vec<(String, String)> = (0..10)
        .map(|number| {
            (format!("/shop/{number}"), frame(&format!("Mug {number}"), &format!("Number {number}.")))
        })
        .chain([("/".to_owned(), frame("Welcome", "All by hand."))])
        .collect();
    let listed: Vec<(&str, &str)> = pages.iter().map(|(path, html)| (path.as_str(), html.as_str())).collect();
    let mut pages = site(&listed);
    leave_out_repeated(&mut pages);
    assert_eq!(pages[3].page.text(), "# Mug 3\nNumber 3.\n## Price\n24 €");
    let home = pages[10].page.text();
    assert_eq!(
        home,
        "Pottery by hand\n# Welcome\nAll by hand.\n## Price\n24 €\n## Visit us\nLeeds, map\nOpen 9-18"
    );

    let mut two = site(&listed[..2]);
    let before: Vec<String> = two.iter().map(|page| page.page.text()).collect();
    leave_out_repeated(&mut two);
    assert_eq!(two.iter().map(|page| page.page.text()).collect::<Vec<_>>(), before);
}

#[test]
fn what_half_of_the_products_share_stays() {
    let html = |number| {
        format!(
            "<h1>Mug {number}</h1><p>Contains nuts</p><p>{}</p>",
            if number < 7 { "Glazed" } else { "Raw" }
        )
    };
    let pages: Vec<(String, String)> = (0..10).map(|number| (format!("/{number}"), html(number))).collect();
    let mut pages =
        site(&pages.iter().map(|(path, html)| (path.as_str(), html.as_str())).collect::<Vec<_>>());
    for page in pages.iter_mut().take(2) {
        page.page.lines.remove(1);
    }
    leave_out_repeated(&mut pages);
    assert_eq!(pages[5].page.text(), "# Mug 5\nContains nuts\nGlazed");
}

#[test]
fn a_page_that_refers_its_readers_elsewhere_is_a_duplicate() {
    let canonical = |address: &str| format!("<link rel=canonical href='{address}'>x");
    for (path, html, expected) in [
        ("/b.html", canonical("https://shop.example/a.html"), true),
        ("/b.html", canonical("/elsewhere"), true),
        ("/b.html", canonical("https://other.example/news/7"), true),
        ("/b.html", canonical("https://www.other.example/b.html"), false),
        ("/b.html", canonical("https://shop.example/b/"), false),
        ("/b.html", canonical("https://user.pages.example/project/b"), false),
        ("/news", canonical("/news/index.html?utm=1"), false),
        ("/news", canonical("./"), false),
        ("/c/a.html", canonical("/a.html"), true),
        ("/a%20b.html", canonical("/a b.html"), false),
        ("/", canonical("https://pages.example/project/"), false),
        ("/", canonical("/a"), true),
        ("/b.html", "<meta http-equiv=Refresh content='0;URL=\"/a.html\"'>".to_owned(), true),
        ("/b.html", "<meta http-equiv=refresh content='5; /a.html'>".to_owned(), true),
        ("/b.html", "<meta http-equiv=refresh content='30; url=b.html'>".to_owned(), false),
        ("/b.html", "<meta http-equiv=refresh content='300; url=/a.html'>".to_owned(), false),
        ("/b.html", "<meta http-equiv=refresh content=5>".to_owned(), false),
    ] {
        let pages = site(&[("/a.html", "x"), (path, &html)]);
        assert_eq!(duplicates(&pages, "https://shop.example").contains(&1), expected, "{path} {html}");
    }
}
