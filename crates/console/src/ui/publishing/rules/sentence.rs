//! Rules and decisions in plain sentences.

use chat_protocol::admin::publishing::{Decision, EntryKind, PublishingRule, Reason, RuleAction, RuleChecks};

use crate::text::publishing as t;
use crate::ui::publishing::differences::field_name;

/// Returns a rule as a sentence.
pub(super) fn sentence(rule: &PublishingRule) -> String {
    let entries = entries(rule);
    let text = match (rule.action, rule.despite_problems) {
        (RuleAction::Publish, true) => t::SENTENCE_DESPITE,
        (RuleAction::Publish, false) => t::SENTENCE_PUBLISH,
        (RuleAction::Review, _) => t::SENTENCE_REVIEW,
    };
    text.with(&[("entries", &entries)])
}

/// Returns what a rule is about: each condition adds to the text of those before.
fn entries(rule: &PublishingRule) -> String {
    let kind = match rule.kind {
        None => t::ENTRIES_ALL,
        Some(EntryKind::Overlay) => t::ENTRIES_HEADS,
        Some(EntryKind::Article) => t::ENTRIES_ARTICLES,
    };
    let mut entries = kind.get().to_owned();
    if let Some(paths) = any_of(rule.paths.iter().map(|path| {
        let text = if path.contains('*') { t::PATH_LIKE } else { t::PATH_UNDER };
        text.with(&[("path", path)])
    })) {
        entries = t::WITH_PATHS.with(&[("entries", &entries), ("paths", &paths)]);
    }
    if let Some(locales) = any_of(rule.locales.iter().cloned()) {
        entries = t::WITH_LOCALES.with(&[("entries", &entries), ("locales", &locales)]);
    }
    if let Some(fields) = any_of(rule.fields.iter().map(|field| field_name(*field, ""))) {
        entries = t::WITH_FIELDS.with(&[("entries", &entries), ("fields", &fields)]);
    }
    if let Some(max) = rule.max_change {
        entries = t::WITH_MAX_CHANGE.with(max, &[("entries", &entries)]);
    }
    match rule.checks {
        RuleChecks::Any => entries,
        RuleChecks::NoProblem => t::WITH_NO_PROBLEM.with(&[("entries", &entries)]),
        RuleChecks::NoFinding => t::WITH_NO_FINDING.with(&[("entries", &entries)]),
    }
}

fn any_of(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.reduce(|one, other| t::ONE_OR_OTHER.with(&[("one", &one), ("other", &other)]))
}

/// Returns why an entry waits.
pub(in crate::ui::publishing) fn waits_because(decision: &Decision) -> String {
    let text = match (decision.reason, &decision.rule) {
        (Reason::Rule, Some(_)) => t::WAITS_RULE,
        (Reason::Rule, None) => t::WAITS_OTHERWISE,
        (Reason::Problem, Some(_)) => t::WAITS_PROBLEM,
        (Reason::Problem, None) => t::WAITS_PROBLEM_OTHERWISE,
        (Reason::Limit, Some(_)) => t::WAITS_LIMIT,
        (Reason::Limit, None) => t::WAITS_LIMIT_OTHERWISE,
        (Reason::Composed, _) => t::WAITS_COMPOSED,
    };
    text.with(&[("name", decision.rule.as_deref().unwrap_or_default())])
}

/// Returns the reason of a decision that rules would make.
pub(super) fn reason(decision: &Decision) -> String {
    match (decision.action, &decision.rule) {
        (RuleAction::Review, _) => waits_because(decision),
        (RuleAction::Publish, Some(name)) => t::RULE_NAMED.with(&[("name", name)]),
        (RuleAction::Publish, None) => t::OTHERWISE.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use chat_protocol::admin::publishing::Field;

    use super::*;

    fn rule() -> PublishingRule {
        PublishingRule { name: "Blog".to_owned(), action: RuleAction::Publish, ..PublishingRule::default() }
    }

    #[test]
    fn a_rule_is_a_plain_sentence() {
        assert_eq!(sentence(&rule()), "Page heads and articles are published automatically.");
        let blog = PublishingRule {
            kind: Some(EntryKind::Overlay),
            paths: vec!["/blog".to_owned()],
            checks: RuleChecks::NoProblem,
            ..rule()
        };
        let expected = "Page heads under /blog whose checks find no problem are published automatically.";
        assert_eq!(sentence(&blog), expected);
        let all = PublishingRule {
            paths: vec!["/a".to_owned(), "*.html".to_owned()],
            locales: vec!["en".to_owned(), "de".to_owned()],
            fields: vec![Field::Title, Field::OpenGraph],
            max_change: Some(1),
            action: RuleAction::Review,
            ..rule()
        };
        assert_eq!(
            sentence(&all),
            "Page heads and articles under /a or like *.html in en or de that change nothing but Title or \
             Social preview with a change of at most 1 character wait for review."
        );
        let despite = PublishingRule { despite_problems: true, ..rule() };
        assert!(sentence(&despite).contains("even with problems"));
    }

    #[test]
    fn names_of_placeholders_in_a_rule_stay_as_they_are() {
        let hostile = PublishingRule { paths: vec!["/{entries}{paths}<b>".to_owned()], ..rule() };
        let expected = "Page heads and articles under /{entries}{paths}<b> are published automatically.";
        assert_eq!(sentence(&hostile), expected);
    }

    #[test]
    fn a_decision_names_its_rule_and_its_reason() {
        let decision = |rule: Option<&str>, reason| Decision {
            rule: rule.map(str::to_owned),
            reason,
            ..Decision::default()
        };
        for reason in [Reason::Rule, Reason::Problem, Reason::Limit] {
            assert!(waits_because(&decision(Some("Blog"), reason)).contains("“Blog”"));
            assert!(!waits_because(&decision(None, reason)).contains('“'));
        }
        let composed = waits_because(&decision(Some("Blog"), Reason::Composed));
        assert_eq!(composed, waits_because(&decision(None, Reason::Composed)));
        let published = Decision { action: RuleAction::Publish, ..decision(Some("Blog"), Reason::Rule) };
        assert_eq!(super::reason(&published), "Rule “Blog”");
    }
}
