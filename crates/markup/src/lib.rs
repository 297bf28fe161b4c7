//! Message text in the Markdown that assistants write, as elements and text.
//!
//! The rules are those of chats: a line end is a line break, and an item continues while its lines are
//! indented. HTML and entities are text, and an image is a link. No part of a text is lost: whatever does not
//! match a rule is shown as it was written. An unmatched marker is such a case, also at the end of a text
//! that still grows: a stray asterisk must not set the rest of a paragraph in italics.
//!
//! The running time is linear in the length of the text: the module `inline` explains why.

mod address;
mod block;
mod inline;
mod source;
#[cfg(test)]
mod tests;

/// Receives the elements and texts of a message, in order.
pub trait Sink {
    /// Opens an element, which contains everything up to its [`close`](Self::close). `value` is the address
    /// of an `a`, the first number of an `ol`, the language of a `pre`, and the class of any other element;
    /// it may be empty.
    fn open(&mut self, tag: &'static str, value: &str);

    /// Closes the element that was opened last.
    fn close(&mut self);

    /// Adds a text, which is never empty.
    fn text(&mut self, text: &str);
}

/// Renders the text of an assistant or an operator.
pub fn render<S: Sink>(text: &str, sink: &mut S) {
    block::blocks(text, sink);
}

/// Renders the text of a visitor, in which only addresses are markup.
pub fn render_plain<S: Sink>(text: &str, sink: &mut S) {
    inline::inline(text, inline::Mode::Plain, sink);
}
