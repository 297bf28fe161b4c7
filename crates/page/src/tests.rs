//! Tests of the reader with small pages, one for each rule.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn read(html: &str) -> Page {
    Page::read(html.as_bytes())
}

/// Asserts the text of each page, with `|` between its lines.
fn texts(cases: &[(&str, &str)]) {
    for (html, expected) in cases {
        assert_eq!(read(html).text().replace('\n', "|"), *expected, "{html}");
    }
}

#[test]
fn tags_that_a_browser_adds_may_be_left_out() {
    let page = read("<!doctype html><title>Returns</title><p>Send it back within 30 days.");
    assert_eq!(page.head.title.as_deref(), Some("Returns"));
    assert_eq!(page.text(), "Send it back within 30 days.");
    texts(&[
        ("Only text", "Only text"),
        ("<main>a</main> b", "a"),
        ("<body>a<p>b", "a|b"),
        ("<head><title>t</title></head>a", "a"),
        ("<table><tr><td>a</table>b", "a|b"),
        ("<p>a<div>b<li>c", "a|b|- c"),
        ("<title>a</title><frameset><frame src=a></frameset>", ""),
    ]);
}

#[test]
fn escaped_markup_is_text() {
    texts(&[
        (
            "<p>Put the &lt;script&gt; line before the end.</p><p>Returns take 30 days.</p>",
            "Put the <script> line before the end.|Returns take 30 days.",
        ),
        (
            "Array&lt;string&gt; &lt;!-- &amp;lt; Ann &lt;ann@shop.example&gt;",
            "Array<string> <!-- &lt; Ann <ann@shop.example>",
        ),
    ]);
}

#[test]
fn blocks_are_never_glued_together() {
    texts(&[
        (
            "<table><tr><td>Monday</td><td>9-18</td></tr><tr><td>Small</td><td>12</td></tr></table>",
            "Monday 9-18|Small 12",
        ),
        ("<label>Size <select><option>S</option><option>M</option></select></label> now", "Size S, M now"),
        ("<a>Home</a><a>Shop</a>", "Home Shop"),
        ("<p>See <a>here</a>, and (<a>there</a>).</p>", "See here, and (there)."),
        ("<div>accept</div>Start<article>New</article>Old", "accept|Start|New|Old"),
        ("<div>one</div>two<div>three</div>", "one|two|three"),
        ("<li><span>Monday</span><span>9-18</span></li>", "- Monday 9-18"),
        ("<h2><span>B</span><span>l</span><span>ue</span></h2>", "## Blue"),
        ("<x-name>Mug</x-name><x-price>24</x-price>", "Mug 24"),
        ("<p>Street 1<br>12345 City</p>", "Street 1|12345 City"),
        (
            "<p>un<b>believ</b>able H<sub>2</sub>O 2<sup>31</sup> m<sup>2</sup> dis&shy;play</p>",
            "unbelievable H2O 2^31 m2 display",
        ),
        ("<p>東京\nです。\nTokyo\n東京 です <a></a><a>a</a>", "東京です。 Tokyo 東京 です a"),
        ("<a id=x />は<a href=/>本</a>", "は本"),
        ("<pre>one  two\n  three</pre>", "one two|three"),
    ]);
}

#[test]
fn headings_lists_terms_and_questions_keep_their_structure() {
    texts(&[
        ("<h1>Mugs<br>and cups</h1><h3><button>Care</button></h3>", "# Mugs and cups|### Care"),
        ("<p># 5 is ready</p>", " # 5 is ready"),
        ("<p>You need:</p><ul><li>clay</li><li>water</li></ul>", "You need: clay; water"),
        (
            "<p>You need</p><ul><li>clay<ul><li>red</li></ul></li><li>water</li></ul>",
            "You need|- clay|- red|- water",
        ),
        ("<dl><dt>Term<dd>Meaning<dd>Another<dt>Alone</dl>x", "Term: Meaning|Another|Alone|x"),
        ("<dl><dt>-a<br>--all<dd>All.</dl>", "-a, --all: All."),
        ("<dl><dt>Colours<dd><ul><li>red<li>blue</ul></dl>", "Colours: red; blue"),
        ("<details><summary>Do you ship?</summary>Yes.</details>", "Do you ship? Yes."),
        (
            "<details><summary>Delivery</summary><p>In a week.</p><p>Abroad.</p></details>",
            "Delivery: In a week.|Abroad.",
        ),
    ]);
}

