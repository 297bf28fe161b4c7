//! The decision of rules about an entry.

use chat_protocol::admin::publishing::{
    Because, Decision, Entry, EntryKind, Field, Finding, Level, PublishingRule, PublishingRules, Reason,
    RuleAction, RuleChecks, TextSource, change_size, changed_fields, check,
};

/// Decides about an entry: the first rule that matches does. `has_publications_left` is whether the maximum
/// of the hour is not reached yet.
pub(super) fn decide(rules: &PublishingRules, entry: &Entry<'_>, has_publications_left: bool) -> Decision {
    let findings = check(entry);
    let rule = rules.rules.iter().find(|rule| !rule.disabled && matches(rule, entry, &findings));
    let (wanted, despite_problems) = match rule {
        Some(rule) => (rule.action, rule.despite_problems),
        None if entry.kind == EntryKind::Overlay => (rules.otherwise, false),
        None => (RuleAction::Review, false),
    };
    let reason = match wanted {
        RuleAction::Publish if has_problem(&findings) && !despite_problems => Reason::Problem,
        RuleAction::Publish if needs_reader(entry, rule) => Reason::Composed,
        RuleAction::Publish if !has_publications_left => Reason::Limit,
        _ => Reason::Rule,
    };
    let action = if reason == Reason::Rule { wanted } else { RuleAction::Review };
    Decision { action, rule: rule.map(|rule| rule.name.clone()), reason }
}

/// Returns whether a person has to read an entry first: it has a text that the service has composed, in a
/// part that the rule does not name. Nothing is known about the texts of a page head without reasons.
fn needs_reader(entry: &Entry<'_>, rule: Option<&PublishingRule>) -> bool {
    if entry.kind == EntryKind::Article {
        return false;
    }
    let because = Because::of(entry.body);
    let is_named = |field: Field| rule.is_some_and(|rule| rule.fields.contains(&field));
    let is_proved = |field: Field| {
        let mut reasons = because.iter().filter(|because| because.field == field);
        reasons.any(|because| because.source == TextSource::Page)
    };
    changed_fields(entry).into_iter().any(|field| !is_proved(field) && !is_named(field))
}

fn has_problem(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level() == Level::Problem)
}

fn matches(rule: &PublishingRule, entry: &Entry<'_>, findings: &[Finding]) -> bool {
    let passes = match rule.checks {
        RuleChecks::Any => true,
        RuleChecks::NoProblem => !has_problem(findings),
        RuleChecks::NoFinding => findings.is_empty(),
    };
    passes
        && rule.kind.is_none_or(|kind| kind == entry.kind)
        && (rule.paths.is_empty() || rule.paths.iter().any(|pattern| covers(pattern, entry.path)))
        && (rule.locales.is_empty() || rule.locales.iter().any(|tag| is_within(tag, entry.locale)))
        && (rule.fields.is_empty() || changed_fields(entry).iter().all(|field| rule.fields.contains(field)))
        && rule.max_change.is_none_or(|max| change_size(entry) <= max)
}

/// Returns whether a pattern covers a path: the page and all below it, or with `*` the whole path.
pub(super) fn covers(pattern: &str, path: &str) -> bool {
    if pattern.contains('*') {
        return is_like(pattern, path);
    }
    let Some(rest) = path.strip_prefix(pattern) else { return false };
    pattern.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?', '#'])
}

/// Matches a text with a pattern in which `*` stands for any text. Each part between two `*` is taken where
/// it is found first, so that the text is read once.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns whether a language is the one of a tag, such as `en-GB` of `en`.
fn is_within(tag: &str, locale: &str) -> bool {
    locale.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
        && matches!(locale.as_bytes().get(tag.len()), None | Some(b'-'))
}
