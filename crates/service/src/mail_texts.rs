//! The texts of all e-mails and pushes, in the languages of the widget.
//!
//! Words are chosen so that no text depends on a number or on somebody's gender where the language allows it.

mod replies;
mod table;

pub(crate) use replies::ReplyTexts;
use table::TEXTS;

/// The texts of a language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    /// The language tag.
    pub(crate) language: &'static str,
    /// A sentence without its full stop, which is also the subject, as are the next two.
    pub(crate) unanswered: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) hand_off: &'static str,
    /// The title of a push about a message. That about a visitor who wants a person is `hand_off`.
    pub(crate) message: &'static str,
    /// The subject of an e-mail about several conversations.
    pub(crate) several: &'static str,
    /// The end of a list that was cut off.
    pub(crate) more: &'static str,
    pub(crate) open: &'static str,
    pub(crate) footer: &'static str,
    /// The subject of an e-mail with a link for a new password.
    pub(crate) password: &'static str,
    pub(crate) password_asked: &'static str,
    pub(crate) password_open: &'static str,
    pub(crate) password_ignore: &'static str,
    /// The subject of an invitation.
    pub(crate) invitation: &'static str,
    pub(crate) invitation_by: &'static str,
    pub(crate) invitation_open: &'static str,
    pub(crate) invitation_ignore: &'static str,
    /// The subject of a warning about the AI replies of the month.
    pub(crate) quota: &'static str,
    pub(crate) quota_end: &'static str,
}

impl Texts {
    /// Returns the texts of the first of these language tags that has some, else those in English.
    pub(crate) fn of<'a>(tags: impl IntoIterator<Item = Option<&'a str>>) -> &'static Self {
        tags.into_iter().flatten().find_map(Self::of_tag).unwrap_or(&TEXTS[0])
    }

    fn of_tag(tag: &str) -> Option<&'static Self> {
        let tag = tag.to_ascii_lowercase().replace('_', "-");
        let (language, rest) = tag.split_once('-').unwrap_or((&tag, ""));
        let is_traditional =
            language == "zh" && ["tw", "hk", "mo", "hant"].iter().any(|part| rest.contains(part));
        let language = match language {
            "zh" if is_traditional => "zh-TW",
            // Older tags of Hebrew and Indonesian.
            "iw" => "he",
            "in" => "id",
            language => language,
        };
        TEXTS.iter().find(|texts| texts.language == language)
    }

    /// Returns the value of the attribute `dir` in HTML.
    pub(crate) fn direction(&self) -> &'static str {
        if matches!(self.language, "ar" | "he") { "rtl" } else { "ltr" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_back_from_the_operators_language_to_that_of_the_site_and_to_english() {
        for (tags, language) in [
            ([Some("de-AT"), Some("fr")], "de"),
            ([None, Some("fr-CA")], "fr"),
            ([Some("xx"), Some("pt-BR")], "pt"),
            ([Some("zh-Hant-HK"), None], "zh-TW"),
            ([Some("zh_CN"), None], "zh"),
            ([Some("ZH-tw"), None], "zh-TW"),
            ([Some(""), Some("x")], "en"),
            ([None, None], "en"),
        ] {
            assert_eq!(Texts::of(tags).language, language, "{tags:?}");
        }
    }

    #[test]
    fn every_language_has_the_same_placeholders_and_one_line_for_each_text() {
        for texts in &TEXTS {
            let (several, more) = (texts.several, texts.more);
            assert!(several.contains("{count}") && more.contains("{count}"), "{}", texts.language);
            let by = texts.invitation_by;
            assert!(by.contains("{inviter}") && by.contains("{tenant}"), "{}", texts.language);
            let subjects = [
                texts.unanswered,
                texts.lead,
                texts.hand_off,
                texts.message,
                texts.password,
                texts.invitation,
                texts.quota,
            ];
            assert!(
                subjects.iter().all(|text| (4..70).contains(&text.chars().count())),
                "{}",
                texts.language
            );
        }
        let languages: std::collections::BTreeSet<&str> = TEXTS.iter().map(|texts| texts.language).collect();
        assert_eq!(languages.len(), TEXTS.len());
    }
}
