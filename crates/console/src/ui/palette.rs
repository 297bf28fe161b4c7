//! The command palette: everything that can be done, found by a few letters.

mod commands;
mod search;

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlDialogElement;

use self::commands::Section;
use self::search::{Found, Search};
use super::shortcuts::Keys;
use crate::browser;
use crate::keyboard::Action;
use crate::ranking;
use crate::state::app;
use crate::text::palette;
use crate::ui::controls::{Icon, icon};

/// Maximum commands that are shown.
const MAX_SHOWN: usize = 30;

/// Shows the command palette while it is open.
#[component]
pub fn Palette() -> impl IntoView {
    let app = app();
    let is_open = RwSignal::new(false);
    app.actions.offer(Action::Palette, move || is_open.set(true));
    move || is_open.get().then(|| view! { <PaletteDialog on_close=move |()| is_open.set(false)/> })
}

#[component]
fn PaletteDialog(#[prop(into)] on_close: Callback<()>) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get()
            && !dialog.open()
        {
            _ = dialog.show_modal();
        }
    });
    let query = RwSignal::new(String::new());
    let chosen = RwSignal::new(0_usize);
    let commands = commands::all();
    let search = Search::follow(query);
    let found = Memo::new(move |_| {
        let query = query.read();
        let items = commands.iter().map(|command| (command, command.name.as_str()));
        let mut found: Vec<Found> = ranking::rank(&query, items, MAX_SHOWN)
            .into_iter()
            .map(|(command, hit)| Found { command: command.clone(), marks: hit.marks })
            .collect();
        found.extend(search.conversations());
        // What belongs together stays together, in the order of the best of each.
        let mut order: Vec<Section> = Vec::new();
        for found in &found {
            if !order.contains(&found.command.section) {
                order.push(found.command.section);
            }
        }
        found.sort_by_key(|found| order.iter().position(|section| *section == found.command.section));
        found
    });
    Effect::new(move |_| {
        query.track();
        chosen.set(0);
    });
    let run = move |index: usize| {
        let Some(command) = found.with_untracked(|found| found.get(index).map(|found| found.command.clone()))
        else {
            return;
        };
        on_close.run(());
        // The dialog returns the focus first, so that a command can move it.
        request_animation_frame(move || command.run());
    };
    let on_keydown = move |event: KeyboardEvent| {
        let count = found.read_untracked().len();
        let next = match event.key().as_str() {
            "Enter" if browser::is_composing(&event) => return,
            "Enter" => {
                event.prevent_default();
                run(chosen.get_untracked());
                return;
            }
            key => moved(key, chosen.get_untracked(), count),
        };
        if let Some(next) = next {
            event.prevent_default();
            chosen.set(next);
            if let Some(row) = browser::by_id(&row_id(next)) {
                browser::reveal(&row);
            }
        }
    };
    let rows = move || {
        let found = found.read();
        found
            .iter()
            .enumerate()
            .map(|(index, row)| {
                let is_first = index == 0 || found[index - 1].command.section != row.command.section;
                let title = is_first.then(|| row.command.section.title());
                view! { <Row row=row.clone() index title chosen on_run=Callback::new(run)/> }
            })
            .collect_view()
    };
    let status = move || match (search.problem(), found.read().len()) {
        (Some(problem), _) => problem,
        (None, 0) if search.is_searching() => palette::SEARCHING.get().to_owned(),
        (None, 0) => palette::NONE.get().to_owned(),
        (None, count) => palette::FOUND.count(i64::try_from(count).unwrap_or_default()),
    };
    let is_status_seen = move || search.problem().is_some() || found.read().is_empty();
    view! {
        <dialog
            node_ref=dialog
            class="palette"
            aria-label=palette::TITLE.get()
            on:cancel=move |event: web_sys::Event| {
                event.prevent_default();
                on_close.run(());
            }
            on:click=move |event: web_sys::MouseEvent| {
                // A click on the backdrop has the dialog itself as its target.
                if event.target().is_some_and(|target| target.has_type::<HtmlDialogElement>()) {
                    on_close.run(());
                }
            }
        >
            <div class="palette-field">
                {icon(Icon::Search)}
                <input
                    type="text"
                    role="combobox"
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-autocomplete="list"
                    aria-activedescendant=move || (!found.read().is_empty()).then(|| row_id(chosen.get()))
                    aria-label=palette::HINT.get()
                    placeholder=palette::HINT.get()
                    autocomplete="off"
                    spellcheck="false"
                    maxlength="200"
                    autofocus
                    dir="auto"
                    bind:value=query
                    on:keydown=on_keydown
                />
            </div>
            <ul id="palette-list" class="palette-list" role="listbox" aria-label=palette::RESULTS.get()>{rows}</ul>
            <p class="palette-status" class:for-readers=move || !is_status_seen() role="status">{status}</p>
        </dialog>
    }
}

