//! Tests of the decisions of rules.

use chat_protocol::Value;
use chat_protocol::admin::publishing::{
    Before, Decision, Entry, EntryKind, Field, PublishingRule, PublishingRules, Reason, RuleAction,
    RuleChecks,
};
use proptest::prelude::*;
use serde_json::json;

use super::matching::{covers, decide};

/// The parts of a page head that the samples prove to be better.
const PROVED: [&str; 6] = ["title", "description", "canonical", "robots", "openGraph", "structuredData"];

/// An entry with what it refers to.
#[derive(Clone, Debug)]
struct Sample {
    kind: EntryKind,
    path: String,
    locale: String,
    body: Value,
    before: Before,
}

impl Sample {
    fn decide(&self, rules: &PublishingRules) -> Decision {
        self.decide_with(rules, true)
    }

    fn decide_with(&self, rules: &PublishingRules, has_publications_left: bool) -> Decision {
        let Self { kind, path, locale, body, before } = self;
        let entry = Entry { kind: *kind, path, locale, body, before };
        decide(rules, &entry, has_publications_left)
    }
}

fn good_head() -> serde_json::Value {
    json!({
        "title": "Mugs made by hand in Leeds",
        "description": "Each mug is thrown, glazed and fired in our own studio. Order by noon, and it leaves today.",
        "openGraph": {"title": "Mugs"},
        "structuredData": [{"@type": "Product"}],
        "because": PROVED.map(|field| json!({"field": field, "fault": "missing", "source": "page"})),
    })
}

/// Returns a page head that passes all checks, with other values for some members.
fn head(changes: &serde_json::Value) -> Sample {
    let mut body = good_head();
    for (name, value) in changes.as_object().expect("an object") {
        body[name] = value.clone();
    }
    Sample {
        kind: EntryKind::Overlay,
        path: "/blog/mugs".to_owned(),
        locale: "en-GB".to_owned(),
        body: serde_json::from_value(body).expect("a value"),
        before: Before::default(),
    }
}

fn article(html: &str) -> Sample {
    let body = json!({"title": "News of the studio", "content": html});
    Sample {
        kind: EntryKind::Article,
        body: serde_json::from_value(body).expect("a value"),
        ..head(&json!({}))
    }
}

fn publishing(name: &str) -> PublishingRule {
    PublishingRule { name: name.to_owned(), action: RuleAction::Publish, ..PublishingRule::default() }
}

fn rules(rules: Vec<PublishingRule>, otherwise: RuleAction) -> PublishingRules {
    PublishingRules { version: 0, rules, otherwise, hourly_limit: 100 }
}

/// Returns whether a rule with one condition matches.
fn matches(sample: &Sample, condition: impl Fn(&mut PublishingRule)) -> bool {
    let mut rule = publishing("Rule");
    condition(&mut rule);
    sample.decide(&rules(vec![rule], RuleAction::Review)).rule.is_some()
}

#[test]
fn each_condition_holds_for_what_it_names_and_nothing_else() {
    let sample = head(&json!({}));
    assert!(matches(&sample, |_| ()), "no condition");
    assert!(!matches(&sample, |rule| rule.disabled = true));
    assert!(matches(&sample, |rule| rule.kind = Some(EntryKind::Overlay)));
    assert!(!matches(&sample, |rule| rule.kind = Some(EntryKind::Article)));
    assert!(matches(&article("<p>x</p>"), |rule| rule.kind = Some(EntryKind::Article)));

    for (tag, is_match) in [("en", true), ("EN-gb", true), ("en-US", false), ("e", false), ("de", false)] {
        assert_eq!(matches(&sample, |rule| rule.locales = vec![tag.to_owned()]), is_match, "{tag}");
    }
    let for_all = Sample { locale: String::new(), ..sample.clone() };
    assert!(!matches(&for_all, |rule| rule.locales = vec!["en".to_owned()]), "all languages");

    let advice = head(&json!({"title": "Mugs"}));
    let problem = head(&json!({"robots": "noindex"}));
    for (sample, checks, is_match) in [
        (&sample, RuleChecks::NoFinding, true),
        (&advice, RuleChecks::NoFinding, false),
        (&advice, RuleChecks::NoProblem, true),
        (&problem, RuleChecks::NoProblem, false),
        (&problem, RuleChecks::Any, true),
    ] {
        assert_eq!(matches(sample, |rule| rule.checks = checks), is_match, "{checks:?}");
    }
}

