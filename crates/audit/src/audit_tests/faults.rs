//! Faults that are planted into a clean site: each kind into five pages, in five languages.

use super::clean_site::{Files, LANGUAGES, ORIGIN, address, path, words};

/// A kind of fault: the rule that is to find it, and how it is planted into the page in a variant from 0 to
/// 4.
pub struct Fault {
    pub rule: &'static str,
    pub plant: fn(&mut Files, usize),
    /// Whether the finding belongs to another file than the page of the variant.
    pub elsewhere: bool,
}

/// Returns the page of a variant: another one in another language for each.
pub fn page(variant: usize) -> String {
    path(variant, variant)
}

fn edit(files: &mut Files, path: &str, change: impl FnOnce(&str) -> String) {
    let text = String::from_utf8(files[path].clone()).expect("UTF-8");
    let changed = change(&text);
    assert_ne!(changed, text, "nothing was planted into {path}");
    files.insert(path.to_owned(), changed.into_bytes());
}

fn swap(files: &mut Files, variant: usize, from: &str, to: &str) {
    edit(files, &page(variant), |text| text.replacen(from, to, 1));
}

/// Replaces what stands between two texts.
fn between(files: &mut Files, variant: usize, before: &str, after: &str, to: &str) {
    edit(files, &page(variant), |text| {
        let start = text.find(before).expect("a place") + before.len();
        let end = start + text[start..].find(after).expect("an end");
        format!("{}{to}{}", &text[..start], &text[end..])
    });
}

fn in_head(files: &mut Files, variant: usize, html: &str) {
    swap(files, variant, "</head>", &format!("{html}</head>"));
}

fn in_body(files: &mut Files, variant: usize, html: &str) {
    swap(files, variant, "</main>", &format!("{html}</main>"));
}

/// Returns the text between two others in a page.
fn part(files: &Files, path: &str, before: &str, after: &str) -> String {
    let text = String::from_utf8(files[path].clone()).expect("UTF-8");
    text.split(before).nth(1).and_then(|rest| rest.split(after).next()).expect("a part").to_owned()
}

const TITLE: (&str, &str) = ("<title>", "</title>");
const DESCRIPTION: (&str, &str) = ("<meta name=\"description\" content=\"", "\"");
const CANONICAL: (&str, &str) = ("<link rel=\"canonical\" href=\"", "\"");

/// The page beside that of a variant, in the same language.
fn neighbour(variant: usize) -> String {
    path((variant + 1) % 5, variant)
}

fn long(variant: usize, count: usize) -> String {
    words(&mut fastrand::Rng::with_seed(7), variant, count)
}

macro_rules! faults {
    ($($rule:literal $($elsewhere:ident)? => |$files:ident, $variant:ident| $plant:expr;)*) => {
        &[$(Fault { rule: $rule, plant: |$files, $variant| { $plant; }, elsewhere: faults!(@ $($elsewhere)?) }),*]
    };
    (@ elsewhere) => { true };
    (@) => { false };
}

