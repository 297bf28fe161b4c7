use chat_protocol::ContentKind;
use chat_protocol::admin::publishing::{Before, Entry, EntryKind, SyncedPage, check};

use super::*;

const LEAD: &str = "Each mug is thrown, glazed and fired in our own studio in Leeds.";
const TITLE: &str = "Mugs made by hand in Leeds";

fn good() -> PageHead {
    PageHead {
        title: Some(TITLE.to_owned()),
        description: Some(
            "Mugs from our studio, in six glazes. Order by noon and it leaves today.".to_owned(),
        ),
        open_graph: vec![
            ("title".to_owned(), "Mugs".to_owned()),
            ("description".to_owned(), "Own".to_owned()),
        ],
        lead: Some(LEAD.to_owned()),
        ..PageHead::default()
    }
}

fn item(head: Option<PageHead>) -> ContentItem {
    ContentItem {
        path: Some("/mugs".to_owned()),
        url: Some("https://shop.example/mugs".to_owned()),
        title: Some(TITLE.to_owned()),
        data: head.map_or(Value::Null, PageHead::into_data),
        ..ContentItem::new("1", ContentKind::Page)
    }
}

fn suggested(change: impl FnOnce(&mut PageHead)) -> Suggestion {
    let mut head = good();
    change(&mut head);
    Suggestion::of(&item(Some(head))).expect("a path")
}

fn reasons(suggestion: &Suggestion) -> Vec<(Field, Fault, TextSource)> {
    suggestion.because.iter().map(|because| (because.field, because.fault, because.source)).collect()
}

#[test]
fn a_page_that_lacks_nothing_and_one_whose_head_is_unknown_get_nothing() {
    assert!(!suggested(|_| ()).overlay.has_content());
    assert!(!Suggestion::of(&item(None)).expect("a path").overlay.has_content());
    assert_eq!(Suggestion::of(&ContentItem { path: None, ..item(Some(good())) }), None);
}

#[test]
fn a_missing_description_is_the_beginning_of_the_page_and_composed() {
    let suggestion = suggested(|head| head.description = None);
    assert_eq!(suggestion.overlay.description.as_deref(), Some(LEAD));
    assert_eq!(suggestion.overlay.title, None);
    assert_eq!(reasons(&suggestion), [(Field::Description, Fault::Missing, TextSource::Composed)]);
    for lead in [None, Some("Home | Mugs | Plates | About us | Contact | Imprint | Privacy."), Some("Short.")]
    {
        let lead = lead.map(str::to_owned);
        let nothing = suggested(|head| (head.description, head.lead) = (None, lead));
        assert_eq!(nothing.because, []);
    }
}

#[test]
fn a_description_that_is_there_stays_unless_it_repeats_the_title() {
    for own in ["Short.".to_owned(), "x".repeat(400), "Home Mugs Plates".to_owned()] {
        assert_eq!(suggested(|head| head.description = Some(own)).because, []);
    }
    let repeated = suggested(|head| head.description = Some("mugs made by  hand in Leeds.".to_owned()));
    assert_eq!(reasons(&repeated), [(Field::Description, Fault::RepeatsTitle, TextSource::Composed)]);
}

#[test]
fn a_missing_title_is_the_heading_and_a_long_one_is_never_cut() {
    let untitled = suggested(|head| head.title = None);
    assert_eq!(untitled.overlay.title.as_deref(), Some(TITLE));
    assert_eq!(reasons(&untitled), [(Field::Title, Fault::Missing, TextSource::Page)]);
    assert_eq!(suggested(|head| head.title = Some("word ".repeat(40))).because, []);
    let mut long = item(Some(PageHead { title: None, ..good() }));
    long.title = Some("word ".repeat(40));
    assert_eq!(Suggestion::of(&long).expect("a path").because, []);
    let nameless = ContentItem { title: None, ..item(Some(PageHead { title: None, ..good() })) };
    let nameless = Suggestion::of(&nameless).expect("a page without a title is looked at too");
    assert_eq!((nameless.title.as_str(), nameless.because.as_slice()), ("/mugs", &[][..]));
}

#[test]
fn the_preview_gets_only_the_properties_that_it_lacks() {
    let none = suggested(|head| head.open_graph.clear());
    let names: Vec<&str> = none.overlay.open_graph.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["title", "description"]);
    assert_eq!(reasons(&none), [(Field::OpenGraph, Fault::Missing, TextSource::Page)]);
    let half = suggested(|head| head.open_graph.truncate(1));
    assert_eq!(half.overlay.open_graph, [("description".to_owned(), good().description.expect("one"))]);
    let without_text = suggested(|head| {
        head.open_graph.clear();
        (head.description, head.lead) = (None, None);
    });
    assert_eq!(without_text.because, [], "a title alone is what networks show anyway");
    let composed = suggested(|head| {
        head.open_graph.truncate(1);
        head.description = None;
    });
    assert_eq!(composed.because[1].source, TextSource::Composed);
}

#[test]
fn a_canonical_address_is_replaced_only_if_nobody_can_open_it() {
    let canonical = |own: &str| suggested(|head| head.canonical = Some(own.to_owned())).overlay.canonical_url;
    for own in [
        "https://x.example/mugs.html",
        "/mugs",
        "mugs?a",
        "http://shop.example/mugs",
        "http://localhost/else",
        "",
    ] {
        assert_eq!(canonical(own), None, "{own}");
    }
    for own in [
        "http://localhost:1313/mugs/",
        "http://127.0.0.1/mugs/#top",
        "http://[::1]:80/mugs/",
        "https://dev.localhost/mugs/",
    ] {
        assert_eq!(canonical(own).as_deref(), Some("https://shop.example/mugs/"), "{own}");
    }
}

#[test]
fn a_page_that_hides_or_redirects_gets_nothing() {
    for change in [(|head: &mut PageHead| head.redirect = true) as fn(&mut PageHead), |head| {
        head.robots = vec!["none".to_owned()];
    }] {
        let suggestion = suggested(|head| {
            (head.description, head.title) = (None, None);
            change(head);
        });
        assert_eq!(suggestion.because, []);
    }
}

#[test]
fn what_is_published_is_not_suggested_again_and_stays() {
    let bare = |head: &mut PageHead| (head.description, head.open_graph) = (None, Vec::new());
    let mut first = suggested(bare);
    assert!(first.add_to(None));
    let published = first.body();
    assert!(!suggested(bare).add_to(Some(&published)), "publishing and syncing again makes no draft");
    let mut more = suggested(|head| {
        bare(head);
        head.title = None;
    });
    assert!(more.add_to(Some(&published)));
    assert_eq!(reasons(&more), [(Field::Title, Fault::Missing, TextSource::Page)]);
    assert_eq!((more.overlay.description.as_deref(), more.overlay.open_graph.len()), (Some(LEAD), 2));
}

#[test]
fn the_checks_find_nothing_in_what_is_suggested() {
    let suggestion = suggested(|head| (head.title, head.description) = (None, None));
    let head = PageHead { title: None, description: None, ..good() };
    let page = SyncedPage { head: Some(head), ..SyncedPage::default() };
    let before = Before { page: Some(page), overlay: Value::Null };
    let body = Value::from(&suggestion.body());
    let entry = Entry { kind: EntryKind::Overlay, path: "/mugs", locale: "", body: &body, before: &before };
    assert_eq!(check(&entry), []);
}
