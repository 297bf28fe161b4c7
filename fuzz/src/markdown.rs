//! Renders messages of assistants, operators and visitors as elements and text.

use chat_markup::{Sink, render, render_plain};

/// A sink that checks its calls and collects the text.
#[derive(Default)]
struct Checked {
    open: Vec<&'static str>,
    text: String,
    calls: usize,
}

impl Sink for Checked {
    fn open(&mut self, tag: &'static str, value: &str) {
        self.calls += 1;
        if tag == "a" {
            assert!(!self.open.contains(&"a"), "a link within a link");
            let scheme = value.split(':').next().unwrap_or_default().to_ascii_lowercase();
            assert!(["http", "https", "mailto", "tel"].contains(&scheme.as_str()), "a link to {value:?}");
        }
        self.open.push(tag);
        assert!(self.open.len() < 80, "{} elements deep", self.open.len());
    }

    fn close(&mut self) {
        self.calls += 1;
        assert!(self.open.pop().is_some(), "an element is closed that was never opened");
    }

    fn text(&mut self, text: &str) {
        self.calls += 1;
        assert!(!text.is_empty());
        // The host of a link is shown in addition to the text.
        if !self.open.contains(&"bdi") {
            self.text.push_str(text);
        }
    }
}

/// Renders a message. Every element is closed, links have allowed schemes, and the shown text is in the
/// message in the same order.
pub fn message(data: &[u8]) {
    let message = String::from_utf8_lossy(data);
    for draw in [render, render_plain] {
        let mut checked = Checked::default();
        draw(&message, &mut checked);
        assert!(checked.open.is_empty(), "not closed: {:?}", checked.open);
        assert!(
            checked.calls <= 64 * message.len() + 64,
            "{} calls for {} bytes",
            checked.calls,
            message.len()
        );
        let mut given = message.chars();
        let shown = checked.text.chars().filter(|letter| letter.is_alphanumeric());
        for letter in shown {
            assert!(given.any(|given| given == letter), "{letter:?} is not in the message at this position");
        }
    }
}
