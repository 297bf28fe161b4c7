//! Canned replies: `/` opens the list, and their variables are filled in.

use chat_protocol::admin::{CannedReply, ConversationSummary};
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::location::Page;
use crate::state::{DirectoryStoreFields, app};
use crate::text::composer;
use crate::ui::controls::Rendered;

/// Replies that are offered at most.
const MAX_SHOWN: usize = 8;

/// The shortcut being typed after a `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slash {
    /// The place of the `/`, in UTF-16 units.
    pub from: usize,
    /// The words between it and the caret.
    pub words: String,
}

/// Returns what is typed after a `/` that begins a word, with the caret behind it. Places are in UTF-16
/// units.
pub fn slash(text: &str, caret: usize) -> Option<Slash> {
    let before: Vec<u16> = text.encode_utf16().take(caret).collect();
    let before = String::from_utf16_lossy(&before);
    let (head, words) = before.rsplit_once('/')?;
    let begins = head.is_empty() || head.ends_with(char::is_whitespace);
    let is_word = words.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    (begins && is_word).then(|| Slash { from: head.encode_utf16().count(), words: words.to_owned() })
}

/// Replaces the text between two places. Returns the new text, and the place behind what was inserted.
pub fn splice(text: &str, from: usize, to: usize, inserted: &str) -> (String, u32) {
    let units: Vec<u16> = text.encode_utf16().collect();
    let part = |units: Option<&[u16]>| String::from_utf16_lossy(units.unwrap_or_default());
    let mut result = part(units.get(..from.min(units.len())));
    result.push_str(inserted);
    let caret = result.encode_utf16().count();
    result.push_str(&part(units.get(to.min(units.len())..)));
    (result, u32::try_from(caret).unwrap_or(u32::MAX))
}

/// Returns the replies that fit the words: by shortcut first, then by text. Those in the visitor's language
/// come before those in all languages.
fn matching(replies: &[CannedReply], words: &str, locale: Option<&str>) -> Vec<CannedReply> {
    let words = words.to_lowercase();
    let primary = |tag: &str| tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
    let visitor = locale.map(primary);
    let rank = |reply: &CannedReply| {
        let shortcut = reply.shortcut.to_lowercase();
        let by_words = if shortcut.starts_with(&words) {
            0
        } else if shortcut.contains(&words) {
            1
        } else if reply.text.to_lowercase().contains(&words) {
            2
        } else {
            return None;
        };
        let by_language = match (reply.locale.as_deref().map(primary), &visitor) {
            (Some(own), Some(visitor)) if own == *visitor => 0,
            (None, _) => 1,
            _ => 2,
        };
        Some((by_words, by_language, shortcut))
    };
    let mut found: Vec<_> = replies.iter().filter_map(|reply| Some((rank(reply)?, reply.clone()))).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found.into_iter().map(|(_, reply)| reply).take(MAX_SHOWN).collect()
}

