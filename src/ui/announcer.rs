//! Speaks what comes in, by a live region that is no part of the shadow root: not every screen reader listens there.

use chat_protocol::Role;
use chat_session::Entry;
use web_sys::Element;

use super::Ui;
use crate::browser::document;
use crate::text::strings::Text;

/// So many messages stay in the region: one that goes too early is not spoken.
const KEPT: u32 = 4;

impl Ui {
    /// Puts the region into `host`, where a slot of the shadow root shows it to nobody but screen readers.
    pub(crate) fn open_announcer(&self, host: &Element) {
        let region = self.el("div aria-live=polite slot=announcer").attr("lang", &self.settings().language);
        let region = region.node::<Element>();
        // Appending to an element of the page does not fail.
        _ = host.append_child(&region);
        self.state().announcer.replace(Some(region));
    }

    /// Speaks a message of somebody else, once.
    pub(crate) fn announce(&self, entry: &Entry) {
        let name = match entry.author {
            Role::Visitor => return,
            Role::Operator => self.operator_name(),
            Role::Assistant | Role::Other(_) => self.assistant_name(),
        };
        if let Some(region) = &*self.state().announcer.borrow() {
            let line = document().create_text_node(&(name + ": " + &entry.text));
            let said = self.el("p").node::<Element>();
            _ = said.append_child(&line);
            _ = region.append_child(&said);
            if region.child_element_count() > KEPT
                && let Some(first) = region.first_element_child()
            {
                first.remove();
            }
        }
    }

    /// The name of a person of the site.
    pub(crate) fn operator_name(&self) -> String {
        self.settings().operator_name.clone().unwrap_or_else(|| self.text(Text::Support))
    }
}
