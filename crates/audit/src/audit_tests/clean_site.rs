//! A site without a fault: five pages, each in five languages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::{Audit, PageSource, Report, Site};
use fastrand::Rng;
use jiff::civil::date;
use url::Url;

pub const ORIGIN: &str = "https://shop.example";
pub const LANGUAGES: [&str; 5] = ["en", "de", "zh", "ja", "ar"];
pub const NAMES: [&str; 5] = ["index", "mugs", "bowls", "news", "faq"];

const WORDS: [&str; 5] = [
    "mug bowl teapot glaze kiln studio handle potter clay wheel café window shelf order parcel morning colour river \
     stone winter garden market lesson visitor workshop evening letter saucer plate pattern",
    "Becher Schale Teekanne Glasur Ofen Werkstatt Henkel Töpferin Ton Scheibe Fenster Regal Bestellung Paket Morgen \
     Farbe Fluss Stein Winter Garten Markt Kurs Gäste Abend Brief Untertasse Teller Muster Größe Küche",
    "茶杯 茶壶 陶碗 釉料 窑炉 工作室 把手 陶艺师 黏土 转盘 窗户 架子 订单 包裹 早晨 颜色 河流 石头 冬天 花园 市场 课程 客人 晚上 信件 茶托 盘子 图案 尺寸 厨房",
    "マグカップの 急須は お皿と 釉薬を 窯で 工房から 取っ手が 陶芸家の 粘土を ろくろで 窓に 棚へ ご注文の 小包を 朝に 色は 川の 石と 冬に 庭で 市場の 教室を お客様 夜に 手紙と 受け皿 模様が 大きさ 台所で 作ります",
    "كوب إبريق وعاء طلاء فرن ورشة مقبض خزاف طين عجلة نافذة رف طلب طرد صباح لون نهر حجر شتاء حديقة سوق درس زائر مساء رسالة صحن طبق نقش حجم مطبخ",
];

/// The files of a site, by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Returns the path of a page.
pub fn path(page: usize, language: usize) -> String {
    let folder = if language == 0 { String::new() } else { format!("{}/", LANGUAGES[language]) };
    format!("{folder}{}.html", NAMES[page])
}

/// Returns the address of a page.
pub fn address(page: usize, language: usize) -> String {
    format!("{ORIGIN}/{}", path(page, language).replace("index.html", ""))
}

/// Returns random words of a language.
pub fn words(random: &mut Rng, language: usize, count: usize) -> String {
    let all: Vec<&str> = WORDS[language].split_whitespace().collect();
    let chosen: Vec<&str> = (0..count).map(|_| all[random.usize(..all.len())]).collect();
    chosen.join(if language == 2 || language == 3 { "" } else { " " })
}

/// Returns all files of the site.
pub fn files() -> Files {
    let mut files = Files::new();
    let titles: Vec<Vec<String>> = (0..5)
        .map(|page| {
            (0..5)
                .map(|language| {
                    let mut random = Rng::with_seed((page * 5 + language) as u64);
                    format!("{} {}", words(&mut random, language, 4), page * 5 + language)
                })
                .collect()
        })
        .collect();
    for page in 0..5 {
        for language in 0..5 {
            files.insert(path(page, language), html(page, language, &titles).into_bytes());
        }
    }
    let mut map = String::from("<urlset>");
    for page in 0..5 {
        for language in 0..5 {
            let _ = write!(map, "<url><loc>{}</loc></url>", address(page, language));
        }
    }
    files.insert("sitemap.xml".to_owned(), format!("{map}</urlset>").into_bytes());
    let robots = format!("User-agent: *\nDisallow: /cart\nSitemap: {ORIGIN}/sitemap.xml\n");
    files.insert("robots.txt".to_owned(), robots.into_bytes());
    for file in ["mug.png", "style.css", "app.js"] {
        files.insert(file.to_owned(), Vec::new());
    }
    files
}

