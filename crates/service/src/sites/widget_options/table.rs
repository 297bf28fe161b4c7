//! The options that a site sets for its pages. Written by `npm run options` from `www/option-table.mjs`.

use super::Check;

/// The options by their names in JavaScript.
pub(super) static OPTIONS: [(&str, Check); 10] = [
    (
        "theme",
        Check::Choice(&[
            "teal",
            "blue",
            "emerald",
            "violet",
            "amber",
            "rose",
            "slate",
            "light_teal",
            "light_blue",
            "light_amber",
            "light_rose",
            "custom",
        ]),
    ),
    ("themeTokens", Check::Tokens),
    ("colorScheme", Check::Choice(&["theme", "auto", "light", "dark"])),
    ("position", Check::Choice(&["end", "start"])),
    ("launcher", Check::Text),
    ("greeting", Check::Text),
    ("suggestedQuestions", Check::Texts { max: 20 }),
    ("operatorName", Check::Text),
    ("replyTime", Check::Text),
    ("contact", Check::Contact),
];
