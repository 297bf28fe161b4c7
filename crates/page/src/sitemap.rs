//! Sitemaps: lists of a website's pages, and lists of such lists.

use std::io::Read;

use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::events::Event;

/// Maximum bytes of a sitemap that is packed.
const MAX_PACKED_BYTES: usize = 2 * 1024 * 1024;
/// Maximum entries of a sitemap, as sitemaps.org says.
const MAX_ENTRIES: usize = 50_000;
/// Maximum bytes of an address.
const MAX_ADDRESS_BYTES: usize = 2048;

/// The addresses in a sitemap.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// The pages that it lists.
    pub pages: Vec<String>,
    /// The sitemaps that it lists.
    pub sitemaps: Vec<String>,
}

impl Sitemap {
    /// Maximum bytes of a sitemap, unpacked.
    pub const MAX_BYTES: usize = 10 * 1024 * 1024;

    /// Reads a sitemap, also a compressed one; `None` if it is none. One that is cut off has the entries
    /// before its end.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let is_packed = body.starts_with(&[0x1f, 0x8b]);
        if is_packed && body.len() > MAX_PACKED_BYTES {
            return None;
        }
        let unpacked = is_packed.then(|| {
            let mut unpacked = Vec::new();
            let limit = u64::try_from(Self::MAX_BYTES).unwrap_or(u64::MAX);
            // Content before an error is used.
            let _ = GzDecoder::new(body).take(limit).read_to_end(&mut unpacked);
            unpacked
        });
        let text = String::from_utf8_lossy(unpacked.as_deref().unwrap_or(body));
        let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
        reader.config_mut().check_end_names = false;
        let mut found = Self::default();
        let mut root = false;
        // Whether an entry of a list of pages, or of a list of sitemaps, is open.
        let mut entry = None;
        let mut address: Option<String> = None;
        while let Ok(event) = reader.read_event() {
            let mut add = |text: &str| {
                if let Some(address) = &mut address
                    && address.len() + text.len() <= MAX_ADDRESS_BYTES
                {
                    address.push_str(text);
                }
            };
            match event {
                Event::Start(start) => match start.local_name().as_ref() {
                    b"urlset" | b"sitemapindex" => root = true,
                    name @ (b"url" | b"sitemap") => entry = Some(name == b"url"),
                    b"loc" => address = Some(String::new()),
                    _ => {}
                },
                Event::Text(text) => add(&text.decode().unwrap_or_default()),
                Event::CData(text) => add(&text.decode().unwrap_or_default()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => add(letter.encode_utf8(&mut [0; 4])),
                    _ => add(match reference.as_ref() {
                        b"amp" => "&",
                        b"lt" => "<",
                        b"gt" => ">",
                        b"quot" => "\"",
                        b"apos" => "'",
                        _ => "",
                    }),
                },
                Event::End(end) => match end.local_name().as_ref() {
                    b"loc" => {
                        let address = address.take().map(|address| address.trim().to_owned());
                        match (address.filter(|address| !address.is_empty()), entry) {
                            (Some(address), Some(true)) => found.pages.push(address),
                            (Some(address), Some(false)) => found.sitemaps.push(address),
                            _ => {}
                        }
                    }
                    b"url" | b"sitemap" => entry = None,
                    _ => {}
                },
                Event::Eof => break,
                _ => {}
            }
            if found.pages.len() + found.sitemaps.len() >= MAX_ENTRIES {
                break;
            }
        }
        root.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    }

    const PAGES: &str = "\u{feff}<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
        xmlns:image='x'><url><loc> https://shop.example/a?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod>\
        <image:image><image:caption>no</image:caption></image:image></url>\
        <url><loc><![CDATA[https://shop.example/b]]></loc></url></urlset>";

    #[test]
    fn lists_pages_and_sitemaps() {
        let found = Sitemap::parse(PAGES.as_bytes()).expect("a sitemap");
        assert_eq!(found.pages, ["https://shop.example/a?x=1&y=2", "https://shop.example/b"]);
        assert_eq!(Sitemap::parse(&zipped(PAGES.as_bytes())), Some(found));
        let index = "<sitemapindex><sitemap><loc>https://shop.example/1.xml</loc></sitemap></sitemapindex>";
        let found = Sitemap::parse(index.as_bytes()).expect("a sitemap");
        assert_eq!((found.pages.len(), found.sitemaps), (0, vec!["https://shop.example/1.xml".to_owned()]));
        for other in ["<html><p>x</html>", "", "{}", "<rss/>"] {
            assert_eq!(Sitemap::parse(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_hostile_sitemap_is_bounded() {
        // Its pages are there, but behind more bytes than are unpacked.
        let bomb = zipped(&[vec![b' '; 200 * 1024 * 1024], PAGES.as_bytes().to_vec()].concat());
        assert!(Sitemap::parse(&bomb).is_none_or(|found| found.pages.is_empty()));
        let padded = [zipped(PAGES.as_bytes()), vec![0; MAX_PACKED_BYTES]].concat();
        assert!(Sitemap::parse(&padded).is_none());
        let many = format!("<urlset>{}", "<url><loc>https://x.example/</loc></url>".repeat(60_000));
        assert_eq!(Sitemap::parse(many.as_bytes()).expect("a sitemap").pages.len(), MAX_ENTRIES);
        let deep = format!("<urlset>{}", "<url>".repeat(500_000));
        assert_eq!(Sitemap::parse(deep.as_bytes()), Some(Sitemap::default()));
        let laughs =
            "<!DOCTYPE x [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]><urlset><url><loc>/&b;</loc></url></urlset>";
        assert_eq!(Sitemap::parse(laughs.as_bytes()).expect("a sitemap").pages, ["/"]);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(parts in proptest::collection::vec("(<[/]?(urlset|url|loc|sitemap)>?|&[a-z#0-9]{0,4};?|<!\\[CDATA\\[|]]>|.{0,6})", 0..30)) {
            let _ = Sitemap::parse(parts.concat().as_bytes());
        }
    }
}
