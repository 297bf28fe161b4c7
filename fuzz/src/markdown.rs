//! Messages of assistants, operators and visitors, as they become elements and text.

use crate::markup::{Sink, render, render_plain};

/// Checks what it is given, and keeps the text.
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
        assert!(self.open.pop().is_some(), "an element ends that never began");
    }

    fn text(&mut self, text: &str) {
        self.calls += 1;
        assert!(!text.is_empty());
        // The host behind a link is shown in addition to the text.
        if !self.open.contains(&"bdi") {
            self.text.push_str(text);
        }
    }
}

/// A message: every element ends, links lead where a visitor may go, and what is shown stands in the message
/// in its order.
pub fn message(data: &[u8]) {
    let message = String::from_utf8_lossy(data);
    for draw in [render, render_plain] {
        let mut checked = Checked::default();
        draw(&message, &mut checked);
        assert!(checked.open.is_empty(), "not ended: {:?}", checked.open);
        assert!(
            checked.calls <= 64 * message.len() + 64,
            "{} calls for {} bytes",
            checked.calls,
            message.len()
        );
        let mut given = message.chars();
        let shown = checked.text.chars().filter(|letter| letter.is_alphanumeric());
        for letter in shown {
            assert!(given.any(|given| given == letter), "{letter:?} is not where it was written");
        }
    }
}
