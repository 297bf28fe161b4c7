//! The form of one rule.

use chat_protocol::FieldError;
use chat_protocol::admin::publishing::{EntryKind, Field, PublishingRule, RuleAction, RuleChecks};
use leptos::prelude::*;

use crate::text::{Text, publishing as t};
use crate::ui::forms::{
    DialogForm, Editing, FormState, SelectField, Switch, TextArea, TextField, capitalized, draft, lines,
};
use crate::ui::publishing::differences::field_name;

const FIELDS: &[&str] = &["name", "paths", "locales", "maxChange"];

/// The values of the selects, with their texts.
const KINDS: [(&str, Option<EntryKind>, Text); 3] = [
    ("all", None, t::ENTRIES_ALL),
    ("overlay", Some(EntryKind::Overlay), t::ENTRIES_HEADS),
    ("article", Some(EntryKind::Article), t::ENTRIES_ARTICLES),
];
const CHECKS: [(&str, RuleChecks, Text); 3] = [
    ("any", RuleChecks::Any, t::CHECKS_ANY),
    ("noProblem", RuleChecks::NoProblem, t::CHECKS_NO_PROBLEM),
    ("noFinding", RuleChecks::NoFinding, t::CHECKS_NO_FINDING),
];
const ACTIONS: [(&str, RuleAction, Text); 2] =
    [("publish", RuleAction::Publish, t::ACTION_PUBLISH), ("review", RuleAction::Review, t::ACTION_REVIEW)];

draft!(
    /// The values of the form.
    RuleDraft, RuleFields {
        name: String,
        disabled: bool,
        kind: String,
        paths: String,
        locales: String,
        checks: String,
        fields: Vec<Field>,
        max_change: String,
        action: String,
        despite_problems: bool,
    }
);

impl From<PublishingRule> for RuleDraft {
    fn from(rule: PublishingRule) -> Self {
        Self {
            name: rule.name,
            disabled: rule.disabled,
            kind: name_of(&KINDS, &rule.kind),
            paths: rule.paths.join("\n"),
            locales: rule.locales.join("\n"),
            checks: name_of(&CHECKS, &rule.checks),
            fields: rule.fields,
            max_change: rule.max_change.map(|max| max.to_string()).unwrap_or_default(),
            action: name_of(&ACTIONS, &rule.action),
            despite_problems: rule.despite_problems,
        }
    }
}

impl RuleDraft {
    /// Returns the rule, or the first field that is wrong. `names` are those of the other rules.
    fn rule(&self, names: &[String]) -> Result<PublishingRule, FieldError> {
        let max_change = match self.max_change.trim() {
            "" => None,
            text => Some(text.parse().map_err(|_| FieldError::new("maxChange", t::NEEDS_NUMBER.get()))?),
        };
        let rule = PublishingRule {
            name: self.name.clone(),
            disabled: self.disabled,
            kind: value_of(&KINDS, &self.kind),
            paths: lines(&self.paths),
            locales: lines(&self.locales),
            checks: value_of(&CHECKS, &self.checks),
            fields: self.fields.clone(),
            max_change,
            action: value_of(&ACTIONS, &self.action),
            despite_problems: self.despite_problems,
        };
        rule.checked(names)
    }
}

fn name_of<T: PartialEq>(options: &[(&str, T, Text)], value: &T) -> String {
    let found = options.iter().find(|(_, known, _)| known == value);
    found.map(|(name, ..)| (*name).to_owned()).unwrap_or_default()
}

fn value_of<T: Copy + Default>(options: &[(&str, T, Text)], name: &str) -> T {
    options.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value).unwrap_or_default()
}

fn choices<T>(options: &[(&str, T, Text)]) -> Vec<(String, String)> {
    options.iter().map(|(name, _, text)| ((*name).to_owned(), text.get().to_owned())).collect()
}

