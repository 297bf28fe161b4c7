//! The name of a visitor, wherever it is shown.

use chat_protocol::admin::ConversationSummary;

use crate::attention::plain;
use crate::text::inbox;

/// Maximum characters of a name.
const MAX_NAME: usize = 120;

/// Returns the name of a conversation's visitor.
pub fn visitor_name(conversation: &ConversationSummary) -> String {
    let visitor = &conversation.visitor;
    let known = [&visitor.name, &visitor.email, &visitor.phone, &visitor.company];
    // Characters that turn the text around would make a name look like a part of the page.
    let mut names = known.into_iter().flatten().map(|name| plain(name, MAX_NAME));
    names.find(|name| !name.is_empty()).unwrap_or_else(|| {
        // Visitors without a name are told apart by the end of their conversation's id.
        let id = &conversation.id;
        let start = id.char_indices().rev().nth(3).map_or(0, |(place, _)| place);
        inbox::VISITOR_NAME.with(&[("id", &id.get(start..).unwrap_or_default().to_uppercase())])
    })
}

#[cfg(test)]
mod tests {
    use chat_protocol::admin::Visitor;

    use super::*;

    #[test]
    fn a_visitor_is_called_by_what_is_known_and_cannot_turn_the_text_around() {
        let named = |name: &str, email: Option<&str>| {
            let email = email.map(str::to_owned);
            let visitor = Visitor { name: Some(name.to_owned()), email, ..Visitor::default() };
            let id = "conv_12ab".to_owned();
            visitor_name(&ConversationSummary { id, visitor, ..ConversationSummary::default() })
        };
        assert_eq!(named("Ann Lee", Some("ann@example.org")), "Ann Lee");
        assert_eq!(named(" ", Some("ann@example.org")), "ann@example.org");
        assert_eq!(named("\u{202e}eeL\nnnA", None), "eeL nnA");
        assert_eq!(named("\u{200b}", None), inbox::VISITOR_NAME.with(&[("id", "12AB")]));
    }
}
