//! The rules of a site: an editor, and what the rules would do with what waits.

mod dry_run;
mod form;
mod list;
mod sentence;

use chat_protocol::admin::publishing::{PublishingRule, PublishingRules, RuleAction};
use leptos::prelude::*;

use self::dry_run::DryRunCard;
use self::form::RuleForm;
use self::list::{ADD, RuleList};
use super::on_site_change;
use crate::api::publishing as requests;
use crate::state::app;
use crate::text::publishing as t;
use crate::ui::forms::{
    Dialog, Editing, Form, FormState, Loaded, Remote, SaveBar, SelectField, TextField, Unsaved, draft,
};

pub(super) use self::sentence::waits_because;

const FIELDS: &[&str] = &["rules", "otherwise", "hourlyLimit"];
const PUBLISH: &str = "publish";
const REVIEW: &str = "review";

draft!(
    /// The values of the form.
    RulesDraft, RulesFields {
        rules: Vec<PublishingRule>,
        otherwise: String,
        limit: String,
    }
);

impl From<&PublishingRules> for RulesDraft {
    fn from(rules: &PublishingRules) -> Self {
        let otherwise = if rules.otherwise == RuleAction::Publish { PUBLISH } else { REVIEW };
        Self {
            rules: rules.rules.clone(),
            otherwise: otherwise.to_owned(),
            limit: rules.hourly_limit.to_string(),
        }
    }
}

impl RulesDraft {
    /// Returns the rules, unless the limit is not a number.
    fn rules(&self, version: i64) -> Option<PublishingRules> {
        let otherwise = if self.otherwise == PUBLISH { RuleAction::Publish } else { RuleAction::Review };
        let hourly_limit = self.limit.trim().parse().ok()?;
        Some(PublishingRules { version, rules: self.rules.clone(), otherwise, hourly_limit })
    }
}

/// The page of the rules.
#[component]
pub(super) fn Rules(site: String) -> impl IntoView {
    Unsaved::guard_page(app().router);
    let site = StoredValue::new(site);
    let rules = Remote::new(move || {
        let site = site.get_value();
        async move { requests::rules(&site).await }
    });
    view! {
        <Loaded remote=rules let:saved><Editor site=site.get_value() saved reload=move || rules.reload()/></Loaded>
    }
}

#[component]
fn Editor(
    site: String,
    saved: PublishingRules,
    reload: impl Fn() + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let editing = Editing::<RulesFields>::new(RulesDraft::from(&saved)).kept(&["rules", &site].join("."));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let version = StoredValue::new(saved.version);
    let is_outdated = RwSignal::new(false);
    let key = StoredValue::new(site.clone());
    let run = Remote::new(move || {
        let (site, now) = (key.get_value(), editing.now());
        async move {
            // While no limit is typed, what is tried has the one that is saved.
            let rules = now.rules(0).or_else(|| RulesDraft { limit: editing.saved().limit, ..now }.rules(0));
            requests::try_rules(&site, &rules.unwrap_or_default()).await
        }
    });
    Effect::new(move |is_later: Option<bool>| {
        let is_valid = editing.fields.limit.with(|limit| limit.trim().parse::<i64>().is_ok());
        editing.fields.rules.track();
        editing.fields.otherwise.track();
        if is_later == Some(true) && is_valid {
            run.reload();
        }
        true
    });
    on_site_change(site.clone(), move || run.reload());
    let save = move || {
        let (site, now) = (key.get_value(), editing.now());
        let Some(rules) = now.rules(version.get_value()) else {
            return form.refuse("hourlyLimit", t::NEEDS_NUMBER.get());
        };
        let request = async move {
            let response = requests::save_rules(&site, &rules).await;
            if matches!(&response, Err(error) if error.status == 409) {
                _ = is_outdated.try_set(true);
            }
            response
        };
        form.send(request, move |saved: PublishingRules| {
            version.set_value(saved.version);
            editing.accept(&now, RulesDraft::from(&saved));
        });
    };
    let show_saved = move || {
        editing.reset();
        reload();
    };
    let rules = editing.fields.rules;
    // The index of the rule in the dialog; none for a new one.
    let edited = RwSignal::new(None::<usize>);
    let is_open = RwSignal::new(false);
    let open = move |index: Option<usize>| {
        edited.set(index);
        is_open.set(true);
    };
    let take_over = move |rule: PublishingRule| {
        rules.update(|rules| match edited.get_untracked().and_then(|index| rules.get_mut(index)) {
            Some(old) => *old = rule,
            None => rules.push(rule),
        });
        is_open.set(false);
    };
    let title = Signal::derive(move || {
        let title = if edited.get().is_some() { t::RULE_EDIT } else { t::RULE_ADD };
        title.get().to_owned()
    });
    view! {
        <div class="rules-page">
            <section class="set-card" aria-labelledby="rules-title">
                <header class="set-card-head">
                    <h2 id="rules-title">{t::RULES_TITLE.get()}</h2>
                    <p>{t::RULES_LEAD.get()}</p>
                </header>
                <Form state=form on_submit=save>
                    <RuleList rules on_edit=move |index| open(Some(index))/>
                    <p class="field-error" role="alert">{move || form.problem_of("rules")}</p>
                    <div>
                        <button type="button" class="button" id=ADD on:click=move |_| open(None)>
                            {t::RULE_ADD.get()}
                        </button>
                    </div>
                    <SelectField
                        name="otherwise"
                        label=t::OTHERWISE.get()
                        help=t::OTHERWISE_HELP.get()
                        value=editing.fields.otherwise
                        options=vec![
                            (REVIEW.to_owned(), t::ACTION_REVIEW.get().to_owned()),
                            (PUBLISH.to_owned(), t::OTHERWISE_PUBLISH.get().to_owned()),
                        ]
                    />
                    <TextField
                        name="hourlyLimit"
                        label=t::HOURLY_LIMIT.get()
                        help=t::HOURLY_LIMIT_HELP.get()
                        value=editing.fields.limit
                        inputmode="numeric"
                    />
                    <SaveBar on_reset=move || editing.reset()/>
                    <Show when=move || is_outdated.get()>
                        <button type="button" class="button" on:click=move |_| show_saved()>
                            {t::RULES_CONFLICT.get()}
                        </button>
                    </Show>
                </Form>
            </section>
            <DryRunCard run site/>
        </div>
        <Dialog open=is_open title is_wide=true>
            {
                let index = edited.get_untracked();
                let all = rules.get_untracked();
                let new = PublishingRule { action: RuleAction::Publish, ..PublishingRule::default() };
                let rule = index.and_then(|index| all.get(index).cloned()).unwrap_or(new);
                let others = all.into_iter().enumerate().filter(|(at, _)| Some(*at) != index);
                let names = others.map(|(_, rule)| rule.name).collect::<Vec<_>>();
                view! { <RuleForm rule names on_done=take_over/> }
            }
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_survive_the_form_and_a_limit_is_a_number() {
        let rules = PublishingRules {
            version: 3,
            rules: vec![PublishingRule { name: "Blog".to_owned(), ..PublishingRule::default() }],
            otherwise: RuleAction::Publish,
            hourly_limit: 40,
        };
        let draft = RulesDraft::from(&rules);
        assert_eq!(draft.rules(3), Some(rules));
        assert_eq!(RulesDraft { limit: "many".to_owned(), ..draft }.rules(3), None);
    }
}
