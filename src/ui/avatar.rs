//! The avatar beside a name.

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};

/// Renders the avatar of the operator who wrote last. Another one may write next.
pub(crate) fn operator_avatar(ui: &Ui) -> El {
    ui.el("span.cw-avatar aria-hidden=true")
        .text_with(|ui| initials(&last(ui).unwrap_or_default()))
        .child_if(|ui| last(ui).is_none(), |ui| icon(ui, icon::PERSON))
}

fn last(ui: &Ui) -> Option<String> {
    ui.known_name(ui.last_name().as_deref())
}

/// Renders the avatar of an operator: initials of the name, or an icon.
pub(super) fn avatar_of(ui: &Ui, name: Option<&str>) -> El {
    let avatar = ui.el("span.cw-avatar aria-hidden=true");
    match ui.known_name(name) {
        Some(name) => avatar.text(&initials(&name)),
        None => avatar.child(icon(ui, icon::PERSON)),
    }
}

/// Returns the first letters of the first two words.
pub(super) fn initials(name: &str) -> String {
    let mut initials = String::new();
    let mut left = 2;
    let mut in_word = false;
    for letter in name.chars() {
        let is_space = letter == ' ';
        if !is_space && !in_word && left > 0 {
            left -= 1;
            initials.push(letter);
        }
        in_word = !is_space;
    }
    initials
}

/// Renders the avatar of the assistant: the config's picture if its address is `https` and loads, else an
/// icon.
pub(crate) fn assistant_avatar(ui: &Ui) -> El {
    ui.el("span.cw-avatar.cw-avatar-ai aria-hidden=true")
        .child_if(|ui| address(ui).is_some(), picture)
        .child_if(|ui| address(ui).is_none(), |ui| icon(ui, icon::SPARKLE))
}

fn picture(ui: &Ui) -> El {
    ui.el("img alt= referrerpolicy=no-referrer")
        .on("error", |ui, _| {
            ui.state().picture_failed.set(true);
            ui.notify();
        })
        .attr_with("src", address)
}

fn address(ui: &Ui) -> Option<String> {
    let url = ui.session(|session| session.config().and_then(|config| config.avatar_url.clone()));
    url.filter(|url| url.starts_with("https://") && !ui.state().picture_failed.get())
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_are_the_first_letters_of_at_most_two_words() {
        for (name, expected) in [
            ("Anna", "A"),
            ("Anna Maria Berg", "AM"),
            ("  Ólafur  Þór ", "ÓÞ"),
            ("", ""),
            ("山田 太郎", "山太"),
        ] {
            assert_eq!(initials(name), expected, "{name}");
        }
    }
}
