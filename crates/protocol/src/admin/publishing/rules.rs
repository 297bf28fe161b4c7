//! The rules of a site, and their decisions.
//!
//! A console that does not know a condition refuses to read it: an editor that dropped a condition would save
//! a rule that publishes more.

use serde::{Deserialize, Serialize};

use super::{EntryKind, Field};
use crate::{FieldError, is_language_tag};

/// What happens to an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum RuleAction {
    /// It waits for a person.
    #[default]
    Review,
    /// It is published automatically.
    Publish,
}

/// The checks that an entry has to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum RuleChecks {
    /// Whatever they find.
    #[default]
    Any,
    /// They find no problem.
    NoProblem,
    /// They find neither a problem nor advice.
    NoFinding,
}

/// A rule: conditions, which must all hold, and what happens then. A condition that is empty or null holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PublishingRule {
    /// The name, 1 to 80 characters, which no other rule of the site has.
    pub name: String,
    /// Whether the rule is skipped.
    pub disabled: bool,
    /// The kind of the entry.
    pub kind: Option<EntryKind>,
    /// Paths: `/blog` is the page and all below it; with `*`, which stands for any text, the whole path.
    pub paths: Vec<String>,
    /// Language tags: `en` is also `en-GB`.
    pub locales: Vec<String>,
    /// The checks.
    pub checks: RuleChecks,
    /// The only fields that may change.
    pub fields: Vec<Field>,
    /// Maximum size of the change in characters, removed and added.
    pub max_change: Option<i64>,
    /// What happens.
    pub action: RuleAction,
    /// Whether an entry with problems is published too. Otherwise it waits for a person.
    pub despite_problems: bool,
}

/// The rules of a site, in their order: the first one that matches decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PublishingRules {
    /// The version. A change is refused if somebody else has changed the rules since it was read.
    pub version: i64,
    /// The rules, at most 50.
    pub rules: Vec<PublishingRule>,
    /// What happens to page heads that no rule matches. Articles that no rule matches wait for a person.
    pub otherwise: RuleAction,
    /// Maximum automatic publications of an hour, 1 to 10,000.
    pub hourly_limit: i64,
}

impl PublishingRules {
    /// Maximum rules of a site.
    pub const MAX_RULES: usize = 50;
    /// Maximum of [`Self::hourly_limit`].
    pub const MAX_HOURLY_LIMIT: i64 = 10_000;

    /// Returns the rules without surrounding spaces in texts, or the first problem.
    pub fn checked(mut self) -> Result<Self, FieldError> {
        if self.rules.len() > Self::MAX_RULES {
            let problem = format!("must have at most {} entries", Self::MAX_RULES);
            return Err(FieldError::new("rules", problem));
        }
        if !(1..=Self::MAX_HOURLY_LIMIT).contains(&self.hourly_limit) {
            let problem = format!("must be 1 to {}", Self::MAX_HOURLY_LIMIT);
            return Err(FieldError::new("hourlyLimit", problem));
        }
        let mut names: Vec<String> = Vec::new();
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let checked = std::mem::take(rule).checked(&names);
            *rule = checked.map_err(|error| error.within(&format!("[{index}]")).within("rules"))?;
            names.push(rule.name.clone());
        }
        Ok(self)
    }
}

impl PublishingRule {
    /// Maximum characters of a name.
    pub const MAX_NAME: usize = 80;
    /// Maximum paths, and maximum languages.
    pub const MAX_ENTRIES: usize = 20;
    /// Maximum characters of a path.
    pub const MAX_PATH: usize = 300;
    /// Maximum of [`Self::max_change`].
    pub const MAX_CHANGE: i64 = 1_000_000;

    /// Returns the rule without surrounding spaces in texts, or the first problem. `names` are those of other
    /// rules of the site.
    pub fn checked(mut self, names: &[String]) -> Result<Self, FieldError> {
        let name = self.name.trim().to_owned();
        let length = name.chars().count();
        if length == 0 || length > Self::MAX_NAME || name.chars().any(char::is_control) {
            let problem = format!("must have 1 to {} characters on one line", Self::MAX_NAME);
            return Err(FieldError::new("name", problem));
        }
        let key = name.to_lowercase();
        if names.iter().any(|name| name.to_lowercase() == key) {
            return Err(FieldError::new("name", "must differ from the names of other rules"));
        }
        self.name = name;
        self.paths = list("paths", &self.paths, |path| {
            let is_path = path.starts_with(['/', '*']) && !path.chars().any(char::is_control);
            if is_path && path.chars().count() <= Self::MAX_PATH {
                return Ok(());
            }
            let problem = format!(
                "must begin with / or *, such as /blog or *.html, of 1 to {} characters",
                Self::MAX_PATH
            );
            Err(FieldError::new("paths", problem))
        })?;
        self.locales = list("locales", &self.locales, |tag| {
            let problem = "must be language tags such as en or de-CH";
            if is_language_tag(tag) { Ok(()) } else { Err(FieldError::new("locales", problem)) }
        })?;
        if self.max_change.is_some_and(|max| !(0..=Self::MAX_CHANGE).contains(&max)) {
            return Err(FieldError::new("maxChange", format!("must be 0 to {}", Self::MAX_CHANGE)));
        }
        let mut fields = Vec::new();
        for field in std::mem::take(&mut self.fields) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        self.fields = fields;
        self.despite_problems = self.despite_problems && self.action == RuleAction::Publish;
        Ok(self)
    }
}

