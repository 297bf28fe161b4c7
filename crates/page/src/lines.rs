//! The text of a page as lines: headings with their level, and a line for each paragraph, item and row.
//!
//! A line of text is `# Heading` for a heading, with one `#` for each level. Any other line that begins with
//! `#` has a space before it, so that no text is taken for a heading.

/// The part of a page in which a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// The content.
    #[default]
    Content,
    /// The head of the page, above the content.
    Header,
    /// The foot of the page.
    Footer,
    /// A menu, a side bar or the like.
    Menu,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineKind {
    /// A heading, from level 1 to 6.
    Heading(u8),
    /// A paragraph.
    #[default]
    Text,
    /// An item of a list.
    Item,
    /// A row of a table.
    Row,
}

/// A line of a page's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The kind.
    pub kind: LineKind,
    /// The text, with single spaces.
    pub text: String,
    /// Where it stands.
    pub zone: Zone,
    /// Whether all of its text is in links.
    pub is_link: bool,
}

/// Returns lines as text.
pub fn text_of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push('\n');
        }
        match line.kind {
            LineKind::Heading(level) => {
                text.extend(std::iter::repeat_n('#', usize::from(level.clamp(1, 6))));
                text.push(' ');
            }
            LineKind::Item => text.push_str("- "),
            LineKind::Text | LineKind::Row if line.text.starts_with('#') => text.push(' '),
            LineKind::Text | LineKind::Row => {}
        }
        text.push_str(&line.text);
    }
    text
}

/// A paragraph, an item or a row, with the headings above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block<'a> {
    /// The level and the text of the headings above it, outermost first.
    pub headings: Vec<(u8, &'a str)>,
    /// The line before a list, which its items belong to: "Bring with you:".
    pub lead_in: Option<&'a str>,
    /// The text. A heading is the text of a block of its own.
    pub text: &'a str,
    /// Whether it is a heading itself.
    pub is_heading: bool,
}

/// Returns a text as it is stored: a heading begins with a control character of the value of its level, which
/// no other text has. So a text that comes from elsewhere, and may begin with `#`, can stand beside it.
pub fn marked(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !marked.is_empty() {
            marked.push('\n');
        }
        let line = match written_heading(line) {
            Some((level, heading)) => {
                marked.push(char::from(level));
                heading
            }
            None => line.trim(),
        };
        marked.extend(line.chars().filter(|letter| !letter.is_control() || *letter == '\t'));
    }
    marked
}

/// Returns the blocks of a text that [`marked`] has made, or of any text without marks.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut headings: Vec<(u8, &str)> = Vec::new();
    let mut lead_in = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some((level, heading)) = heading(line) {
            headings.retain(|(above, _)| *above < level);
            blocks.push(Block {
                headings: headings.clone(),
                text: heading,
                is_heading: true,
                ..Block::default()
            });
            headings.push((level, heading));
            lead_in = None;
            continue;
        }
        let text = line.trim();
        let is_item = text.starts_with("- ");
        if !is_item {
            lead_in = text.ends_with([':', '：']).then_some(text);
        }
        let lead_in = lead_in.filter(|_| is_item);
        blocks.push(Block { headings: headings.clone(), lead_in, text, is_heading: false });
    }
    blocks
}

/// Returns a text that [`marked`] has made without its marks.
pub fn without_marks(text: &str) -> String {
    blocks(text).iter().map(|block| block.text).collect::<Vec<_>>().join("\n")
}

/// Returns whether a character marks a heading in a text that [`marked`] has made.
pub fn is_heading_mark(letter: char) -> bool {
    ('\u{1}'..='\u{6}').contains(&letter)
}

/// Returns the level and the text of a heading that is marked.
fn heading(line: &str) -> Option<(u8, &str)> {
    let mark = line.chars().next().filter(|mark| is_heading_mark(*mark))?;
    Some((u8::try_from(mark).ok()?, &line[1..]))
}

/// Returns the level and the text of a heading that is written with `#`.
fn written_heading(line: &str) -> Option<(u8, &str)> {
    let text = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - text.len()).ok().filter(|level| (1..=6).contains(level))?;
    let heading = text.strip_prefix(' ')?.trim();
    (!heading.is_empty()).then_some((level, heading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_headings_above_them_and_the_lead_in_of_their_list() {
        let line = |kind, text: &str| Line { kind, text: text.to_owned(), ..Line::default() };
        let text = text_of(&[
            line(LineKind::Heading(1), "Mugs"),
            line(LineKind::Text, "All by hand."),
            line(LineKind::Heading(3), "Care"),
            line(LineKind::Text, "You need:"),
            line(LineKind::Item, "a brush"),
            line(LineKind::Heading(2), "Prices"),
            line(LineKind::Text, "# 5 is ready"),
        ]);
        assert_eq!(text, "# Mugs\nAll by hand.\n### Care\nYou need:\n- a brush\n## Prices\n # 5 is ready");
        let stored = marked(&text);
        let blocks = blocks(&stored);
        let item = &blocks[4];
        assert_eq!((item.text, item.lead_in), ("- a brush", Some("You need:")));
        assert_eq!(item.headings, [(1, "Mugs"), (3, "Care")]);
        assert_eq!(
            (blocks[6].text, &blocks[6].headings[..]),
            ("# 5 is ready", &[(1, "Mugs"), (2, "Prices")][..])
        );
        assert_eq!(without_marks(&marked("# Mugs\n\n # 5\n####### seven")), "Mugs\n# 5\n####### seven");
        assert_eq!(without_marks("# as an operator wrote it"), "# as an operator wrote it");
    }
}