#[component]
fn Row(
    row: Found,
    index: usize,
    title: Option<&'static str>,
    chosen: RwSignal<usize>,
    on_run: Callback<usize>,
) -> impl IntoView {
    let Found { command, marks } = row;
    view! {
        {title.map(|title| view! { <li class="palette-title" role="presentation">{title}</li> })}
        <li
            id=row_id(index)
            class="palette-row"
            role="option"
            aria-selected=move || (chosen.get() == index).to_string()
            on:pointermove=move |_| if chosen.get_untracked() != index { chosen.set(index) }
            on:click=move |_| on_run.run(index)
        >
            {icon(command.symbol)}
            <span class="palette-name" dir="auto">{marked(&command.name, &marks)}</span>
            {command.detail.clone().map(|detail| view! { <span class="palette-detail" dir="auto">{detail}</span> })}
            {command.keys.map(|keys| view! { <Keys keys/> })}
        </li>
    }
}

fn row_id(index: usize) -> String {
    format!("palette-{index}")
}

/// Returns the row that a key moves to; `None` for a key that moves nowhere.
fn moved(key: &str, from: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match key {
        "ArrowDown" => Some(if from >= last { 0 } else { from + 1 }),
        "ArrowUp" => Some(if from == 0 { last } else { from - 1 }),
        "PageDown" => Some((from + 8).min(last)),
        "PageUp" => Some(from.saturating_sub(8)),
        _ => None,
    }
}

/// Returns a name with the letters that were found set apart.
fn marked(name: &str, marks: &[usize]) -> impl IntoView + use<> {
    runs(name, marks)
        .into_iter()
        .map(
            |(is_marked, text)| {
                if is_marked { view! { <mark>{text}</mark> }.into_any() } else { text.into_any() }
            },
        )
        .collect_view()
}

/// Splits a name into runs of letters that were found, and runs of others.
fn runs(name: &str, marks: &[usize]) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for (index, letter) in name.chars().enumerate() {
        let is_marked = marks.binary_search(&index).is_ok();
        match runs.last_mut() {
            Some((of_last, text)) if *of_last == is_marked => text.push(letter),
            _ => runs.push((is_marked, letter.to_string())),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrows_go_round_the_ends_of_the_list() {
        assert_eq!(moved("ArrowDown", 0, 3), Some(1));
        assert_eq!(moved("ArrowDown", 2, 3), Some(0));
        assert_eq!(moved("ArrowUp", 0, 3), Some(2));
        assert_eq!(moved("PageDown", 0, 3), Some(2));
        assert_eq!(moved("PageUp", 2, 3), Some(0));
        assert_eq!(moved("ArrowDown", 0, 0), None);
        assert_eq!(moved("x", 0, 3), None);
    }

    #[test]
    fn the_letters_that_were_found_are_set_apart() {
        let run = |is_marked, text: &str| (is_marked, text.to_owned());
        assert_eq!(runs("Reply", &[0, 1]), [run(true, "Re"), run(false, "ply")]);
        assert_eq!(runs("Zoë", &[2]), [run(false, "Zo"), run(true, "ë")]);
        assert_eq!(runs("", &[]), []);
    }
}
