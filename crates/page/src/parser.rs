//! Parses a source with html5ever, within bounds for time, memory and depth, and notes where each tag stands.

use std::cell::Cell;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{StartTag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use crate::document::{Document, Id};
use crate::pieces::Pieces;
use crate::tree::Tree;

/// Maximum depth of open elements, as in Chromium; deeper start tags are skipped, and their text is kept.
const MAX_DEPTH: u32 = 512;
/// Maximum nodes of a document; the document ends there.
const MAX_NODES: usize = 1_000_000;
/// Maximum attributes of a tag, which html5ever compares with each other; the document ends there.
const MAX_ATTRIBUTES: usize = 500;
/// The bytes in which an encoding is looked for.
const PRESCAN_BYTES: usize = 4096;

/// Stands between the tokenizer and the tree builder: notes the bytes of each token, and keeps the bounds.
struct Gate {
    builder: TreeBuilder<Id, Tree>,
    /// The bytes that are being tokenized.
    piece: Cell<(usize, usize)>,
    /// The beginning of the first piece that has not become a token yet.
    pending: Cell<usize>,
    has_emitted: Cell<bool>,
    /// Whether the tokenizer reads text up to an end tag, as in a script.
    is_raw: Cell<bool>,
    is_full: Cell<bool>,
}

impl TokenSink for Gate {
    type Handle = Id;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Id> {
        if matches!(token, Token::ParseError(_)) || self.is_full.get() {
            return TokenSinkResult::Continue;
        }
        // A piece begins at a tag. Before that tag, the rest of an earlier piece may become a token.
        let (start, end) = self.piece.get();
        let start = if self.has_emitted.replace(true) { start } else { self.pending.get() };
        let (mut opening, mut closing) = (None, None);
        if let TagToken(tag) = &token {
            self.is_raw.set(false);
            if tag.kind == StartTag {
                if self.builder.sink.open_depth() >= MAX_DEPTH && !switches_tokenizer(&tag.name) {
                    return TokenSinkResult::Continue;
                }
                opening = Some(tag.name.clone());
            } else {
                closing = Some(tag.name.clone());
            }
        }
        self.builder.sink.set_token(start..end, opening, closing);
        let result = self.builder.process_token(token, line);
        if matches!(result, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext) {
            self.is_raw.set(true);
        }
        self.is_full.set(self.builder.sink.len() > MAX_NODES);
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Returns whether the tokenizer reads the content of an element as text. Such a tag is never skipped,
/// because its content would be taken for elements.
fn switches_tokenizer(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "title"
            | "textarea"
            | "xmp"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "plaintext"
    )
}

/// Counts the attributes of a tag before the tokenizer sees them.
#[derive(Default)]
struct AttributeCount {
    count: usize,
    quote: Option<u8>,
    follows_equals: bool,
}

impl AttributeCount {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (self.quote, byte) {
                (Some(quote), byte) if quote == *byte => {
                    self.quote = None;
                    self.count += 1;
                }
                (None, b'"' | b'\'') if self.follows_equals => self.quote = Some(*byte),
                (None, byte) if byte.is_ascii_whitespace() && self.follows_equals => continue,
                (None, byte) if byte.is_ascii_whitespace() || *byte == b'/' => self.count += 1,
                _ => {}
            }
            self.follows_equals = *byte == b'=' && self.quote.is_none();
        }
    }
}

/// A parser that is fed with a source.
struct Parser {
    tokenizer: Tokenizer<Gate>,
    /// The encoding that the source names.
    named: Option<StrTendril>,
    is_in_tag: bool,
    attributes: AttributeCount,
}

impl Parser {
    fn new() -> Self {
        let gate = Gate {
            builder: TreeBuilder::new(Tree::new(), TreeBuilderOpts::default()),
            piece: Cell::new((0, 0)),
            pending: Cell::new(0),
            has_emitted: Cell::new(true),
            is_raw: Cell::new(false),
            is_full: Cell::new(false),
        };
        let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
        let tokenizer = Tokenizer::new(gate, options);
        Self { tokenizer, named: None, is_in_tag: false, attributes: AttributeCount::default() }
    }

    /// Feeds a part of the source, which begins before a `<` or behind a `>`. Returns whether to go on.
    fn feed(&mut self, bytes: Range<usize>, text: &str) -> bool {
        let gate = &self.tokenizer.sink;
        if gate.has_emitted.get() {
            gate.pending.set(bytes.start);
            let mut letters = text.bytes();
            self.is_in_tag = !gate.is_raw.get()
                && letters.next() == Some(b'<')
                && letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == b'/');
            self.attributes = AttributeCount::default();
        }
        if self.is_in_tag {
            self.attributes.read(text.as_bytes());
            if self.attributes.count > MAX_ATTRIBUTES {
                return false;
            }
        }
        gate.piece.set((bytes.start, bytes.end));
        gate.has_emitted.set(false);
        let queue = BufferQueue::default();
        queue.push_back(StrTendril::from_slice(text));
        loop {
            match self.tokenizer.feed(&queue) {
                TokenizerResult::Done => return !self.tokenizer.sink.is_full.get(),
                TokenizerResult::Script(_) => {}
                TokenizerResult::EncodingIndicator(label) => self.named = self.named.take().or(Some(label)),
            }
        }
    }

    /// Ends the source, at this byte.
    fn end(self, at: usize) -> Document {
        let gate = &self.tokenizer.sink;
        // What never became a token, such as an unfinished comment, ends where it began.
        let end = if gate.has_emitted.get() { at } else { gate.pending.get() };
        gate.piece.set((end, at));
        gate.has_emitted.set(true);
        gate.is_full.set(false);
        self.tokenizer.end();
        self.tokenizer.sink.builder.sink.into_document()
    }
}

/// Parses a source in this encoding, from behind its byte order mark.
pub(crate) fn parse(source: &[u8], from: usize, encoding: &'static Encoding) -> Document {
    let mut parser = Parser::new();
    let is_utf8 = encoding == UTF_8;
    for piece in Pieces::new(source, from, encoding) {
        let bytes = &source[piece.clone()];
        let goes_on = match str::from_utf8(bytes) {
            Ok(text) if is_utf8 => parser.feed(piece, text),
            _ => parser.feed(piece, &encoding.decode_without_bom_handling(bytes).0),
        };
        if !goes_on {
            let head = parser.tokenizer.sink.builder.sink.head_bounds();
            return Document { head, ..parser.end(source.len()) };
        }
    }
    parser.end(source.len())
}

/// Returns the label of the encoding that the beginning of a source names in a `<meta>`, as a browser looks
/// for it.
pub(crate) fn named_encoding(source: &[u8]) -> Option<String> {
    let start = &source[..source.len().min(PRESCAN_BYTES)];
    let mut parser = Parser::new();
    let encoding = encoding_rs::WINDOWS_1252;
    for piece in Pieces::new(start, 0, encoding) {
        let (text, _) = encoding.decode_without_bom_handling(&start[piece.clone()]);
        if !parser.feed(piece, &text) || parser.named.is_some() {
            break;
        }
    }
    parser.named.map(|label| label.to_string())
}
