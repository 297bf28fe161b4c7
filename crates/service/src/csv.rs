//! Tables as CSV, by RFC 4180, safe to open in a spreadsheet.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

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
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{}", if is_formula { "'" } else { "" }, text.replace('"', "\"\""));
    if text.contains([',', '"', '\n', '\r', ';']) { format!("\"{text}\"") } else { text }
}

/// Returns a CSV file as a download. `name` consists of letters, digits, `-` and `.`.
pub(crate) fn download(name: &str, csv: String) -> Response {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, Body::from(csv)).into_response()
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
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }

    #[test]
    fn a_line_has_all_of_its_cells() {
        let mut csv = String::new();
        push_line(&mut csv, ["a", "", "b,c"]);
        assert_eq!(csv, "a,,\"b,c\"\r\n");
    }
}
