//! The rules of an audit.

mod content_rules;
mod head_rules;
mod site_rules;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth a look: an advice, or a choice that the owner may have made.
    Note,
    /// Harms how readers or search engines see the page, in the usual case.
    Warning,
    /// Wrong beyond doubt: it contradicts a standard, the site itself, or a file that does not exist.
    Error,
}

impl Severity {
    /// Returns its name, as in JSON and SARIF.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rule: what is looked for, why, and how to mend it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable id, such as `title-missing`.
    pub id: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// The finding in a sentence.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to mend it.
    pub fix: &'static str,
}

/// Defines rules and the list of them.
macro_rules! define {
    ($list:ident; $($name:ident $id:literal $severity:ident $title:literal $why:literal $fix:literal)*) => {
        $(pub(crate) static $name: Rule =
            Rule { id: $id, severity: Severity::$severity, title: $title, why: $why, fix: $fix };)*
        pub(super) static $list: &[&Rule] = &[$(&$name),*];
    };
}
use define;

pub(crate) use content_rules::*;
pub(crate) use head_rules::*;
pub(crate) use site_rules::*;

/// Returns all rules, in the order of their ids.
pub fn rules() -> Vec<&'static Rule> {
    let mut all: Vec<&'static Rule> = [head_rules::HEAD, content_rules::CONTENT, site_rules::SITE].concat();
    all.sort_by_key(|rule| rule.id);
    all
}