fn html(page: usize, language: usize, titles: &[Vec<String>]) -> String {
    let mut random = Rng::with_seed(1000 + (page * 5 + language) as u64);
    let count = if language == 2 || language == 3 { 14 } else { 15 };
    let description = format!("{} é.", words(&mut random, language, count));
    let description: String = description.chars().take(if count == 14 { 60 } else { 150 }).collect();
    let (own, title, lang) = (address(page, language), &titles[page][language], LANGUAGES[language]);
    let mut alternates = String::new();
    for (other, name) in LANGUAGES.iter().enumerate() {
        let _ = writeln!(
            alternates,
            "<link rel=\"alternate\" hreflang=\"{name}\" href=\"{}\">",
            address(page, other)
        );
    }
    let mut menu = String::new();
    for (number, row) in titles.iter().enumerate() {
        for (other, text) in row.iter().enumerate() {
            let _ =
                writeln!(menu, "<a href=\"/{}\">{text}</a>", path(number, other).replace("index.html", ""));
        }
    }
    let text: Vec<String> = (0..4).map(|_| format!("<p>{}.</p>", words(&mut random, language, 45))).collect();
    let (question, answer) = (words(&mut random, language, 6), words(&mut random, language, 9));
    let heading = words(&mut random, language, 3);
    let data = format!(
        r#"{{"@context": "https://schema.org", "@graph": [
{{"@type": "Product", "name": "{title}", "offers": {{"@type": "Offer", "price": "12.90", "priceCurrency": "EUR"}}}},
{{"@type": "Article", "headline": "{title}", "datePublished": "2026-05-01", "dateModified": "2026-06-01T10:00:00Z", "author": {{"@type": "Person", "name": "Ann"}}}},
{{"@type": "BreadcrumbList", "itemListElement": [{{"@type": "ListItem", "position": 1, "name": "Shop", "item": "{ORIGIN}/"}}, {{"@type": "ListItem", "position": 2, "name": "{title}"}}]}},
{{"@type": "FAQPage", "mainEntity": [{{"@type": "Question", "name": "{question}", "acceptedAnswer": {{"@type": "Answer", "text": "<b>{answer}</b>"}}}}]}}]}}"#
    );
    format!(
        "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
<meta name=\"description\" content=\"{description}\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<link rel=\"canonical\" href=\"{own}\">\n{alternates}\
<meta property=\"og:title\" content=\"{title}\">\n<meta property=\"og:type\" content=\"website\">\n\
<meta property=\"og:url\" content=\"{own}\">\n<meta property=\"og:image\" content=\"{ORIGIN}/mug.png\">\n\
<meta name=\"twitter:card\" content=\"summary\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n\
<script src=\"/app.js\"></script>\n<script type=\"application/ld+json\">{data}</script>\n</head>\n<body>\n\
<nav>{menu}</nav>\n<main>\n<h1>{heading}</h1>\n{}\n<h2 id=\"details\">{heading} é</h2>\n\
<img src=\"/mug.png\" alt=\"{heading}\" width=\"20\" height=\"10\">\n\
<p><a href=\"#details\">{heading}</a></p>\n<h3>{question}</h3>\n<p>{answer}</p>\n</main>\n</body>\n</html>\n",
        text.join("\n"),
    )
}

/// Audits the files of a folder.
pub fn audit(files: &Files) -> Report {
    audit_with(files, |_| ())
}

/// Audits the files of a folder, with more that is known of it.
pub fn audit_with(files: &Files, more: impl FnOnce(&mut Audit)) -> Report {
    let root = Url::parse(ORIGIN).expect("an address");
    let today = Some(date(2026, 11, 28));
    let mut audit =
        Audit::new(Site { root: root.clone(), is_public: true, is_folder: true, is_complete: true, today });
    for (path, bytes) in files {
        let url = root.join(&path.replace("index.html", "")).expect("an address");
        if Path::new(path).extension().is_some_and(|ending| ending == "html") {
            let headers = chat_page::Headers::default();
            audit.add_page(PageSource { url: &url, file: Some(path), status: 200, headers, html: bytes });
        } else {
            audit.add_file(&url);
        }
    }
    if let Some(robots) = files.get("robots.txt") {
        audit.set_robots(robots);
    }
    if let Some(map) = files.get("sitemap.xml") {
        audit.add_sitemap("/sitemap.xml", map);
    }
    more(&mut audit);
    audit.finish()
}

/// Returns the ids of the rules that were found at a file, or anywhere.
pub fn found(report: &Report, file: Option<&str>) -> Vec<&'static str> {
    let is_there = |place: &crate::Place| file.is_none_or(|file| place.file.as_deref() == Some(file));
    let findings = report.findings.iter().filter(|finding| finding.places.iter().any(is_there));
    findings.map(|finding| finding.rule.id).collect()
}
