//! Prints what is read of HTML files, one line of JSON each: `read [--text] FILE…`. With `--text`, prints the
//! texts for people instead, as they are after everything that repeats across the files is left out.
//!
//! `scripts/compare-pages.mjs` compares the lines with what a browser reads.

use std::io::{self, Write};

use chat_page::{Page, SitePage, leave_out_repeated, text_of};
use serde_json::json;

fn main() -> io::Result<()> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let prints_text = files.first().is_some_and(|first| first == "--text");
    if prints_text {
        files.remove(0);
    }
    let mut out = io::stdout().lock();
    let mut pages = Vec::new();
    for path in files {
        let page = Page::read(&std::fs::read(&path)?);
        if prints_text {
            pages.push(SitePage { path, page });
            continue;
        }
        let head = &page.head;
        let line = json!({
            "file": path,
            "title": head.title,
            "description": head.description,
            "language": head.language,
            "canonical": head.canonical,
            "robots": head.robots,
            "text": text_of(&page.lines),
        });
        writeln!(out, "{line}")?;
    }
    leave_out_repeated(&mut pages);
    for SitePage { path, page } in &pages {
        writeln!(out, "=== {path}\n{}\n", page.text())?;
    }
    Ok(())
}
