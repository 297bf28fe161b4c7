//! Message text in the Markdown that assistants write, as elements and text.
//!
//! It reads as chats do: a line end is a line break, and an item goes on for as long as its lines are indented. HTML and
//! entities are text, an image is a link. All of a text is shown, whatever it is: what does not fit the rules is there as
//! it was written. A marker without its partner is such a case, also at the end of a text that still grows: a stray
//! asterisk must not lean the rest of a paragraph, and when the partner comes, the markers go and nothing else changes.
//!
//! The time that this takes grows with the length of the text, not faster: [`inline`] says how.

mod address;
mod block;
mod inline;
mod source;
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;

/// Takes what a text turns into, in order.
pub trait Sink {
    /// Begins an element. All up to its [`close`](Self::close) is in it. `value` is where an `a` leads, the first number
    /// of an `ol`, the language of a `pre`, and the class of anything else, if not empty.
    fn open(&mut self, tag: &'static str, value: &str);

    /// Ends the element that was begun last.
    fn close(&mut self);

    /// Text, never empty.
    fn text(&mut self, text: &str);
}

/// Gives what an assistant or an operator wrote.
pub fn render<S: Sink>(text: &str, sink: &mut S) {
    block::blocks(text, sink);
}

/// Gives what a visitor wrote: as it is, but for addresses, which become links.
pub fn render_plain<S: Sink>(text: &str, sink: &mut S) {
    inline::inline(text, inline::Mode::Plain, sink);
}
