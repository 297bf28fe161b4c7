//! The keyboard shortcuts of the console: which key means what, and where.
//!
//! Shortcuts go by the letter that a key writes, so that they are where a Dvorak or an AZERTY keyboard has
//! the letter. A keyboard without Latin letters goes by the place of the key.

/// How long a `g` waits for its second key, in milliseconds.
const SEQUENCE_TIMEOUT_MS: f64 = 1500.0;

/// Something that a key can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Select the next conversation of the list.
    Next,
    /// Select the previous conversation of the list.
    Previous,
    /// Open the selected conversation.
    Open,
    /// Write a reply.
    Reply,
    /// Write a note.
    Note,
    /// Close the conversation and go to the next one.
    Close,
    /// Choose who is responsible.
    Assign,
    /// Choose labels.
    Label,
    /// Put the conversation aside.
    Snooze,
    /// Take the conversation over.
    TakeOver,
    /// Take back the reply that was just sent.
    Undo,
    /// Search conversations.
    Search,
    /// Show or hide what is known about the visitor.
    Visitor,
    /// Open the command palette.
    Palette,
    /// Show the shortcuts.
    Help,
    /// Close what is open, or leave the field.
    Escape,
    /// Go to the inbox.
    GoInbox,
    /// Go to the reports.
    GoReports,
    /// Go to publishing.
    GoPublishing,
    /// Go to the settings.
    GoSettings,
}

/// Where the keyboard's focus is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// On nothing that takes keys.
    #[default]
    Page,
    /// On a button or a link, which takes Enter itself.
    Control,
    /// In a text field, which takes everything but Escape and combinations with Ctrl.
    Field,
    /// In a dialog, which takes everything.
    Dialog,
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press<'a> {
    /// `KeyboardEvent.key`.
    pub key: &'a str,
    /// `KeyboardEvent.code`.
    pub code: &'a str,
    /// Whether Ctrl, or Cmd, is held.
    pub ctrl: bool,
    /// Whether Alt is held.
    pub alt: bool,
    /// Whether Shift is held.
    pub shift: bool,
    /// Whether an input method is composing a character.
    pub composing: bool,
    /// Where the focus is.
    pub focus: Focus,
}

/// A group of shortcuts in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Going from conversation to conversation.
    List,
    /// The open conversation.
    Conversation,
    /// Everywhere.
    Everywhere,
}

/// The shortcuts in the order of the help. Keys that are pressed one after the other are separated by spaces.
pub const SHORTCUTS: [(Action, Group, &str); 20] = [
    (Action::Next, Group::List, "j"),
    (Action::Previous, Group::List, "k"),
    (Action::Open, Group::List, "Enter"),
    (Action::Search, Group::List, "/"),
    (Action::Reply, Group::Conversation, "r"),
    (Action::Note, Group::Conversation, "n"),
    (Action::Undo, Group::Conversation, "u"),
    (Action::TakeOver, Group::Conversation, "t"),
    (Action::Assign, Group::Conversation, "a"),
    (Action::Label, Group::Conversation, "l"),
    (Action::Snooze, Group::Conversation, "s"),
    (Action::Close, Group::Conversation, "e"),
    (Action::Visitor, Group::Conversation, "v"),
    (Action::Palette, Group::Everywhere, "Ctrl+K"),
    (Action::GoInbox, Group::Everywhere, "g i"),
    (Action::GoReports, Group::Everywhere, "g r"),
    (Action::GoPublishing, Group::Everywhere, "g p"),
    (Action::GoSettings, Group::Everywhere, "g s"),
    (Action::Help, Group::Everywhere, "?"),
    (Action::Escape, Group::Everywhere, "Escape"),
];

/// Returns the keys of an action, as [`SHORTCUTS`] writes them.
pub fn keys_of(action: Action) -> Option<&'static str> {
    SHORTCUTS.iter().find(|(other, ..)| *other == action).map(|(.., keys)| *keys)
}

/// Reads keys into actions.
#[derive(Clone, Copy, Debug)]
pub struct Keyboard {
    /// Whether single letters are shortcuts. People who speak their input switch them off.
    pub single_keys: bool,
    /// When `g` was pressed.
    go_at_ms: Option<f64>,
}

impl Default for Keyboard {
    fn default() -> Self {
        Self { single_keys: true, go_at_ms: None }
    }
}

impl Keyboard {
    /// Returns what a key means at a time in milliseconds, if anything.
    pub fn press(&mut self, press: &Press, now_ms: f64) -> Option<Action> {
        let go_at_ms = self.go_at_ms.take();
        if press.composing || press.alt || press.focus == Focus::Dialog {
            return None;
        }
        if press.ctrl {
            return (letter(press) == Some('k') && !press.shift).then_some(Action::Palette);
        }
        if press.key == "Escape" {
            return Some(Action::Escape);
        }
        if press.focus == Focus::Field || !self.single_keys {
            return None;
        }
        if press.key == "Enter" {
            return (press.focus == Focus::Page && !press.shift).then_some(Action::Open);
        }
        // Where they are written differs by keyboard, and so does whether Shift is held for them.
        match press.key {
            "/" => return Some(Action::Search),
            "?" | "؟" => return Some(Action::Help),
            _ => {}
        }
        if press.shift {
            return None;
        }
        let letter = letter(press)?;
        if go_at_ms.is_some_and(|at| now_ms - at <= SEQUENCE_TIMEOUT_MS) {
            return after_go(letter);
        }
        if letter == 'g' {
            self.go_at_ms = Some(now_ms);
            return None;
        }
        single(letter)
    }
}