pub const FAULTS: &[Fault] = faults! {
    "title-missing" => |files, v| between(files, v, TITLE.0, TITLE.1, "");
    "title-duplicate" => |files, v| {
        let title = part(files, &neighbour(v), TITLE.0, TITLE.1);
        between(files, v, TITLE.0, TITLE.1, &title);
    };
    "title-too-long" => |files, v| between(files, v, TITLE.0, TITLE.1, &long(v, 20));
    "title-cut" => |files, v| between(files, v, TITLE.0, TITLE.1, &format!("{}…", long(v, 3)));
    "title-multiple" => |files, v| in_head(files, v, "<title>Another</title>");
    "description-missing" => |files, v| between(files, v, DESCRIPTION.0, DESCRIPTION.1, "");
    "description-duplicate" => |files, v| {
        let text = part(files, &neighbour(v), DESCRIPTION.0, DESCRIPTION.1);
        between(files, v, DESCRIPTION.0, DESCRIPTION.1, &text);
    };
    "description-too-long" => |files, v| between(files, v, DESCRIPTION.0, DESCRIPTION.1, &long(v, 60));
    "description-too-short" => |files, v| between(files, v, DESCRIPTION.0, DESCRIPTION.1, &long(v, 2));
    "description-cut" => |files, v| between(files, v, DESCRIPTION.0, DESCRIPTION.1, &format!("{}...", long(v, 12)));
    "description-multiple" => |files, v| in_head(files, v, "<meta name=description content='Another one'>");
    "description-repeats-title" => |files, v| {
        let title = part(files, &page(v), TITLE.0, TITLE.1);
        between(files, v, DESCRIPTION.0, DESCRIPTION.1, &title);
    };
    "head-element-in-body" => |files, v| in_body(files, v, "<meta name=robots content=index>");
    "canonical-multiple" => |files, v| in_head(files, v, "<link rel=canonical href=/mugs.html?b>");
    "canonical-invalid" => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, "");
    "canonical-broken" => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, &format!("{ORIGIN}/gone.html"));
    "canonical-chain" => |files, v| {
        let (other, last) = (address((v + 1) % 5, v), address((v + 2) % 5, v));
        between(files, v, CANONICAL.0, CANONICAL.1, &other);
        edit(files, &neighbour(v), |text| text.replacen(&format!("{}{other}", CANONICAL.0), &format!("{}{last}", CANONICAL.0), 1));
    };
    "canonical-to-noindex" => |files, v| {
        between(files, v, CANONICAL.0, CANONICAL.1, &address((v + 1) % 5, v));
        edit(files, &neighbour(v), |text| text.replacen("</head>", "<meta name=robots content=noindex></head>", 1));
    };
    "canonical-and-noindex" => |files, v| {
        between(files, v, CANONICAL.0, CANONICAL.1, &address((v + 1) % 5, v));
        in_head(files, v, "<META NAME=ROBOTS CONTENT=NONE>");
    };
    "canonical-foreign-host" => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, "https://other.example/x");
    "canonical-relative" => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, &address(v, v)[ORIGIN.len()..]);
    "canonical-http" => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, &address(v, v).replace("https:", "http:"));
    "hreflang-invalid" => |files, v| in_head(files, v, &format!("<link rel=alternate hreflang={} href=/>", ["en-UK", "jp", "en_US", "xx", "english!"][v]));
    "hreflang-broken" => |files, v| in_head(files, v, "<link rel=alternate hreflang=fr href=/fr/gone.html>");
    "hreflang-conflict" => |files, v| in_head(files, v, &format!("<link rel=alternate hreflang={} href=/style.css>", LANGUAGES[(v + 1) % 5]));
    "hreflang-no-return" => |files, v| edit(files, &path(v, (v + 1) % 5), |text| {
        text.replacen(&format!("<link rel=\"alternate\" hreflang=\"{}\" href=\"{}\">", LANGUAGES[v], address(v, v)), "", 1)
    });
    "hreflang-no-self" => |files, v| swap(files, v, &format!("<link rel=\"alternate\" hreflang=\"{}\" href=\"{}\">", LANGUAGES[v], address(v, v)), "");
    "hreflang-not-canonical" => |files, v| edit(files, &path(v, (v + 1) % 5), |text| text.replacen("</head>", "<meta name=robots content=noindex></head>", 1));
    "lang-missing" => |files, v| swap(files, v, &format!(" lang=\"{}\"", LANGUAGES[v]), "");
    "lang-invalid" => |files, v| swap(files, v, &format!(" lang=\"{}\"", LANGUAGES[v]), &format!(" lang=\"{}\"", ["english", "de_DE", "zz", "jp", "a"][v]).replace("english", "e!"));
    "lang-mismatch" => |files, v| swap(files, v, &format!(" lang=\"{}\"", LANGUAGES[v]), &format!(" lang=\"{}\"", ["ru", "ja", "en", "th", "de"][v]));
    "viewport-missing" => |files, v| swap(files, v, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">", "");
    "viewport-blocks-zoom" => |files, v| swap(files, v, "initial-scale=1", ["initial-scale=1, user-scalable=no", "maximum-scale=1", "user-scalable=0", "maximum-scale=1.5", "initial-scale=1,maximum-scale=1.0"][v]);
    "charset-missing" => |files, v| swap(files, v, "<meta charset=\"utf-8\">", "");
    "encoding-broken" => |files, v| {
        let mut bytes = files[&page(v)].clone();
        let at = bytes.len() - 20;
        bytes.splice(at..at, [0xff, 0xc3]);
        files.insert(page(v), bytes)
    };
    "robots-conflict" => |files, v| in_head(files, v, "<meta name=robots content='index, follow'><meta name=robots content=noindex>");
    "og-incomplete" => |files, v| swap(files, v, ["og:title", "og:type", "og:url", "og:image", "og:title"][v], "og:locale");
    "og-missing" => |files, v| edit(files, &page(v), |text| text.replace("og:", "x:"));
    "og-url-conflict" => |files, v| between(files, v, "<meta property=\"og:url\" content=\"", "\"", &format!("{ORIGIN}/?share"));
    "og-image-not-absolute" => |files, v| between(files, v, "<meta property=\"og:image\" content=\"", "\"", "/mug.png");
    "twitter-card-invalid" => |files, v| swap(files, v, "content=\"summary\"", "content=\"big\"");
    "h1-missing" => |files, v| edit(files, &page(v), |text| text.replace("h1>", "div>"));
    "h1-multiple" => |files, v| in_body(files, v, "<h1>Second</h1>");
    "heading-skipped" => |files, v| edit(files, &page(v), |text| text.replace("<h2 id", "<h4 id").replace("é</h2>", "é</h4>"));
    "heading-empty" => |files, v| in_body(files, v, "<h2> </h2>");
    "content-empty" => |files, v| between(files, v, "<body>", "</body>", "<div id=app></div>");
    "content-thin" => |files, v| edit(files, &page(v), |text| {
        let (start, rest) = text.split_once("</h1>").expect("a heading");
        let (_, end) = rest.split_once("<h2").expect("a heading");
        format!("{start}</h1><h2{end}")
    });
    "content-duplicate" => |files, v| {
        let text = part(files, &neighbour(v), "<main>", "</main>");
        between(files, v, "<main>", "</main>", &text);
    };
    "content-near-duplicate" => |files, v| {
        let text = part(files, &neighbour(v), "<main>", "</main>");
        between(files, v, "<main>", "</main>", &format!("{text}<p>{}</p>", long(v, 3)));
    };
    "link-broken" => |files, v| in_body(files, v, &format!("<a href=\"{}\">The old list</a>", ["/gone.html", "../gone/x.html", "gone", "/mugs.html/x", "https://www.shop.example/gone"][v]));
    "link-fragment-broken" => |files, v| in_body(files, v, "<a href=/bowls.html#nowhere>All bowls</a>");
    "link-redirect" => |files, v| {
        files.insert("old.html".into(), b"<meta http-equiv=refresh content='0; url=/mugs.html'>".to_vec());
        in_body(files, v, "<a href=/old.html>The old list</a>");
    };
    "redirect-chain" => |files, v| {
        files.insert("old.html".into(), b"<meta http-equiv=refresh content='0; url=/older.html'>".to_vec());
        files.insert("older.html".into(), b"<meta http-equiv=refresh content='0; url=/mugs.html'>".to_vec());
        in_body(files, v, "<a href=/old.html>The old list</a>");
    };
    "redirect-loop" => |files, v| {
        files.insert("old.html".into(), b"<meta http-equiv=refresh content='0; url=/older.html'>".to_vec());
        files.insert("older.html".into(), b"<meta http-equiv=refresh content='0; url=/old.html'>".to_vec());
        in_body(files, v, "<a href=/old.html>The old list</a>");
    };
    "link-without-text" => |files, v| in_body(files, v, ["<a href=/></a>", "<a href=/><img src=/mug.png alt='' width=1 height=1></a>", "<a href=/><svg></svg></a>", "<a href=/> <span></span></a>", "<a href=/ aria-label=''></a>"][v]);
    "link-text-generic" => |files, v| in_body(files, v, &format!("<a href=/>{}</a>", ["Click here", "Mehr »", "点击这里", "こちら", "اضغط هنا"][v]));
    "link-http" => |files, v| in_body(files, v, "<a href=http://shop.example/mugs.html>All the mugs</a>");
    "link-local-address" => |files, v| in_body(files, v, ["<a href=http://localhost:8080/x>The list</a>", "<img src=http://127.0.0.1/x.png alt=x width=1 height=1>", "<a href=file:///home/x>The list</a>", "<a href=http://127.0.0.1>The list</a>", "<script src=http://localhost/x.js></script>"][v]);
    "link-malformed" => |files, v| in_body(files, v, &format!("<a href=\"{}\">The list</a>", ["http://", "www.shop.example/x", "https://a b.example/", "http://[::1", "https://x:port/"][v]));
    "link-script" => |files, v| in_body(files, v, "<a href='javascript:void(0)'>Open the list</a>");
    "id-duplicate" => |files, v| in_body(files, v, "<p id=details>");
    "image-alt-missing" => |files, v| between(files, v, "<img src=\"/mug.png\"", "width", " ");
    "image-alt-file-name" => |files, v| in_body(files, v, &format!("<img src=/mug.png width=1 height=20 alt={}>", ["mug.png", "IMG_1234.JPG", "DSC-0042", "photo_of_x.webp", "img001"][v]).replace("width=1 ", "width=2 "));
    "image-size-missing" => |files, v| swap(files, v, "width=\"20\" ", "");
    "image-broken" => |files, v| in_body(files, v, "<img src=/gone.png alt='A mug' width=20 height=20>");
    "resource-broken" => |files, v| in_head(files, v, ["<script src=/gone.js></script>", "<link rel=stylesheet href=/gone.css>", "<script src=gone.js></script>", "<link rel='preload stylesheet' href=/gone.css>", "<script type=module src=/gone.mjs></script>"][v]);
    "mixed-content" => |files, v| in_head(files, v, ["<script src=http://cdn.example/x.js></script>", "<link rel=stylesheet href=http://cdn.example/x.css>", "<script async src=HTTP://cdn.example/y.js></script>", "<link rel=stylesheet href='http://fonts.example/css'>", "<script src=http://shop.example/app.js></script>"][v]);
    "mixed-content-image" => |files, v| in_body(files, v, "<img src=http://cdn.example/x.png alt='A mug' width=20 height=20>");
    "structured-data-invalid-json" => |files, v| in_head(files, v, &format!("<script type=application/ld+json>{}</script>", ["{\"@type\": \"Product\",}", "{", "{'@type': 'Product'}", "{\"a\": \"b\" \"c\"}", "Product"][v]));
    "structured-data-no-type" => |files, v| in_head(files, v, "<script type=application/ld+json>{\"@context\":\"https://schema.org\",\"name\":\"Ann\"}</script>");
    "structured-data-no-context" => |files, v| in_head(files, v, "<script type=application/ld+json>{\"@type\":\"Person\",\"name\":\"Ann\"}</script>");
    "structured-data-property-missing" => |files, v| swap(files, v, ["\"priceCurrency\": \"EUR\"", "\"offers\":", "\"acceptedAnswer\":", "\"headline\":", "\"price\":"][v].replace("\"priceCurrency\": \"EUR\"", "\"price\":").as_str(), "\"x\":");
    "structured-data-value-invalid" => |files, v| swap(files, v, ["\"12.90\"", "\"EUR\"", "\"2026-05-01\"", "\"12.90\"", "\"2026-06-01T10:00:00Z\""][v], ["\"12,90 €\"", "\"Euro\"", "\"1.5.2026\"", "\"from 12\"", "\"June 2026\""][v]);
    "structured-data-breadcrumb-order" => |files, v| swap(files, v, "\"position\": 2", ["\"position\": 3", "\"position\": 1", "\"position\": 0", "\"x\": 2", "\"position\": \"two\""][v]);
    "structured-data-not-visible" => |files, v| swap(files, v, "\"text\": \"<b>", "\"text\": \"<b>Nobody can read this ");
    "article-date-missing" => |files, v| edit(files, &page(v), |text| text.replace("datePublished", "x").replace("dateModified", "y"));
    "article-author-missing" => |files, v| swap(files, v, "\"author\":", "\"editor\":");
    "article-date-future" => |files, v| swap(files, v, "2026-06-01T10", "2027-01-01T10");
    "article-date-order" => |files, v| swap(files, v, "\"datePublished\": \"2026-05-01\"", "\"datePublished\": \"2026-07-01\"");
    "article-outdated" => |files, v| edit(files, &page(v), |text| text.replace("2026-05-01", "2020-05-01").replace("2026-06-01", "2020-06-01"));
    "page-orphan" elsewhere => |files, v| {
        let html = String::from_utf8(files["mugs.html"].clone()).expect("UTF-8").replace("<link rel=\"alternate\"", "<link rel=x");
        let html = html.replace("/mugs.html\">\n<meta", &format!("/lonely{v}.html\">\n<meta")).replace("<h1>", "<h1>Lonely ");
        let html = html.replace(&format!("{}{ORIGIN}/mugs.html", CANONICAL.0), &format!("{}{ORIGIN}/lonely{v}.html", CANONICAL.0));
        files.insert(format!("lonely{v}.html"), html.into_bytes())
    };
    "robots-blocks-site" elsewhere => |files, v| files.insert("robots.txt".into(), ["User-agent: *\nDisallow: /", "user-agent:*\ndisallow:/", "User-agent: *\nDisallow: /*", "User-agent: *\nDisallow: /\nAllow: /x", "# test\nUser-agent: *\nDisallow: / # all"][v].into());
    "robots-syntax" elsewhere => |files, v| files.insert("robots.txt".into(), format!("User-agent: *\n{}\n", ["Dissallow: /x", "Disalow: /x", "<html>", "no robots please", "Useragent: x"][v]).into_bytes());
    "robots-hides-noindex" => |files, v| {
        in_head(files, v, "<meta name=robots content=noindex>");
        files.insert("robots.txt".into(), format!("User-agent: *\nDisallow: {}", &address(v, v)[ORIGIN.len()..]).into_bytes())
    };
    "ai-crawler-blocked" elsewhere => |files, v| files.insert("robots.txt".into(), format!("User-agent: {}\nDisallow: /\n", ["GPTBot", "ClaudeBot", "PerplexityBot", "Google-Extended", "CCBot"][v]).into_bytes());
    "sitemap-missing" elsewhere => |files, v| { files.remove("sitemap.xml"); files.insert("robots.txt".into(), format!("User-agent: *\nDisallow: /{v}").into_bytes()) };
    "sitemap-invalid" elsewhere => |files, v| files.insert("sitemap.xml".into(), ["<html></html>", "", "{}", "<urlset", "Not found"][v].into());
    "sitemap-broken" elsewhere => |files, v| edit(files, "sitemap.xml", |map| map.replace("</urlset>", &format!("<url><loc>{ORIGIN}/gone{v}.html</loc></url></urlset>")));
    "sitemap-noindex" elsewhere => |files, v| in_head(files, v, "<meta name=googlebot content=noindex>");
    "sitemap-not-canonical" elsewhere => |files, v| between(files, v, CANONICAL.0, CANONICAL.1, &address((v + 1) % 5, v));
    "sitemap-blocked" elsewhere => |files, v| files.insert("robots.txt".into(), format!("User-agent: *\nDisallow: {}$", &address(v, v)[ORIGIN.len()..]).into_bytes());
    "sitemap-foreign-host" elsewhere => |files, v| edit(files, "sitemap.xml", |map| map.replace("</urlset>", &format!("<url><loc>https://other{v}.example/</loc></url></urlset>")));
    "sitemap-redirect" elsewhere => |files, v| {
        files.insert("old.html".into(), b"<meta http-equiv=refresh content='0; url=/mugs.html'>".to_vec());
        edit(files, "sitemap.xml", |map| map.replacen("<url>", &format!("<url><loc>{ORIGIN}/old.html?{v}</loc></url><url>"), 1));
    };
    "sitemap-incomplete" => |files, v| edit(files, "sitemap.xml", |map| map.replace(&format!("<url><loc>{}</loc></url>", address(v, v)), ""));
};