#[test]
fn fields_and_the_size_of_the_change_are_compared_with_the_page() {
    let mut sample = head(&json!({"title": "Mugs made by hand in York"}));
    sample.before.overlay = serde_json::from_value(good_head()).expect("a value");
    assert!(matches(&sample, |rule| rule.fields = vec![Field::Title]));
    assert!(matches(&sample, |rule| rule.fields = vec![Field::Robots, Field::Title]));
    assert!(!matches(&sample, |rule| rule.fields = vec![Field::Description]));
    // "Leeds" and "York" are nine characters.
    assert!(matches(&sample, |rule| rule.max_change = Some(9)));
    assert!(!matches(&sample, |rule| rule.max_change = Some(8)));
    assert!(!matches(&article("<p>x</p>"), |rule| rule.fields = vec![Field::Title]), "it changes the text");
    let same = Sample { body: sample.before.overlay.clone(), ..sample };
    assert!(matches(&same, |rule| rule.max_change = Some(0)), "nothing changes");
}

#[test]
fn a_text_that_nothing_proves_needs_a_person_or_a_rule_that_names_it() {
    let composed = json!([{"field": "title", "fault": "missing", "source": "composed"}]);
    for because in [
        composed,
        json!(null),
        json!([{"field": "title"}]),
        json!("all"),
        json!([{"field": "description", "fault": "missing", "source": "page"}]),
    ] {
        let sample = head(
            &json!({"description": null, "openGraph": null, "structuredData": null, "because": because}),
        );
        let decide = |fields: &[Field]| {
            let rule = PublishingRule { fields: fields.to_vec(), ..publishing("Rule") };
            sample.decide(&rules(vec![rule], RuleAction::Publish)).reason
        };
        assert_eq!(decide(&[]), Reason::Composed, "{because}");
        assert_eq!(
            decide(&[Field::Description]),
            Reason::Composed,
            "the rule does not match: everything else"
        );
        assert_eq!(decide(&[Field::Title]), Reason::Rule);
        assert_eq!(sample.decide(&rules(Vec::new(), RuleAction::Publish)).reason, Reason::Composed);
    }
}

#[test]
fn a_path_covers_the_page_and_all_below_it() {
    for (pattern, path, is_covered) in [
        ("/blog", "/blog", true),
        ("/blog", "/blog/", true),
        ("/blog", "/blog/2026/mugs", true),
        ("/blog", "/blog?page=2", true),
        ("/blog", "/blogger", false),
        ("/blog", "/de/blog", false),
        ("/blog/", "/blog", false),
        ("/blog/", "/blog/mugs", true),
        ("/", "/anything", true),
        ("/blog/*/draft", "/blog/2026/mugs/draft", true),
        ("/blog/*/draft", "/blog/draft", false),
        ("/blog/*", "/blog/", true),
        ("*.html", "/a/b.html", true),
        ("*.html", "/a/b.htm", false),
        ("*", "", true),
        ("/a*a", "/a", false),
        ("/a*a", "/aa", true),
        ("/*b*b", "/bb", true),
        ("/*b*b", "/b", false),
        ("/ü*", "/über", true),
        ("/.*", "/blog", false),
    ] {
        assert_eq!(covers(pattern, path), is_covered, "{pattern} {path}");
    }
}

#[test]
fn a_problem_is_published_only_by_a_rule_that_says_so() {
    let despite = PublishingRule { despite_problems: true, ..publishing("All") };
    for problem in [
        head(&json!({"robots": "noindex"})),
        head(&json!({"canonicalUrl": "/mugs"})),
        Sample { path: "/blog/../admin".to_owned(), ..head(&json!({})) },
        article("<script>x()</script>"),
    ] {
        let waits = problem.decide(&rules(vec![publishing("All")], RuleAction::Publish));
        let expected =
            Decision { action: RuleAction::Review, rule: Some("All".to_owned()), reason: Reason::Problem };
        assert_eq!(waits, expected, "{problem:?}");
        let published = problem.decide(&rules(vec![despite.clone()], RuleAction::Review));
        assert_eq!((published.action, published.reason), (RuleAction::Publish, Reason::Rule), "{problem:?}");
    }
    let otherwise = head(&json!({"robots": "noindex"})).decide(&rules(Vec::new(), RuleAction::Publish));
    assert_eq!(
        (otherwise.action, otherwise.rule, otherwise.reason),
        (RuleAction::Review, None, Reason::Problem)
    );
}

