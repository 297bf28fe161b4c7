//! The facts about the people beside the AI that a visitor may be told.

use super::links::link_target;
use crate::sites::{Opening, Site};

/// The people beside the AI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Team<'a> {
    /// Whether the AI answers alone: no person is offered or promised.
    pub(crate) is_elsewhere: bool,
    /// The address by which the team can be reached outside of the chat.
    pub(crate) contact: Option<&'a str>,
    /// When the team is back, if it is away.
    pub(crate) reopens: Option<Opening>,
    /// How fast people usually answer, if that is known and somebody may answer now.
    pub(crate) usual_reply: Option<UsualReply>,
}

impl<'a> Team<'a> {
    /// Returns the team of a site where the AI answers alone.
    pub(crate) fn elsewhere(site: &'a Site) -> Self {
        Self { is_elsewhere: true, contact: site.contact(), ..Self::default() }
    }

    /// Returns the team for somebody who has not written before.
    pub(super) fn of(site: &'a Site) -> Self {
        if site.is_ai_only() { Self::elsewhere(site) } else { Self::default() }
    }
}

/// The minutes of the sentences about the usual time of an answer, in their order.
const MINUTES: [i64; 8] = [5, 10, 15, 30, 60, 120, 240, 24 * 60];

/// The usual time of an answer by people, as one of the times that visitors are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsualReply(usize);

impl UsualReply {
    /// Returns the shortest of the times that is not exceeded; `None` for more than a day.
    pub(crate) fn within(ms: i64) -> Option<Self> {
        MINUTES.iter().position(|minutes| ms <= minutes * 60_000).map(Self)
    }

    /// Returns the position of its sentence.
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// Returns an address as a link in Markdown, whose text is the address as people write it.
pub(super) fn contact_link(address: &str) -> String {
    let shown = ["mailto:", "tel:"].iter().find_map(|scheme| address.strip_prefix(scheme));
    let shown = shown.map_or(address, |rest| rest.split('?').next().unwrap_or_default());
    let shown = shown.replace(['[', ']', '\\', '`', '*', '_'], "");
    format!("[{shown}]({})", link_target(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_no_less_time_than_people_take() {
        let minutes = |ms| UsualReply::within(ms).map(|usual| MINUTES[usual.index()]);
        for (ms, expected) in [
            (0, Some(5)),
            (300_000, Some(5)),
            (300_001, Some(10)),
            (3_600_000, Some(60)),
            (3_600_001, Some(120)),
            (86_400_000, Some(1440)),
            (86_400_001, None),
        ] {
            assert_eq!(minutes(ms), expected, "{ms}");
        }
    }

    #[test]
    fn a_contact_is_one_link_with_its_address_as_people_write_it() {
        for (address, expected) in [
            (
                "mailto:shop@shop.example?subject=Chat",
                "[shop@shop.example](mailto:shop@shop.example?subject=Chat)",
            ),
            ("tel:+49301234567", "[+49301234567](tel:+49301234567)"),
            ("https://shop.example/contact", "[https://shop.example/contact](https://shop.example/contact)"),
            ("https://shop.example/a)[b]", "[https://shop.example/a)b](https://shop.example/a%29[b])"),
        ] {
            assert_eq!(contact_link(address), expected, "{address}");
        }
    }
}
