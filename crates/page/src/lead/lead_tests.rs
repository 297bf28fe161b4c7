use super::*;
use crate::Page;

const LENGTH: RangeInclusive<usize> = 50..=160;

fn leads_of(pages: &[&str]) -> Vec<Option<String>> {
    let pages: Vec<SitePage> = pages
        .iter()
        .enumerate()
        .map(|(index, html)| SitePage { path: format!("/{index}.html"), page: Page::read(html.as_bytes()) })
        .collect();
    leads(&pages, &LENGTH)
}

#[test]
fn takes_whole_sentences_from_the_first_paragraph_below_the_heading() {
    let html = "<title>Mugs</title><table><tr><td><a href=a>Prev</a></td><td><a href=b>Next</a></td></tr></table>\
                <p>Welcome, dear visitor, to the pages of our lovely little studio here.</p><h1>Mugs</h1>\
                <p><a href=/>Home</a> | <a href=/mugs>Mugs</a> | <a href=/plates>Plates</a></p>\
                <p>Each mug is thrown, glazed and fired in our own studio, e.g. in Leeds. Order by noon, and it \
                leaves on the same day. A third sentence makes it much too long for a search engine to show.</p>";
    let expected = "Each mug is thrown, glazed and fired in our own studio, e.g. in Leeds.";
    assert_eq!(leads_of(&[html]), [Some(expected.to_owned())]);
}

#[test]
fn only_the_first_paragraph_describes_the_page() {
    let later = "<p>The second paragraph is about a detail that nobody looks for on this page.</p>";
    for first in [
        "<p>Too short.</p>".to_owned(),
        "<p>The plpy module also provides the functions</p>".to_owned(),
        format!("<p>{}.</p>", "A sentence that is much too long to be shown ".repeat(6)),
        "<ul><li>An item of a list</ul>".to_owned(),
        "<table><tr><th>Name</th><th>Type</th></tr><tr><td>a</td><td>b</td></tr></table>".to_owned(),
    ] {
        assert_eq!(leads_of(&[&format!("<h1>Utility functions</h1>{first}{later}")]), [None], "{first}");
    }
    let command = "<h1>drop_mug</h1><p>drop_mug — break a mug</p><h2>Synopsis</h2><pre>drop_mug [ --all ] { name | id }</pre>\
                   <h2>Description</h2><p>drop_mug removes an existing mug from the shelf, with its saucer.</p>";
    let expected = "drop_mug removes an existing mug from the shelf, with its saucer.";
    assert_eq!(leads_of(&[command]), [Some(expected.to_owned())]);
    let dated =
        "<h1>News</h1><p>3 May 2026</p><p>The new kiln is here, and it fires twice as many mugs a day.</p>";
    assert_eq!(
        leads_of(&[dated])[0].as_deref(),
        Some("The new kiln is here, and it fires twice as many mugs a day.")
    );
}

#[test]
fn a_sentence_in_another_script_describes_no_page() {
    let english = "There are some utility programs to help your console activities.";
    assert_eq!(opening(english, "第9章 システムに関するティップ", &LENGTH), None);
    assert!(opening(english, "Chapter 9. Tips", &LENGTH).is_some());
    let japanese = "また、この章では Debian システムの管理に役立つ様々なティップを紹介します。コンソールの操作を助けるユーティリティーもあります。";
    assert_eq!(opening(japanese, "第9章", &LENGTH), None, "it goes on from a sentence before");
    assert!(opening(japanese.trim_start_matches("また、"), "第9章", &LENGTH).is_some());
}

/// Pages of the shapes that old documentation has: navigation in tables, frames, other encodings.
#[test]
fn pages_of_old_shapes_get_their_own_sentences_or_none() {
    let navigation = |name: &str, text: &str| {
        format!(
            "<html><head><title>{name}</title></head><body><div class=navheader><table><tr><th colspan=3>The Manual</th></tr>\
             <tr><td><a href=a>Prev</a></td><th>Chapter 1. Basics</th><td><a href=b>Next</a></td></tr></table></div>\
             <h2>{name}</h2>{text}<div class=navfooter><a href=a>Prev</a> <a href=up>Up</a> <a href=b>Next</a></div></body></html>"
        )
    };
    let mugs = navigation(
        "1.1. Mugs",
        "<p>This section describes how a mug is thrown on the wheel and trimmed.</p>",
    );
    let empty = navigation(
        "1.2. Contents",
        "<dl class=toc><dt><a href=1>1.1. Mugs</a><dt><a href=2>1.2. Jugs</a></dl>",
    );
    let frames = "<title>The Manual</title><frameset cols='20%,*'><frame src=menu.html><frame src=mugs.html>\
                  <noframes><body>Your browser shows no frames. <a href=menu.html>Go to the menu.</a></noframes></frameset>";
    let pages = [mugs.into_bytes(), empty.into_bytes(), frames.as_bytes().to_vec(), {
        let html = "<meta charset=shift_jis><title>器</title><h1>器</h1><p>この章では、器をろくろで作り、釉薬をかけて窯で焼くまでのすべての手順を、順を追って初心者にも分かりやすく説明します。</p>";
        encoding_rs::SHIFT_JIS.encode(html).0.into_owned()
    }];
    let pages: Vec<SitePage> =
        pages.iter().map(|bytes| SitePage { path: String::new(), page: Page::read(bytes) }).collect();
    let found = leads(&pages, &LENGTH);
    assert_eq!(
        found[0].as_deref(),
        Some("This section describes how a mug is thrown on the wheel and trimmed.")
    );
    assert_eq!(found[1..3], [None, None]);
    assert!(found[3].as_deref().is_some_and(|text| text.starts_with("この章では、器を")), "{:?}", found[3]);
}