/// Returns the distinct entries of a list without surrounding spaces.
fn list(
    field: &str,
    entries: &[String],
    check: impl Fn(&str) -> Result<(), FieldError>,
) -> Result<Vec<String>, FieldError> {
    if entries.len() > PublishingRule::MAX_ENTRIES {
        let problem = format!("must have at most {} entries", PublishingRule::MAX_ENTRIES);
        return Err(FieldError::new(field, problem));
    }
    let mut checked: Vec<String> = Vec::new();
    for entry in entries {
        let entry = entry.trim();
        check(entry)?;
        if !checked.iter().any(|known| known == entry) {
            checked.push(entry.to_owned());
        }
    }
    Ok(checked)
}

/// Why an entry is published automatically, or waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The rule says so.
    #[default]
    Rule,
    /// The rule would publish it, but a check found a problem.
    Problem,
    /// The rule would publish it, but the maximum of the hour is reached.
    Limit,
    /// It contains a text that the service has composed, in a part that the rule does not name.
    Composed,
}

/// The decision about an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Decision {
    /// Whether it is published automatically, or waits.
    pub action: RuleAction,
    /// The name of the rule; `None` for everything else.
    pub rule: Option<String>,
    /// The reason.
    pub reason: Reason,
}

/// An entry that waits, and what rules would decide about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DryRunItem {
    /// The entry's id.
    pub id: String,
    /// Its kind.
    pub kind: EntryKind,
    /// The path of its page.
    pub path: String,
    /// The language of its page; empty for all.
    pub locale: String,
    /// The title.
    pub title: String,
    /// The decision.
    pub decision: Decision,
}

/// The decisions of rules about the entries that wait now. Nothing is published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DryRun {
    /// The number of entries that would be published.
    pub publishes: i64,
    /// The number of entries that would wait because a rule says so.
    pub reviews: i64,
    /// The number of entries that would wait because of a problem.
    pub problems: i64,
    /// The number of entries that would wait because of the maximum of an hour.
    pub over_limit: i64,
    /// Whether more entries wait than were looked at.
    pub has_more: bool,
    /// The first entries, newest first.
    pub items: Vec<DryRunItem>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> PublishingRule {
        PublishingRule { name: name.to_owned(), ..PublishingRule::default() }
    }

    fn problem(change: impl Fn(&mut PublishingRule)) -> String {
        let mut changed = rule("Blog");
        change(&mut changed);
        let rules = PublishingRules { rules: vec![changed], hourly_limit: 1, ..PublishingRules::default() };
        rules.checked().map_or_else(|error| error.field, |_| "none".to_owned())
    }

    #[test]
    fn names_the_field_that_is_wrong() {
        assert_eq!(problem(|_| ()), "none");
        for name in ["", " ", "a\nb", &"x".repeat(81)] {
            assert_eq!(problem(|rule| rule.name = name.to_owned()), "rules[0].name", "{name:?}");
        }
        for path in ["", "blog", "https://shop.example/blog", "/a\u{0}", &["/", &"x".repeat(300)].concat()] {
            assert_eq!(problem(|rule| rule.paths = vec![path.to_owned()]), "rules[0].paths", "{path:?}");
        }
        assert_eq!(problem(|rule| rule.paths = vec!["/a".to_owned(); 21]), "rules[0].paths");
        assert_eq!(problem(|rule| rule.locales = vec!["not a tag".to_owned()]), "rules[0].locales");
        assert_eq!(problem(|rule| rule.max_change = Some(-1)), "rules[0].maxChange");
    }

    #[test]
    fn names_differ_without_regard_to_case_and_spaces() {
        let rules = PublishingRules {
            rules: vec![rule("Blog"), rule(" BLOG ")],
            hourly_limit: 1,
            ..PublishingRules::default()
        };
        assert_eq!(rules.checked().expect_err("the same name").field, "rules[1].name");
    }

    #[test]
    fn the_limit_and_the_number_of_rules_are_bounded() {
        for limit in [i64::MIN, 0, 10_001] {
            let rules = PublishingRules { hourly_limit: limit, ..PublishingRules::default() };
            assert_eq!(rules.checked().expect_err("a limit").field, "hourlyLimit");
        }
        let many = (0..51).map(|number| rule(&number.to_string())).collect();
        let rules = PublishingRules { rules: many, hourly_limit: 1, ..PublishingRules::default() };
        assert_eq!(rules.checked().expect_err("too many").field, "rules");
    }

    #[test]
    fn only_a_rule_that_publishes_does_so_despite_problems() {
        let checked = PublishingRule { despite_problems: true, ..rule("Blog") }.checked(&[]).expect("valid");
        assert!(!checked.despite_problems);
        let publishes =
            PublishingRule { action: RuleAction::Publish, despite_problems: true, ..rule("Blog") };
        assert!(publishes.checked(&[]).expect("valid").despite_problems);
    }

    #[test]
    fn a_condition_that_this_version_does_not_know_is_refused() {
        let json = r#"{"name": "Blog", "author": "Ada", "action": "publish"}"#;
        assert!(serde_json::from_str::<PublishingRule>(json).is_err());
        let json = r#"{"name": "Blog", "kind": "video", "action": "publish"}"#;
        assert!(serde_json::from_str::<PublishingRule>(json).is_err());
    }
}
