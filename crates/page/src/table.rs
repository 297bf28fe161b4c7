//! Tables: a line for each row, in which each cell has the header of its column.

use std::collections::HashMap;

use crate::document::{Document, Id, Step};
use crate::head::single_spaced;
use crate::left_out::{Strictness, is_left_out};
use crate::text::{defined, is_power};

/// Maximum columns of a table; further ones are not read.
const MAX_COLUMNS: usize = 100;
/// Maximum cells of a table; further rows are not read.
const MAX_CELLS: usize = 100_000;
/// Maximum letters of a text that is repeated: a header, or a cell that spans several rows or columns.
const MAX_REPEATED_LENGTH: usize = 100;
/// Maximum bytes of a table's lines; further rows are not read.
const MAX_TABLE_BYTES: usize = 1024 * 1024;
/// Maximum letters of a cell of a table of data without headers; longer ones are columns of a layout.
const MAX_CELL_LENGTH: usize = 300;
/// Elements that separate words in a cell.
const BREAKS: [&str; 12] = ["p", "div", "br", "li", "ul", "ol", "dl", "dt", "dd", "pre", "option", "button"];
/// Elements that are no content of a cell, but parts of a layout.
const LAYOUT: [&str; 14] = [
    "table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "section", "main", "nav", "header",
    "footer",
];

/// A line of a table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) text: String,
    /// Whether all of its text is in links, headers aside.
    pub(crate) is_link: bool,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    text: String,
    /// What its pictures mean, if it has no text.
    picture: String,
    /// Whether all of its text is in links.
    is_link: bool,
    is_header: bool,
    is_bold: bool,
    /// Whether it is the cell before it, which spans several columns.
    continues: bool,
}

/// Returns the rows of a table of data, each as a line; `None` for a table that arranges the page.
pub(crate) fn rows(document: &Document, table: Id, strictness: Strictness) -> Option<Vec<Row>> {
    let role = document.attribute(table, "role").unwrap_or_default();
    if matches!(role, "presentation" | "none") || has_layout(document, table) {
        return None;
    }
    let mut lines = Vec::new();
    let mut grid = Grid::default();
    for child in document.children(table) {
        if is_left_out(document, child, strictness) {
            continue;
        }
        match document.name(child) {
            "caption" => lines.extend(title(read_cell(document, child, strictness))),
            section @ ("thead" | "tbody" | "tfoot") => {
                for row in document.children(child).filter(|row| document.name(*row) == "tr") {
                    grid.read(document, row, section == "thead", strictness);
                }
            }
            "tr" => grid.read(document, child, false, strictness),
            _ => {}
        }
    }
    lines.extend(std::mem::take(&mut grid.titles));
    let has_headers = grid.rows.iter().flatten().any(|cell| cell.is_header);
    if !has_headers && grid.rows.iter().flatten().any(|cell| cell.text.len() > MAX_CELL_LENGTH) {
        return None;
    }
    lines.extend(grid.lines());
    Some(lines)
}

fn title(Cell { text, is_link, .. }: Cell) -> Option<Row> {
    (!text.is_empty()).then_some(Row { text, is_link })
}

/// Returns whether there is something in a table that no cell of data has.
fn has_layout(document: &Document, table: Id) -> bool {
    let mut found = false;
    document.walk(table, |step| {
        if let Step::Enter(id) = step {
            found |= id != table && LAYOUT.contains(&document.name(id));
        }
        !found
    });
    found
}

/// The cells of a table, by rows and columns.
#[derive(Debug, Default)]
struct Grid {
    rows: Vec<Vec<Cell>>,
    /// The rows above all others that are one cell.
    titles: Vec<Row>,
    /// The number of rows at the top that have headers only.
    headers: usize,
    cells: usize,
    /// The cells that reach down into further rows, by column, with the number of those rows.
    reaching: HashMap<usize, (Cell, usize)>,
}

impl Grid {
    fn read(&mut self, document: &Document, row: Id, is_head: bool, strictness: Strictness) {
        if is_left_out(document, row, strictness) || self.cells > MAX_CELLS {
            return;
        }
        let mut cells: Vec<Cell> = Vec::new();
        for id in document.children(row) {
            let name = document.name(id);
            if !matches!(name, "td" | "th") || is_left_out(document, id, strictness) {
                continue;
            }
            self.add_reaching(&mut cells);
            let span =
                |name: &str| document.attribute(id, name).and_then(|text| text.trim().parse::<usize>().ok());
            let (is_header, is_bold) = (name == "th" || is_head, is_bold(document, id));
            let cell = Cell { is_header, is_bold, ..read_cell(document, id, strictness) };
            for index in 0..span("colspan").unwrap_or(1).clamp(1, MAX_COLUMNS) {
                let repeated = || {
                    let (text, picture) = (shortened(&cell.text), shortened(&cell.picture));
                    Cell { continues: index > 0, text, picture, ..cell }
                };
                if let Some(more) = span("rowspan").filter(|rows| *rows > 1) {
                    self.reaching.insert(cells.len(), (repeated(), more));
                }
                cells.push(if index > 0 { repeated() } else { cell.clone() });
            }
        }
        self.add_reaching(&mut cells);
        cells.truncate(MAX_COLUMNS);
        self.reaching.retain(|_, (_, rows)| {
            *rows -= 1;
            *rows > 0
        });
        self.cells += cells.len();
        if cells.iter().all(|cell| cell.text.is_empty() && cell.picture.is_empty()) {
            return;
        }
        if self.rows.is_empty() && is_one_cell(&cells) {
            return self.titles.extend(title(cells.swap_remove(0)));
        }
        let are_headers = cells.iter().all(|cell| cell.is_header || cell.text.is_empty());
        let is_bold = self.rows.is_empty() && cells.len() > 1 && cells.iter().all(|cell| cell.is_bold);
        if (are_headers || is_bold) && self.headers == self.rows.len() {
            self.headers += 1;
        }
        self.rows.push(cells);
    }