#[test]
fn everything_else_publishes_page_heads_and_never_articles() {
    let automatic = rules(Vec::new(), RuleAction::Publish);
    assert_eq!(head(&json!({})).decide(&automatic).action, RuleAction::Publish);
    assert_eq!(article("<p>x</p>").decide(&automatic), Decision::default());
    assert_eq!(head(&json!({})).decide(&rules(Vec::new(), RuleAction::Review)), Decision::default());
}

#[test]
fn the_maximum_of_an_hour_holds_for_every_rule() {
    let despite = PublishingRule { despite_problems: true, ..publishing("All") };
    for rules in [rules(vec![despite], RuleAction::Review), rules(Vec::new(), RuleAction::Publish)] {
        let decision = head(&json!({})).decide_with(&rules, false);
        assert_eq!((decision.action, decision.reason), (RuleAction::Review, Reason::Limit));
    }
}

fn any_rule() -> impl Strategy<Value = PublishingRule> {
    let kind = prop_oneof![Just(None), Just(Some(EntryKind::Overlay)), Just(Some(EntryKind::Article))];
    let checks = prop_oneof![Just(RuleChecks::Any), Just(RuleChecks::NoProblem), Just(RuleChecks::NoFinding)];
    let action = prop_oneof![Just(RuleAction::Publish), Just(RuleAction::Review)];
    let paths = proptest::collection::vec("[/*][/*a-c]{0,5}", 0..3);
    let max_change = proptest::option::of(0..200_i64);
    let flags = (any::<bool>(), any::<bool>());
    (kind, checks, action, paths, max_change, flags).prop_map(
        |(kind, checks, action, paths, max_change, (disabled, despite_problems))| PublishingRule {
            kind,
            checks,
            action,
            paths,
            max_change,
            disabled,
            despite_problems,
            ..PublishingRule::default()
        },
    )
}

fn any_rules() -> impl Strategy<Value = PublishingRules> {
    (proptest::collection::vec(any_rule(), 0..6), any::<bool>()).prop_map(|(mut list, is_automatic)| {
        for (index, rule) in list.iter_mut().enumerate() {
            rule.name = index.to_string();
        }
        rules(list, if is_automatic { RuleAction::Publish } else { RuleAction::Review })
    })
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let robots = prop_oneof![Just("index"), Just("noindex"), Just("none")];
    let html = prop_oneof![Just("<p>x</p>"), Just("<img onerror=x()>"), Just("<script>")];
    (any::<bool>(), "/[/a-c.]{0,6}", robots, html).prop_map(|(is_article, path, robots, html)| {
        let sample = if is_article { article(html) } else { head(&json!({ "robots": robots })) };
        Sample { path, ..sample }
    })
}

proptest! {
    #[test]
    fn the_first_rule_that_matches_decides(sample in any_sample(), all in any_rules()) {
        let decision = sample.decide(&all);
        let alone = |rule: &PublishingRule| sample.decide(&rules(vec![rule.clone()], all.otherwise));
        let first = all.rules.iter().find(|rule| alone(rule).rule.is_some());
        prop_assert_eq!(decision.rule.as_ref(), first.map(|rule| &rule.name));
        let expected = first.map_or_else(|| sample.decide(&rules(Vec::new(), all.otherwise)), alone);
        prop_assert_eq!(decision, expected);
    }

    #[test]
    fn nothing_with_a_problem_is_published_unless_its_rule_says_so(sample in any_sample(), all in any_rules()) {
        let Sample { kind, path, locale, body, before } = &sample;
        let entry = Entry { kind: *kind, path, locale, body, before };
        let findings = chat_protocol::admin::publishing::check(&entry);
        let has_problem =
            findings.iter().any(|finding| finding.level() == chat_protocol::admin::publishing::Level::Problem);
        let decision = sample.decide(&all);
        if has_problem && decision.action == RuleAction::Publish {
            let rule = all.rules.iter().find(|rule| Some(&rule.name) == decision.rule.as_ref());
            prop_assert!(rule.is_some_and(|rule| rule.despite_problems), "{:?}", decision);
        }
        prop_assert_ne!(sample.decide_with(&all, false).action, RuleAction::Publish);
    }

    #[test]
    fn any_pattern_is_matched_with_any_path(pattern in "[/*]\\PC{0,40}", path in "\\PC{0,60}") {
        let is_covered = covers(&pattern, &path);
        if !pattern.contains('*') {
            prop_assert!(!is_covered || path.starts_with(&pattern));
        }
        prop_assert!(covers(&path, &path) || path.is_empty());
    }
}
