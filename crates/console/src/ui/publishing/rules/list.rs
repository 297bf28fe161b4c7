//! The list of rules, in their order.

use chat_protocol::admin::publishing::PublishingRule;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::sentence::sentence;
use crate::browser;
use crate::text::{Text, publishing as t, settings};
use crate::ui::controls::{Icon, icon};

/// The id of the button that adds a rule.
pub(super) const ADD: &str = "rule-add";

/// The list.
#[component]
pub(super) fn RuleList(
    rules: RwSignal<Vec<PublishingRule>>,
    /// Called with the index of the rule to edit.
    on_edit: impl Fn(usize) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    // Read out when a rule has another place, because nothing else says so.
    let said = RwSignal::new(String::new());
    let rows = move || {
        let count = rules.read().len();
        let row = move |(index, rule)| row(rules, said, on_edit, index, count, rule);
        rules.get().into_iter().enumerate().map(row).collect_view()
    };
    let is_empty = Memo::new(move |_| rules.read().is_empty());
    view! {
        <p class="hint" hidden=move || !is_empty.get()>{t::RULES_NONE.get()}</p>
        <ol class="rows rules-list" aria-label=t::RULES_LIST.get() hidden=is_empty>{rows}</ol>
        <p class="for-readers" role="status">{said}</p>
    }
}

fn row(
    rules: RwSignal<Vec<PublishingRule>>,
    said: RwSignal<String>,
    on_edit: impl Fn(usize) + Copy + Send + Sync + 'static,
    index: usize,
    count: usize,
    rule: PublishingRule,
) -> impl IntoView {
    let text = sentence(&rule);
    let PublishingRule { name, disabled, .. } = rule;
    let label = |text: Text| text.with(&[("name", &name)]);
    let (on, edit_label, remove_label) =
        (label(t::RULE_ON_NAMED), label(t::RULE_EDIT_NAMED), label(t::RULE_REMOVE_NAMED));
    let (up, down) = (label(t::RULE_UP_NAMED), label(t::RULE_DOWN_NAMED));
    let by_key = move |event: KeyboardEvent| {
        let to = match event.key().as_str() {
            "ArrowUp" if event.alt_key() => index.checked_sub(1),
            "ArrowDown" if event.alt_key() => Some(index + 1),
            _ => None,
        };
        if let Some(to) = to {
            event.prevent_default();
            move_rule(rules, said, index, to);
        }
    };
    view! {
        <li class:is-off=disabled on:keydown=by_key>
            <span class="rule-place" aria-hidden="true">{index + 1}</span>
            <div class="row-main">
                <p class="row-title" dir="auto">{name}</p>
                <p dir="auto">{text}</p>
            </div>
            <div class="row-actions">
                <input
                    type="checkbox"
                    class="rule-on"
                    aria-label=on
                    prop:checked=!disabled
                    on:change=move |event| {
                        let is_on = event_target_checked(&event);
                        rules.update(|rules| {
                            if let Some(rule) = rules.get_mut(index) {
                                rule.disabled = !is_on;
                            }
                        });
                    }
                />
                <button
                    type="button"
                    class="button is-icon rule-up"
                    id=id_of(Direction::Up, index)
                    aria-label=up
                    disabled=index == 0
                    on:click=move |_| move_rule(rules, said, index, index.saturating_sub(1))
                >
                    {icon(Icon::ArrowDown)}
                </button>
                <button
                    type="button"
                    class="button is-icon"
                    id=id_of(Direction::Down, index)
                    aria-label=down
                    disabled=index + 1 == count
                    on:click=move |_| move_rule(rules, said, index, index + 1)
                >
                    {icon(Icon::ArrowDown)}
                </button>
                <button type="button" class="button" aria-label=edit_label on:click=move |_| on_edit(index)>
                    {settings::EDIT.get()}
                </button>
                <button
                    type="button"
                    class="button is-icon is-quiet"
                    aria-label=remove_label
                    on:click=move |_| remove(rules, said, index)
                >
                    {icon(Icon::Trash)}
                </button>
            </div>
        </li>
    }
}

/// The direction of a button that moves a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

fn id_of(direction: Direction, index: usize) -> String {
    format!("rule-{}-{index}", if direction == Direction::Up { "up" } else { "down" })
}

/// Moves a rule. The focus follows it, to the button that moves it further.
fn move_rule(rules: RwSignal<Vec<PublishingRule>>, said: RwSignal<String>, from: usize, to: usize) {
    let count = rules.with_untracked(Vec::len);
    if from == to || to >= count {
        return;
    }
    rules.update(|rules| rules.swap(from, to));
    let name = rules.with_untracked(|rules| rules.get(to).map(|rule| rule.name.clone()).unwrap_or_default());
    let (place, total) = ((to + 1).to_string(), count.to_string());
    said.set(t::RULE_MOVED.with(&[("name", &name), ("place", &place), ("count", &total)]));
    let wants_up = (to < from && to > 0) || to + 1 == count;
    let button = id_of(if wants_up { Direction::Up } else { Direction::Down }, to);
    request_animation_frame(move || browser::focus(&button));
}

fn remove(rules: RwSignal<Vec<PublishingRule>>, said: RwSignal<String>, index: usize) {
    let removed = rules.try_update(|rules| (index < rules.len()).then(|| rules.remove(index))).flatten();
    if let Some(rule) = removed {
        said.set(t::RULE_REMOVED.with(&[("name", &rule.name)]));
        request_animation_frame(|| browser::focus(ADD));
    }
}