#[test]
fn cells_have_the_headers_of_their_columns_and_rows() {
    texts(&[
        (
            "<table><tr><th>Country<th>Price<tr><td>Germany<td>4.90 €<tr><td>Austria<td>7.90 €</table>",
            "Country: Germany · Price: 4.90 €|Country: Austria · Price: 7.90 €",
        ),
        (
            "<table><caption>Shipping</caption><thead><tr><td><th>Mon<th>Tue</thead><tr><th>Oven<td>9-12<td></table>",
            "Shipping|Oven · Mon: 9-12",
        ),
        (
            "<table><tr><td><b>Country</b><td><b>Price</b><tr><td>Germany<td>5</table>",
            "Country: Germany · Price: 5",
        ),
        ("<table><tr><th>Monday<td>9-18<tr><th>Sunday:<td>closed</table>", "Monday: 9-18|Sunday: closed"),
        (
            "<table><tr><th>Dish<th>Nuts<th>Milk<tr><td>Cake<td><td>yes<tr><td>Pie<td><img alt=yes><td></table>",
            "Dish: Cake · Milk: yes|Dish: Pie · Nuts: yes",
        ),
        (
            "<table><tr><th rowspan=2>Size<th colspan=2>Price<tr><th>EU<th>World<tr><td rowspan=2>S<td>1<td>2<tr><td>3<td>4</table>",
            "Size: S · Price EU: 1 · Price World: 2|Size: S · Price EU: 3 · Price World: 4",
        ),
        (
            "<table><tr><th>Day<th>Hours<tr><td colspan=2>Summer<tr><td>Mon<td>9<br>18</table>",
            "Summer|Day: Mon · Hours: 9 18",
        ),
        ("<table><tr><td><h2>News</h2><p>a</p><td>b</table>", "## News|a|b"),
        ("<table><tr><th colspan=2>Title</th><tr><td>a<td>b</table>", "Title|a b"),
        ("<table role=presentation><tr><td>a<td>b</table>", "a|b"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a b|c"),
    ]);
}

#[test]
fn what_is_not_for_readers_is_left_out() {
    texts(&[
        ("<p hidden>x</p><p style='color:red; DISPLAY : none !important'>x</p><p>a", "a"),
        ("<p style='visibility:hidden'>x</p><i aria-hidden=true>x</i><template><p>x</template>a", "a"),
        (
            "<dialog>x</dialog><noscript>x</noscript><svg><text>x</text></svg><script>x</script><style>x</style>a",
            "a",
        ),
        ("<nav><a href=/>Home</a></nav><div role=navigation>x</div><p>a", "a"),
        ("<a class=skip-link href=#main>Skip to content</a><p>a", "a"),
        (
            "<div class=header><table><tr><th colspan=3>Mugs<tr><td><a href=/>Prev</a><th>1.<td><a href=/>Next</a></table></div>a",
            "Mugs|a",
        ),
        ("<div id=cookie-banner>We use cookies. <button>Accept</button></div><p>a", "a"),
        ("<div id=onetrust-consent-sdk><p>Cookies?</p><a href=/p>More</a></div><p>a", "a"),
        ("<div role=dialog>Diese Seite verwendet Cookies <button>OK</button></div><p>a", "a"),
        (
            "<header><a href=/>Home</a><h1>Mugs</h1></header><p>a<footer>Our studio<p>© 2026<p><a href=/>Imprint 1</a></footer>",
            "# Mugs|a",
        ),
        ("<main>a</main><footer><p>Open 9-18</p>Our studio</footer>", "a|Open 9-18"),
    ]);
    // Biscuits are content, and so is the only text of a page.
    texts(&[
        ("<div class=cookie-box>Our cookies: <a href=/buy>buy</a></div><p>a", "Our cookies: buy|a"),
        (
            "<article class=cookie-notice>How we use cookies. <a>More</a></article>",
            "How we use cookies. More",
        ),
        ("<nav><a href=/>Home</a></nav>", "Home"),
        ("<div aria-hidden=true>Text</div>", "Text"),
        ("<h2>Mugs <a href=#mugs>¶</a></h2><a href=/>Home</a> &gt; <a href=/a>Shop</a>", "## Mugs"),
        ("<p hidden=until-found>Text</p>", "Text"),
    ]);
}

#[test]
fn a_page_describes_itself_in_its_head() {
    let head = read(
        "<html lang=' de '><head><title> A \n <b>&amp; </title><title>second</title>
         <META NAME=Description CONTENT=' Mugs&#10;by hand '><link rel='x CANONICAL' href=/mugs>
         <link rel=alternate hreflang=en href=/en><meta property=og:title content=T><meta name=OG:image content=i>
         <base href=/shop/><script type=application/ld+json> {\"a\":1} </script></head>
         <svg><title>not this</title></svg><template><meta name=robots content=noindex></template>",
    )
    .head;
    let expected = Head {
        title: Some("A <b>&".to_owned()),
        description: Some("Mugs by hand".to_owned()),
        language: Some("de".to_owned()),
        canonical: Some("/mugs".to_owned()),
        base: Some("/shop/".to_owned()),
        alternates: vec![Alternate { language: "en".to_owned(), href: "/en".to_owned() }],
        open_graph: vec![("title".to_owned(), "T".to_owned()), ("image".to_owned(), "i".to_owned())],
        structured_data: vec!["{\"a\":1}".to_owned()],
        ..Head::default()
    };
    assert_eq!(head, expected);
    let language = |html: &str| read(html).head.language;
    assert_eq!(language("<html xml:lang=pl>").as_deref(), Some("pl"));
    assert_eq!(language("<meta http-equiv=Content-Language content=fr>").as_deref(), Some("fr"));
    assert_eq!(language("<html lang=''>"), None);
}

#[test]
fn robots_are_told_in_every_form() {
    for html in [
        "<meta name=ROBOTS content=NOINDEX>",
        "<meta name=robots content=none>",
        "<meta name=robots content=noindex><meta name=robots content=max-image-preview:large>",
        "<meta name=googlebot content='nofollow,noindex'>",
        "<body><meta name=robots content='noindex nofollow'>",
    ] {
        assert!(read(html).head.is_noindex(), "{html}");
    }
    for html in [
        "<meta name=robots content='index, nofollow, max-snippet:50'>",
        "<meta name=bingbot content=noindex>",
    ] {
        assert!(!read(html).head.is_noindex(), "{html}");
    }
    for (value, expected) in [
        ("noindex", true),
        ("googlebot: noindex, nofollow", true),
        ("max-snippet:50, noindex", true),
        ("otherbot: noindex", false),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST", false),
    ] {
        let headers = Headers { robots: &[value], ..Headers::default() };
        assert_eq!(Page::read_response(b"", headers).head.is_noindex(), expected, "{value}");
    }
}

#[test]
fn the_outline_has_headings_links_and_pictures() {
    let outline = read(
        "<nav><a href=' /a ' rel='NoFollow me'>A  <b>b</b></a><a>no address</a></nav><h2>Two</h2>
         <img src=x alt=''><img src=y><p hidden><a href=/secret>x</a></p>",
    )
    .outline;
    let link = Link { href: "/a".to_owned(), text: "A b".to_owned(), is_nofollow: true };
    assert_eq!(outline.links, [link]);
    assert_eq!(outline.headings, [Heading { level: 2, text: "Two".to_owned() }]);
    let image = |src: &str, alt: Option<&str>| Image { src: src.to_owned(), alt: alt.map(str::to_owned) };
    assert_eq!(outline.images, [image("x", Some("")), image("y", None)]);
}

#[test]
fn pages_are_read_in_their_encoding() {
    let text = "Unsere Öffnungszeiten: Größe";
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(text);
    let with_meta = [b"<meta charset=iso-8859-1><p>".as_slice(), &latin].concat();
    assert_eq!(Page::read(&with_meta).text(), text);
    assert_eq!(Page::read(&latin).text(), text);
    for (label, text) in [
        ("windows-1251", "Срочно"),
        ("shift_jis", "東京ソース"),
        ("gbk", "营业时间"),
        ("iso-2022-jp", "きでけ<b>本</b>"),
    ] {
        let encoding = Encoding::for_label(label.as_bytes()).expect("an encoding");
        let html = format!("<meta charset={label}><title>{text}</title>");
        let (bytes, _, _) = encoding.encode(&html);
        assert_eq!(Page::read(&bytes).head.title.as_deref(), Some(text), "{label}");
    }
    let utf_16: Vec<u8> = format!("\u{feff}<p>{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(Page::read(&utf_16).text(), text);
    assert_eq!(
        Page::read_response(
            "<p>ж".as_bytes(),
            Headers { content_type: Some("text/html; charset=utf-8"), robots: &[] }
        )
        .text(),
        "ж"
    );
}

#[test]
fn html_is_told_from_text() {
    for html in ["<p>a", "a<br>b", "a <b>b</b>", "<!DOCTYPE html>a", "x <img src=a>"] {
        assert!(is_html(html), "{html}");
    }
    for text in [
        "",
        "Put the <script> line",
        "Ann <ann@shop.example>",
        "a<b and c>d",
        "size <b>",
        "</3",
        "Array<string>",
    ] {
        assert!(!is_html(text), "{text}");
    }
    assert_eq!(text_of_html("<h2>A</h2>b"), "## A\nb");
}

#[test]
fn pages_of_hostile_shape_take_linear_time() {
    let depth = 50_000;
    let joined = |parts: Vec<String>| parts.concat();
    let attributes = |count: usize| joined((0..count).map(|number| format!("a{number} ")).collect());
    let began = Instant::now();
    for shape in [
        "<div>".repeat(depth),
        format!("<body>{}{}", "<main><p>".repeat(depth), "</p></main>".repeat(depth)),
        "<p><b><i><a href=x><table>".repeat(depth),
        joined((0..depth).map(|number| format!("<p><b a={number}>x</p>")).collect()),
        "<head><title>".repeat(depth),
        format!("<body {}='{}'>x", "a".repeat(1 << 20), "b".repeat(4 << 20)),
        format!("<body {}>x", "a=b ".repeat(depth)),
        format!("<body {}>x", attributes(200_000)),
        format!("<body {}>x", attributes(200_000).replace(' ', "/")),
        format!("<p {}", attributes(400).replace(' ', "='>'<")).repeat(100),
        format!("<meta name=description content='{}'>", "&amp;".repeat(depth)),
        "<".repeat(1 << 20),
        "<!--".repeat(1 << 18),
        format!("<title>{}", "\0\u{fffd}&#x110000;&#xd800;".repeat(1 << 16)),
        format!("<svg>{}", "<![CDATA[".repeat(1 << 18)),
        "<span>a</span>".repeat(depth),
        format!("{}a", "<span>ab</span><span>".repeat(depth)),
        "<table><tr><td>".repeat(depth),
        format!("<table>{}", "<tr><td colspan=1000 rowspan=60000>a".repeat(2000)),
        "<ul><li>a:".repeat(depth),
        "<select><option>a".repeat(depth),
        "<dl><dt>a<dd>".repeat(depth),
        "<div role=dialog><a>cookie".repeat(depth),
    ] {
        let page = read(&shape);
        assert!(page.lines.iter().all(|line| !line.text.trim().is_empty()));
        let _ = replace_in_head(shape.as_bytes(), "<title>x</title>", |element| element.name() == "title");
    }
    // Quadratic time would be minutes: this is a bound for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
}

proptest! {
    #[test]
    fn any_text_survives_its_escape(text in "[ -~äß青]{0,60}") {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        let read = read(&format!("<p>{escaped}</p>"));
        prop_assert_eq!(without_marks(&marked(&read.text())), text.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn replacing_nothing_changes_nothing_but_one_place(
        parts in proptest::collection::vec("(</?(html|head|body|title|p|br|svg|script|style|table|!--)( a='>)?[ />]?|-->|[a-z <>&'\"]{0,6})", 0..20),
    ) {
        let page = parts.concat();
        let written = replace_in_head(page.as_bytes(), "@@", |_| false).expect("a page within all bounds");
        let written = String::from_utf8(written).expect("UTF-8");
        prop_assert_eq!(written.matches("@@").count(), 1);
        prop_assert_eq!(written.replace("@@", ""), page);
    }
}
