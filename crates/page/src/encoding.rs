//! Finds out how the characters of a page are encoded.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use crate::parser::named_encoding;

/// Returns the encoding of a source, with the length of its byte order mark: by that mark, by the charset of
/// the HTTP header `Content-Type`, by the source itself, or else UTF-8 if it is valid, and windows-1252 if
/// not.
pub(crate) fn detect(source: &[u8], content_type: Option<&str>) -> (&'static Encoding, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(source) {
        return (encoding, length);
    }
    let found =
        content_type.and_then(charset).or_else(|| by_zero_bytes(source)).or_else(|| by_itself(source));
    let fallback = if str::from_utf8(source).is_ok() { UTF_8 } else { WINDOWS_1252 };
    (found.unwrap_or(fallback), 0)
}

/// Returns the encoding that a `Content-Type` names.
fn charset(content_type: &str) -> Option<&'static Encoding> {
    let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, label) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

/// Recognises UTF-16 without a byte order mark by its first character, which is a `<`.
fn by_zero_bytes(source: &[u8]) -> Option<&'static Encoding> {
    match source {
        [b'<', 0, ..] => Some(UTF_16LE),
        [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns the encoding that a source names in its XML declaration or a `<meta>`.
fn by_itself(source: &[u8]) -> Option<&'static Encoding> {
    let label = declared(source).or_else(|| named_encoding(source))?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // As in the standard: the name was readable as ASCII, so that it cannot be true.
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// Returns the encoding of an XML declaration.
fn declared(source: &[u8]) -> Option<String> {
    let declaration = source.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.iter().position(|byte| *byte == b'>')?];
    let (_, value) = str::from_utf8(declaration).ok()?.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    Some(value[1..].split(quote).next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_comes_before_the_header_and_the_header_before_the_page() {
        let page = b"<meta charset=shift_jis>\xe4";
        let name = |source: &[u8], header| detect(source, header).0.name();
        assert_eq!(name(b"\xef\xbb\xbf<meta charset=gbk>", Some("text/html; charset=big5")), "UTF-8");
        assert_eq!(name(page, Some("text/html; charset=\"ISO-8859-2\"")), "ISO-8859-2");
        assert_eq!(name(page, Some("text/html")), "Shift_JIS");
    }

    #[test]
    fn a_page_names_its_encoding_in_every_form() {
        for (page, expected) in [
            ("<META CHARSET='windows-1251'>", "windows-1251"),
            ("<meta http-equiv=content-type content='text/html; charset=iso-8859-1'>", "windows-1252"),
            ("<?xml version='1.0' encoding=\"iso-8859-15\"?><p>", "ISO-8859-15"),
            ("<!-- <meta charset=gbk> --><title><meta charset=big5></title><meta charset=euc-jp>", "EUC-JP"),
            ("<meta charset=utf-16>", "UTF-8"),
            ("<meta charset=nonsense>", "windows-1252"),
            ("<p>", "windows-1252"),
        ] {
            let bytes = [page.as_bytes(), b"\xe4"].concat();
            assert_eq!(detect(&bytes, None).0.name(), expected, "{page}");
        }
        assert_eq!(detect("<p>ä".as_bytes(), None).0.name(), "UTF-8");
        assert_eq!(detect(b"<\0p\0>\0", None).0.name(), "UTF-16LE");
        assert_eq!(detect(b"\xfe\xff\0<", None), (UTF_16BE, 2));
    }
}