#[test]
fn a_paragraph_of_several_pages_describes_none_of_them() {
    let shared = "<p>We are a family business from Leeds that has made pots since the year 1975.</p>";
    let own = |what: &str| {
        format!(
            "<h1>{what}</h1>{shared}<p>Our {what} hold hot tea for hours and never lose their colour.</p>"
        )
    };
    let (mugs, jugs) = (own("Mugs"), own("Jugs"));
    let found = leads_of(&[&mugs, &jugs, &format!("<h1>About us</h1>{shared}"), "<h1>Help</h1>"]);
    assert_eq!(found[0].as_deref(), Some("Our Mugs hold hot tea for hours and never lose their colour."));
    assert_eq!(found[1].as_deref(), Some("Our Jugs hold hot tea for hours and never lose their colour."));
    assert_eq!(found[2..], [None, None]);
    let first = "Everything in this shop is made by hand in Leeds, and by nobody else.";
    let page = |rest: &str| {
        format!(
            "<h1>{rest}</h1><p>{first} {rest}, and that is a very long story which goes on for a good while and much longer than any search engine would ever show to anybody.</p>"
        )
    };
    assert_eq!(leads_of(&[&page("Mugs"), &page("Jugs")]), [None, None], "the same first sentence");
}

#[test]
fn what_describes_no_page_is_not_taken() {
    for paragraph in [
        "",
        "Skip to content Home Products About us Contact Blog Careers Press Imprint and privacy",
        "Home | Products | About us | Contact | Blog. More | Careers | Press | Imprint | Privacy.",
        "Home » Products » Mugs for tea and coffee that are made by hand in our studio.",
        "We use cookies to give you the best experience on our website. Please accept all of them.",
        "Skip to the main content of this page, or to the navigation below the content.",
        "Copyright 2020 by the studio of Leeds. All rights reserved. No part may be copied.",
        "the rest of a sentence that began in a line before, which nobody can see any more.",
        "This sentence was cut off somewhere in the middle, as a summary of a feed often is…",
        "This sentence was cut off somewhere in the middle, as a summary of a feed often is...",
        "The following options are known to the command, and each of them is explained below:",
        "An example of such a mug can be found in the window of our studio, on the left.",
        "In the previous chapter, we have covered how a mug is thrown on the wheel and fired.",
        "While the kiln is hot, it is not possible for anybody to take a mug out of it.",
        "However, the second kind of mug has a handle that is a little larger than the first.",
        "See https://shop.example/mugs for more about the mugs that we make here by hand.",
        "function open() { return document.title; } closes the window that was opened before.",
        "Too short a text.",
        "Mugs made by hand in Leeds. Mugs made by hand in Leeds. Mugs made by hand in Leeds.",
        "Bring these (and only these to the studio when you come for the very first time.",
    ] {
        assert_eq!(opening(paragraph, "Mugs made by hand in Leeds", &LENGTH), None, "{paragraph}");
    }
}

#[test]
fn a_sentence_is_never_cut() {
    let two = "Our mugs are small. They hold hot tea for hours, and never lose their colour. A third one.";
    assert_eq!(opening(two, "A title", &LENGTH).as_deref(), two.strip_suffix(" A third one."));
    let long = format!("This one sentence {} never ends.", "goes on and ".repeat(20));
    assert_eq!(opening(&long, "A title", &LENGTH), None);
    for text in [
        "Am 3. Mai zeigt Dr. Ada Weber z. B. Vasen und Schalen aus dem Holzofen in Graz.",
        "Der Preis beträgt 3.50 Euro pro Stück, und der Versand ist ab 20 Euro kostenlos.",
        "本章介绍如何创建用于保存数据的数据库结构，并说明在关系数据库中表是怎样组织的。我们还会介绍如何控制表中存放的数据以及相关的约束。",
        "Эта глава описывает, как создаются структуры базы данных, в которых хранятся данные.",
        "هذه الصفحة تشرح كيف نصنع الأكواب بأيدينا في الورشة، وكيف يمكنك طلبها من المتجر؟",
    ] {
        assert_eq!(opening(text, "Titel", &LENGTH).as_deref(), Some(text));
    }
}

proptest::proptest! {
    #[test]
    fn an_opening_is_within_its_length_and_its_own_opening(text in "([A-Za-z.!? (|;0-9]{0,40}|[一-三。 ]{0,60}|\\PC{0,20}){0,6}") {
        if let Some(opened) = opening(&text, "Mugs", &LENGTH) {
            assert!(LENGTH.contains(&opened.chars().count()) && text.contains(&opened));
            assert_eq!(opening(&opened, "Mugs", &LENGTH), Some(opened));
        }
    }
}
