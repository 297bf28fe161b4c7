//! Tables as CSV, by RFC 4180, safe to open in a spreadsheet.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Says that a text is UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Appends a line of cells.
pub(crate) fn push_line<'a>(csv: &mut String, cells: impl IntoIterator<Item = &'a str>) {
    for (index, text) in cells.into_iter().enumerate() {
        if index > 0 {
            csv.push(',');
        }
        csv.push_str(&cell(text));
    }
    csv.push_str("\r\n");
}

/// Returns a text as a cell of CSV. A spreadsheet would take one that begins with certain characters for a
/// formula, so that it gets an apostrophe.
pub(crate) fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n']);
    let text = format!("{}{}", if is_formula { "'" } else { "" }, text.replace('"', "\"\""));
    if text.contains([',', '"', '\n', '\r', ';']) { format!("\"{text}\"") } else { text }
}

/// Returns a CSV file as a download. `name` consists of letters, digits, `-` and `.`.
pub(crate) fn download(name: &str, csv: &str) -> Response {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    // Excel reads a file without the mark in the system's encoding.
    (headers, Body::from(format!("{BYTE_ORDER_MARK}{csv}"))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_never_two_cells() {
        for (text, expected) in [
            ("/help", "/help"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("＝1+1", "'＝1+1"),
            ("＋1", "'＋1"),
            ("－1", "'－1"),
            ("＠SUM(A1)", "'＠SUM(A1)"),
            ("\n=1", "\"'\n=1\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }

    #[tokio::test]
    async fn a_file_says_that_it_is_utf_8() {
        let response = download("names.csv", "name\r\nZoë\r\n");
        let body = axum::body::to_bytes(response.into_body(), 100).await.expect("a body");
        assert_eq!(&*body, b"\xef\xbb\xbfname\r\nZo\xc3\xab\r\n");
    }

    #[test]
    fn a_line_has_all_of_its_cells() {
        let mut csv = String::new();
        push_line(&mut csv, ["a", "", "b,c"]);
        assert_eq!(csv, "a,,\"b,c\"\r\n");
    }
}