/// The form in its dialog.
#[component]
pub(super) fn RuleForm(
    rule: PublishingRule,
    /// The names of the other rules.
    names: Vec<String>,
    /// Called with the rule, which is valid.
    on_done: impl Fn(PublishingRule) + 'static,
) -> impl IntoView {
    let editing = Editing::<RuleFields>::new(RuleDraft::from(rule));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let names = StoredValue::new(names);
    let submit = move || match names.with_value(|names| editing.now().rule(names)) {
        Ok(rule) => on_done(rule),
        Err(error) => form.refuse(&error.field, &capitalized(&error.problem)),
    };
    let fields = editing.fields;
    let publishes = Memo::new(move |_| fields.action.with(|action| action == "publish"));
    view! {
        <DialogForm state=form action=t::RULE_DONE.get() on_submit=submit>
            <TextField name="name" label=t::RULE_NAME.get() help=t::RULE_NAME_HELP.get() value=fields.name/>
            <SelectField name="kind" label=t::RULE_KIND.get() value=fields.kind options=choices(&KINDS)/>
            <div class="field-row">
                <TextArea
                    name="paths"
                    label=t::RULE_PATHS.get()
                    help=t::RULE_PATHS_HELP.get()
                    value=fields.paths
                    is_code=true
                />
                <TextArea
                    name="locales"
                    label=t::RULE_LOCALES.get()
                    help=t::RULE_LOCALES_HELP.get()
                    value=fields.locales
                    is_code=true
                />
            </div>
            <SelectField name="checks" label=t::RULE_CHECKS.get() value=fields.checks options=choices(&CHECKS)/>
            <FieldBoxes chosen=fields.fields/>
            <TextField
                name="maxChange"
                label=t::RULE_MAX_CHANGE.get()
                help=t::RULE_MAX_CHANGE_HELP.get()
                value=fields.max_change
                inputmode="numeric"
            />
            <SelectField name="action" label=t::RULE_ACTION.get() value=fields.action options=choices(&ACTIONS)/>
            <div hidden=move || !publishes.get()>
                <Switch
                    label=t::RULE_DESPITE.get()
                    help=t::RULE_DESPITE_HELP.get()
                    value=fields.despite_problems
                />
            </div>
        </DialogForm>
    }
}

/// The parts of a page that may change.
#[component]
fn FieldBoxes(chosen: RwSignal<Vec<Field>>) -> impl IntoView {
    let boxes = Field::ALL.map(|field| {
        view! {
            <label class="option-check">
                <input
                    type="checkbox"
                    prop:checked=move || chosen.with(|chosen| chosen.contains(&field))
                    on:change=move |change| {
                        let is_on = event_target_checked(&change);
                        chosen
                            .update(|chosen| {
                                let is_chosen = |other: &Field| {
                                    if *other == field { is_on } else { chosen.contains(other) }
                                };
                                *chosen = Field::ALL.into_iter().filter(is_chosen).collect();
                            });
                    }
                />
                <span>{field_name(field, "")}</span>
            </label>
        }
    });
    view! {
        <fieldset class="field-group">
            <legend>{t::RULE_FIELDS.get()}</legend>
            <p class="field-help">{t::RULE_FIELDS_HELP.get()}</p>
            <div class="option-checks">{boxes.collect_view()}</div>
        </fieldset>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_survives_the_form() {
        let rule = PublishingRule {
            name: "Blog".to_owned(),
            disabled: true,
            kind: Some(EntryKind::Article),
            paths: vec!["/blog".to_owned(), "*.html".to_owned()],
            locales: vec!["en".to_owned()],
            checks: RuleChecks::NoFinding,
            fields: vec![Field::Title, Field::Text],
            max_change: Some(0),
            action: RuleAction::Publish,
            despite_problems: true,
        };
        assert_eq!(RuleDraft::from(rule.clone()).rule(&[]), Ok(rule));
        let empty = PublishingRule { name: "All".to_owned(), ..PublishingRule::default() };
        assert_eq!(RuleDraft::from(empty.clone()).rule(&[]), Ok(empty));
    }

    #[test]
    fn an_error_names_its_field() {
        let good = RuleDraft::from(PublishingRule { name: "Blog".to_owned(), ..PublishingRule::default() });
        let field = |draft: RuleDraft| draft.rule(&["News".to_owned()]).map_err(|error| error.field);
        for (draft, expected) in [
            (RuleDraft { name: " news ".to_owned(), ..good.clone() }, "name"),
            (RuleDraft { paths: "/a\nb".to_owned(), ..good.clone() }, "paths"),
            (RuleDraft { locales: "<b>".to_owned(), ..good.clone() }, "locales"),
            (RuleDraft { max_change: "many".to_owned(), ..good.clone() }, "maxChange"),
        ] {
            assert_eq!(field(draft), Err(expected.to_owned()));
            assert!(FIELDS.contains(&expected));
        }
        assert!(field(good).is_ok());
    }
}