/// Returns the Latin letter of a key, in lower case.
fn letter(press: &Press) -> Option<char> {
    let mut characters = press.key.chars();
    let written = characters.next().filter(|_| characters.next().is_none())?;
    if written.is_ascii_alphabetic() {
        return Some(written.to_ascii_lowercase());
    }
    // Latin letters with accents have a key of their own beside the plain ones.
    if !written.is_alphabetic() || written < '\u{370}' {
        return None;
    }
    let place = press.code.strip_prefix("Key")?.chars().next()?;
    Some(place.to_ascii_lowercase())
}

fn after_go(letter: char) -> Option<Action> {
    match letter {
        'i' => Some(Action::GoInbox),
        'r' => Some(Action::GoReports),
        'p' => Some(Action::GoPublishing),
        's' => Some(Action::GoSettings),
        _ => None,
    }
}

fn single(letter: char) -> Option<Action> {
    match letter {
        'j' => Some(Action::Next),
        'k' => Some(Action::Previous),
        'r' => Some(Action::Reply),
        'n' => Some(Action::Note),
        'e' => Some(Action::Close),
        'a' => Some(Action::Assign),
        'l' => Some(Action::Label),
        's' => Some(Action::Snooze),
        't' => Some(Action::TakeOver),
        'u' => Some(Action::Undo),
        'v' => Some(Action::Visitor),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Press<'_> {
        Press { key, ..Press::default() }
    }

    fn pressed(press: Press) -> Option<Action> {
        Keyboard::default().press(&press, 0.0)
    }

    #[test]
    fn each_shortcut_of_the_help_does_what_it_says() {
        for (action, _, keys) in SHORTCUTS {
            let mut keyboard = Keyboard::default();
            let mut done = None;
            for name in keys.split(' ') {
                let (ctrl, name) = match name.strip_prefix("Ctrl+") {
                    Some(letter) => (true, letter.to_lowercase()),
                    None => (false, name.to_owned()),
                };
                done = keyboard.press(&Press { ctrl, ..key(&name) }, 0.0);
            }
            assert_eq!(done, Some(action), "{keys}");
            assert_eq!(keys_of(action), Some(keys));
        }
    }

    #[test]
    fn a_field_takes_letters_but_not_escape_or_ctrl_k() {
        let typing = |name| Press { focus: Focus::Field, ..key(name) };
        for name in ["j", "e", "/", "?", "Enter", "g"] {
            assert_eq!(pressed(typing(name)), None, "{name}");
        }
        assert_eq!(pressed(typing("Escape")), Some(Action::Escape));
        assert_eq!(pressed(Press { ctrl: true, ..typing("k") }), Some(Action::Palette));
    }

    #[test]
    fn a_dialog_and_an_input_method_take_every_key() {
        assert_eq!(pressed(Press { focus: Focus::Dialog, ..key("Escape") }), None);
        assert_eq!(pressed(Press { composing: true, ..key("Escape") }), None);
    }

    #[test]
    fn a_button_takes_enter_but_no_letters() {
        let control = |name| Press { focus: Focus::Control, ..key(name) };
        assert_eq!(pressed(control("Enter")), None);
        assert_eq!(pressed(control("j")), Some(Action::Next));
    }

    #[test]
    fn a_letter_counts_where_the_keyboard_writes_it() {
        assert_eq!(pressed(Press { code: "KeyC", ..key("j") }), Some(Action::Next), "Dvorak");
        assert_eq!(pressed(Press { code: "KeyJ", ..key("h") }), None, "Dvorak");
        assert_eq!(pressed(Press { code: "KeyJ", ..key("о") }), Some(Action::Next), "Russian");
        assert_eq!(pressed(Press { code: "KeyK", ctrl: true, ..key("л") }), Some(Action::Palette), "Russian");
        assert_eq!(pressed(Press { code: "KeyS", ..key("ß") }), None, "a letter beside the plain ones");
        assert_eq!(
            pressed(Press { code: "Digit7", shift: true, ..key("/") }),
            Some(Action::Search),
            "German"
        );
        assert_eq!(pressed(Press { code: "Slash", shift: true, ..key("؟") }), Some(Action::Help), "Arabic");
    }

    #[test]
    fn caps_lock_changes_nothing_and_other_combinations_are_the_browsers() {
        assert_eq!(pressed(key("J")), Some(Action::Next));
        assert_eq!(pressed(Press { shift: true, ..key("J") }), None);
        assert_eq!(pressed(Press { alt: true, ..key("j") }), None);
        assert_eq!(pressed(Press { ctrl: true, ..key("r") }), None);
        assert_eq!(pressed(Press { ctrl: true, shift: true, ..key("k") }), None);
        assert_eq!(pressed(Press { ctrl: true, alt: true, ..key("k") }), None, "AltGr");
    }

    #[test]
    fn a_second_key_that_comes_late_stands_for_itself() {
        let mut keyboard = Keyboard::default();
        assert_eq!(keyboard.press(&key("g"), 0.0), None);
        assert_eq!(keyboard.press(&key("r"), SEQUENCE_TIMEOUT_MS + 1.0), Some(Action::Reply));
        assert_eq!(keyboard.press(&key("g"), 5000.0), None);
        assert_eq!(keyboard.press(&key("x"), 5001.0), None);
        assert_eq!(keyboard.press(&key("r"), 5002.0), Some(Action::Reply), "the sequence ended with x");
    }

    #[test]
    fn single_keys_can_be_switched_off() {
        let mut keyboard = Keyboard { single_keys: false, ..Keyboard::default() };
        for name in ["j", "e", "?", "/", "Enter"] {
            assert_eq!(keyboard.press(&key(name), 0.0), None, "{name}");
        }
        assert_eq!(keyboard.press(&Press { ctrl: true, ..key("k") }, 0.0), Some(Action::Palette));
        assert_eq!(keyboard.press(&key("Escape"), 0.0), Some(Action::Escape));
    }
}
