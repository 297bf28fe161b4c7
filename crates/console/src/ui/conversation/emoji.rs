//! A small choice of emoji, with a search by name.

use leptos::prelude::*;

use crate::text::composer;
use crate::ui::controls::{Icon, Menu, MenuItem, icon};

/// Emoji and the English words by which they are found.
const EMOJI: [(&str, &str); 56] = [
    ("🙂", "smile happy"),
    ("😀", "grin happy"),
    ("😄", "laugh happy"),
    ("😅", "sweat relief"),
    ("😂", "tears joy laugh"),
    ("😉", "wink"),
    ("😊", "blush happy"),
    ("😍", "love heart eyes"),
    ("😎", "cool sunglasses"),
    ("🤗", "hug"),
    ("🤔", "think hmm"),
    ("😐", "neutral"),
    ("🙁", "sad frown"),
    ("😢", "cry sad"),
    ("😬", "grimace awkward"),
    ("😴", "sleep tired"),
    ("🥳", "party celebrate"),
    ("🙏", "thanks please pray"),
    ("👍", "thumbs up yes good"),
    ("👎", "thumbs down no bad"),
    ("👌", "ok fine"),
    ("👏", "clap applause"),
    ("👋", "wave hello bye"),
    ("🤝", "handshake deal"),
    ("💪", "strong muscle"),
    ("👀", "eyes look"),
    ("❤️", "heart love red"),
    ("💚", "heart green"),
    ("💙", "heart blue"),
    ("🎉", "party tada celebrate"),
    ("✨", "sparkles new"),
    ("⭐", "star favourite"),
    ("🔥", "fire hot"),
    ("💡", "idea light bulb"),
    ("✅", "check done yes"),
    ("❌", "cross no wrong"),
    ("⚠️", "warning attention"),
    ("❓", "question"),
    ("❗", "exclamation important"),
    ("⏳", "wait hourglass time"),
    ("⏰", "alarm clock time"),
    ("📅", "calendar date"),
    ("📦", "parcel package delivery"),
    ("🚚", "truck delivery shipping"),
    ("🛒", "cart shopping"),
    ("💳", "card payment"),
    ("🧾", "receipt invoice bill"),
    ("📧", "mail e-mail"),
    ("📞", "phone call"),
    ("🔗", "link"),
    ("📎", "attachment clip"),
    ("🔑", "key password"),
    ("🛠️", "tools repair"),
    ("🐛", "bug error"),
    ("🌍", "world earth"),
    ("☕", "coffee break"),
];

/// The button and its menu.
#[component]
pub fn EmojiMenu(#[prop(into)] on_choose: Callback<&'static str>) -> impl IntoView {
    let words = RwSignal::new(String::new());
    let found = Memo::new(move |_| search(&words.read()));
    view! {
        <Menu label=composer::EMOJI.get() button=ViewFn::from(|| icon(Icon::Smile))>
            <div class="emoji-panel">
                <input
                    type="search"
                    class="emoji-search"
                    aria-label=composer::SEARCH_EMOJI.get()
                    placeholder=composer::SEARCH_EMOJI.get()
                    bind:value=words
                />
                <div class="emoji-grid">
                    <For each=move || found.get() key=|(emoji, _)| *emoji let((emoji, name))>
                        <MenuItem on_choose=move |()| on_choose.run(emoji)>
                            <span aria-hidden="true">{emoji}</span>
                            <span class="for-readers">{name}</span>
                        </MenuItem>
                    </For>
                </div>
                <Show when=move || found.read().is_empty()>
                    <p class="menu-hint">{composer::NO_EMOJI.get()}</p>
                </Show>
            </div>
        </Menu>
    }
}

fn search(words: &str) -> Vec<(&'static str, &'static str)> {
    let words = words.trim().to_lowercase();
    EMOJI.into_iter().filter(|(_, names)| names.contains(&words)).collect()
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn emoji_are_found_by_a_part_of_their_names() {
        assert_eq!(search("PARC").first().map(|found| found.0), Some("📦"));
        assert_eq!(search("").len(), 56);
        assert_eq!(search("zzz"), []);
    }
}