    /// Adds the cells that reach down into the next columns.
    fn add_reaching(&self, cells: &mut Vec<Cell>) {
        while cells.len() < MAX_COLUMNS
            && let Some((cell, _)) = self.reaching.get(&cells.len())
        {
            cells.push(cell.clone());
        }
    }

    fn lines(&self) -> Vec<Row> {
        // A table of headers only has no data.
        let headers = if self.headers < self.rows.len() { self.headers } else { 0 };
        let names: Vec<String> = (0..MAX_COLUMNS).map(|column| self.name(headers, column)).collect();
        let has_names = names.iter().any(|name| !name.is_empty());
        let mut bytes = 0;
        let lines = self.rows[headers..].iter().map(|row| {
            let mut cells = row.iter().filter(|cell| !cell.is_header && !cell.text.is_empty()).peekable();
            let is_link = cells.peek().is_some() && cells.all(|cell| cell.is_link);
            Row { text: line(row, &names, has_names), is_link }
        });
        let lines = lines.filter(|line| !line.text.is_empty()).take_while(|line| {
            bytes += line.text.len();
            bytes <= MAX_TABLE_BYTES
        });
        lines.collect()
    }

    /// Returns the headers above a column.
    fn name(&self, headers: usize, column: usize) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for cell in self.rows[..headers].iter().filter_map(|row| row.get(column)) {
            if !cell.text.is_empty() && parts.last() != Some(&cell.text.as_str()) {
                parts.push(&cell.text);
            }
        }
        shortened(&parts.join(" "))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_REPEATED_LENGTH).collect()
}

/// Returns whether a row is one cell that spans several columns.
fn is_one_cell(row: &[Cell]) -> bool {
    row.len() > 1 && row[1..].iter().all(|cell| cell.continues)
}

fn line(row: &[Cell], names: &[String], has_names: bool) -> String {
    // A row that is one cell is a title of the rows below.
    if is_one_cell(row) {
        return row[0].text.clone();
    }
    if has_names {
        let cells = row.iter().enumerate().filter_map(|(column, cell)| {
            let name = names.get(column).map_or("", |name| name.trim_end_matches([':', '：']));
            match (name.is_empty(), cell.text.is_empty()) {
                (true, true) => None,
                (true, false) => Some(cell.text.clone()),
                (false, true) => (!cell.picture.is_empty()).then(|| defined(name, &cell.picture)),
                (false, false) => Some(defined(name, &cell.text)),
            }
        });
        return cells.collect::<Vec<_>>().join(" · ");
    }
    let cells = row.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty());
    let mut line = String::new();
    let mut follows_header = false;
    for (column, cell) in cells.filter(|(_, cell)| !cell.continues) {
        if follows_header && !cell.is_header {
            line = defined(&line, &cell.text);
        } else {
            if !line.is_empty() {
                line.push_str(if row[0].is_header { " · " } else { " " });
            }
            line.push_str(&cell.text);
        }
        follows_header = cell.is_header && column + 1 < row.len();
    }
    line
}

/// Returns whether all text of a cell is bold.
fn is_bold(document: &Document, id: Id) -> bool {
    let mut children = document
        .children(id)
        .filter(|child| document.text(*child).is_none_or(|text| !text.trim().is_empty()));
    children.next().is_some_and(|child| matches!(document.name(child), "b" | "strong"))
        && children.next().is_none()
}

/// Reads the text of a cell.
fn read_cell(document: &Document, cell: Id, strictness: Strictness) -> Cell {
    let (mut text, mut pictures) = (String::new(), Vec::new());
    let (mut links, mut is_link) = (0, true);
    document.walk(cell, |step| {
        let (Step::Enter(id) | Step::Leave(id)) = step;
        if let Some(part) = document.text(id) {
            text.push_str(part);
            is_link &= links > 0 || !part.contains(char::is_alphanumeric);
            return false;
        }
        let name = document.name(id);
        if matches!(step, Step::Enter(_)) {
            let label = if name == "img" { "alt" } else { "aria-label" };
            pictures.extend(document.attribute(id, label).filter(|label| !label.trim().is_empty()));
            if id != cell && is_left_out(document, id, strictness) {
                return false;
            }
            match name {
                "li" if !text.trim().is_empty() => text.push(';'),
                "sup" if is_power(document, id, &text) => text.push('^'),
                _ => {}
            }
        }
        if name == "a" && document.attribute(id, "href").is_some() {
            links = if matches!(step, Step::Enter(_)) { links + 1 } else { links - 1 };
        }
        let follows = document.previous(id).is_some_and(|before| document.is_element(before));
        if BREAKS.contains(&name) || (name == "a" && follows) {
            text.push(' ');
        }
        true
    });
    let text = single_spaced(&text);
    Cell { text, picture: pictures.join(" "), is_link, ..Cell::default() }
}