/// Fills the variables of a reply. An unknown value becomes nothing, also the space before it.
fn fill(text: &str, values: &[(&str, Option<&str>)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        let value = values.iter().find(|(known, _)| *known == name.trim());
        filled.push_str(before);
        match value {
            Some((_, Some(value))) => filled.push_str(value),
            Some((_, None)) => filled.truncate(filled.trim_end_matches(' ').len()),
            None => {
                filled.push_str("{{");
                filled.push_str(name);
                filled.push_str("}}");
            }
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

fn fill_for(text: &str, conversation: &ConversationSummary) -> String {
    let app = app();
    let operator = app.session.me().name;
    let directory = app.directory.read();
    let visitor = &conversation.visitor;
    fill(
        text,
        &[
            ("visitor.name", visitor.name.as_deref()),
            ("visitor.email", visitor.email.as_deref()),
            ("operator.name", Some(&operator)),
            ("site.name", directory.site(&conversation.site_id)),
            ("page", conversation.source_page.as_deref()),
        ],
    )
}

/// The list of replies that fit what is typed. `on_choose` gets the place of the `/` and the filled text.
#[expect(clippy::needless_pass_by_value, reason = "a property of a component")]
#[component]
pub fn CannedList(
    id: String,
    slash: RwSignal<Option<Slash>>,
    list: NodeRef<html::Ul>,
    #[prop(into)] on_choose: Callback<(usize, String)>,
) -> impl IntoView {
    let app = app();
    let summary = RwSignal::from(app.conversations.summary(&id));
    let found = Memo::new(move |_| {
        let slash = slash.get()?;
        let locale = summary.read().locale.clone();
        Some(matching(&app.directory.replies().read(), &slash.words, locale.as_deref()))
    });
    let choose = move |text: &str| {
        if let Some(slash) = slash.get_untracked() {
            on_choose.run((slash.from, text.to_owned()));
        }
    };
    let is_open = move || {
        found.read().as_ref().is_some_and(|found| {
            !found.is_empty() || slash.read().as_ref().is_some_and(|slash| slash.words.is_empty())
        })
    };
    view! {
        <Show when=is_open>
            <div class="canned">
                <ul id="canned" role="listbox" aria-label=composer::CANNED.get() node_ref=list>
                    {move || found.get().unwrap_or_default().into_iter().enumerate().map(|(place, reply)| {
                        let filled = untrack(|| fill_for(&reply.text, &summary.read()));
                        let shown = filled.clone();
                        view! {
                            <li
                                role="option"
                                id=format!("canned-{place}")
                                aria-selected=(place == 0).to_string()
                                on:mousedown=move |event| {
                                    event.prevent_default();
                                    choose(&filled);
                                }
                            >
                                <b>"/"{reply.shortcut}</b>
                                <span dir="auto">{shown}</span>
                            </li>
                        }
                    }).collect_view()}
                </ul>
                <Show when=move || found.read().as_ref().is_some_and(Vec::is_empty)>
                    <p class="menu-hint">{composer::NO_CANNED.get()}</p>
                </Show>
                <a class="canned-manage" href=Page::settings(&["replies"]).href()>{composer::MANAGE_CANNED.get()}</a>
            </div>
        </Show>
    }
}

/// Handles a key of the field while the list is open. Returns whether it was for the list.
pub fn on_key(event: &KeyboardEvent, list: NodeRef<html::Ul>, slash: RwSignal<Option<Slash>>) -> bool {
    let Some(list) = list.rendered() else { return false };
    let Ok(found) = list.query_selector_all("[role=option]") else { return false };
    let options: Vec<HtmlElement> =
        (0..found.length()).filter_map(|place| found.item(place)?.dyn_into().ok()).collect();
    let is_selected = |option: &HtmlElement| option.get_attribute("aria-selected").as_deref() == Some("true");
    let selected = options.iter().position(is_selected);
    let step = match event.key().as_str() {
        "Escape" => {
            slash.set(None);
            event.prevent_default();
            event.stop_propagation();
            return true;
        }
        "Enter" | "Tab" => {
            let Some(option) = selected.and_then(|place| options.get(place)) else { return false };
            event.prevent_default();
            if let Ok(press) = web_sys::MouseEvent::new("mousedown") {
                _ = option.dispatch_event(&press);
            }
            return true;
        }
        "ArrowDown" => 1,
        "ArrowUp" => -1,
        _ => return false,
    };
    event.prevent_default();
    let Some(count) = isize::try_from(options.len()).ok().filter(|count| *count > 0) else { return true };
    let place = selected.and_then(|place| isize::try_from(place).ok()).unwrap_or(-1);
    let next = usize::try_from((place + step).rem_euclid(count)).unwrap_or_default();
    for (place, option) in options.iter().enumerate() {
        _ = option.set_attribute("aria-selected", if place == next { "true" } else { "false" });
        if place == next {
            option.scroll_into_view_with_bool(false);
            mark_active(event, option);
        }
    }
    true
}

/// Tells screen readers which option of the field's list is chosen.
fn mark_active(event: &KeyboardEvent, option: &HtmlElement) {
    let field = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
    if let Some(field) = field {
        _ = field.set_attribute("aria-activedescendant", &option.id());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_beginning_of_a_word_opens_the_list() {
        let found =
            |text: &str| slash(text, text.encode_utf16().count()).map(|slash| (slash.from, slash.words));
        assert_eq!(found("/"), Some((0, String::new())));
        assert_eq!(found("Hi 😀 /ship"), Some((6, "ship".to_owned())), "an emoji has two units");
        assert_eq!(found("and/or"), None);
        assert_eq!(found("see https://a.example"), None);
        assert_eq!(found("/ship me"), None);
        assert_eq!(slash("/ship me", 5).map(|slash| slash.words), Some("ship".to_owned()));
    }

    #[test]
    fn a_reply_replaces_what_was_typed() {
        assert_eq!(splice("Hi 😀 /ship!", 6, 11, "We ship"), ("Hi 😀 We ship!".to_owned(), 13));
        assert_eq!(splice("a", 9, 12, "b"), ("ab".to_owned(), 2));
    }

    #[test]
    fn variables_are_filled_once_and_unknown_values_leave_no_gap() {
        let values = [("visitor.name", Some("{{page}}")), ("page", None), ("operator.name", Some("Ada"))];
        assert_eq!(fill("Hi {{visitor.name}}, {{ operator.name }}", &values), "Hi {{page}}, Ada");
        assert_eq!(fill("Hi {{page}}!", &values), "Hi!");
        assert_eq!(fill("{{unknown}} {{open", &values), "{{unknown}} {{open");
    }

    #[test]
    fn replies_are_found_by_shortcut_then_by_text_and_by_language() {
        let reply = |shortcut: &str, text: &str, locale: Option<&str>| CannedReply {
            id: shortcut.to_owned(),
            shortcut: shortcut.to_owned(),
            text: text.to_owned(),
            locale: locale.map(str::to_owned),
        };
        let all = [
            reply("late", "Your parcel ships late", None),
            reply("ship", "We ship today", None),
            reply("ship-de", "Wir versenden heute", Some("de")),
            reply("hello", "Hello", None),
        ];
        let names = |words: &str, locale: Option<&str>| {
            matching(&all, words, locale).into_iter().map(|reply| reply.shortcut).collect::<Vec<_>>()
        };
        assert_eq!(names("SHIP", None), ["ship", "ship-de", "late"]);
        assert_eq!(names("ship", Some("de-AT")), ["ship-de", "ship", "late"]);
        assert_eq!(names("xyz", None), [""; 0]);
    }
}
