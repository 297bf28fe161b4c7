//! Rings for what needs the operator: a sound, and a notification of the operating system.

use std::time::Duration;

use chat_protocol::admin::{ConversationSummary, Message, QuietHours};
use leptos::prelude::*;

use super::app;
use crate::attention::{Alert, Cause, Situation, alert, claim, plain};
use crate::browser::notification::{self, Permission};
use crate::browser::{clock, sound, storage, visibility};
use crate::location::Page;
use crate::text::{attention, units};

/// The key of the list of messages that some tab has rung for.
const RUNG: &str = "rung";
/// The minimum time between two sounds.
const SOUND_PAUSE_MS: f64 = 2000.0;
/// Maximum characters of a name and of a text in a notification.
const MAX_NAME: usize = 60;
const MAX_TEXT: usize = 140;
/// A bell of two rising tones for a message, and a third one for a visitor who wants a person.
const MESSAGE_TONES: [sound::Tone; 2] = [(0.0, 659.3), (0.11, 880.0)];
const PERSON_TONES: [sound::Tone; 3] = [(0.0, 659.3), (0.11, 880.0), (0.22, 1108.7)];

/// Sounds and notifications. Copies are the same.
#[derive(Clone, Copy)]
pub struct Alerts {
    permission: RwSignal<Permission>,
    sounded_ms: StoredValue<f64>,
}

impl Alerts {
    pub(super) fn new() -> Self {
        Self {
            permission: RwSignal::new(notification::permission()),
            sounded_ms: StoredValue::new(f64::NEG_INFINITY),
        }
    }

    /// Returns whether the browser shows notifications.
    pub fn permission(self) -> Signal<Permission> {
        self.permission.into()
    }

    /// Asks the operator for the permission, after a click.
    pub async fn ask(self) -> Permission {
        let permission = notification::request_permission().await;
        self.permission.set(permission);
        permission
    }

    /// Plays the sound of a message.
    pub fn try_sound() {
        sound::play(&MESSAGE_TONES);
    }

    /// Rings if a change of a conversation needs the operator. `before` is the conversation as the console
    /// knew it; `messages` are its last ones, of which those after `before` are new.
    pub fn on_change(
        self,
        before: Option<&ConversationSummary>,
        now: &ConversationSummary,
        messages: &[Message],
    ) {
        let app = app();
        let known = before.map_or(0, |before| before.message_count);
        let new: Vec<Message> = messages.iter().filter(|message| message.sequence > known).cloned().collect();
        let preferences = app.preferences.get_untracked();
        let open = match app.router.page().get_untracked() {
            Page::Inbox { conversation, .. } => conversation,
            _ => None,
        };
        let situation = Situation {
            me: &app.session.my_id(),
            sound: preferences.sound,
            notifications: preferences.notifications
                && self.permission.get_untracked() == Permission::Granted,
            quiet: preferences.quiet_hours.as_ref().is_some_and(is_quiet),
            watching: visibility::is_in_use(),
            open: open.as_deref(),
        };
        let Some(alert) = alert(&situation, before, now, &new) else { return };
        let key = format!("{}:{}:{:?}", now.id, now.message_count, alert.cause);
        let last =
            new.iter().rev().find(|message| message.role == "visitor").map(|last| last.content.clone());
        let (id, text) = (now.id.clone(), describe(now, alert.cause, last.as_deref()));
        // The tab that the operator looks at comes first; of the others, one.
        set_timeout(
            move || {
                let stored: Option<String> = storage::read(RUNG);
                if let Some(list) = claim(stored.as_deref(), &key) {
                    storage::write(RUNG, &list);
                    self.ring(alert, &id, &text);
                }
            },
            delay(situation.watching),
        );
    }

    fn ring(self, alert: Alert, id: &str, (title, body): &(String, String)) {
        let now_ms = clock::now_ms();
        if alert.sound && now_ms - self.sounded_ms.get_value() >= SOUND_PAUSE_MS {
            self.sounded_ms.set_value(now_ms);
            sound::play(match alert.cause {
                Cause::Message => &MESSAGE_TONES,
                Cause::Waits | Cause::WantsPerson => &PERSON_TONES,
            });
        }
        if alert.notification {
            let page = Page::conversation(id);
            notification::show(title, body, id, move || app().router.open(page.clone()));
        }
    }
}

/// Returns the title and the text of a notification. The title is the console's own, so that a visitor's name
/// cannot pass for somebody else.
fn describe(now: &ConversationSummary, cause: Cause, last: Option<&str>) -> (String, String) {
    let title = match cause {
        Cause::Message => attention::NEW_MESSAGE,
        Cause::Waits => attention::WAITS,
        Cause::WantsPerson => attention::WANTS_PERSON,
    };
    let name = now.visitor.name.as_deref().map(|name| plain(name, MAX_NAME)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| attention::SOMEBODY.get().to_owned());
    let text = plain(last.unwrap_or_default(), MAX_TEXT);
    let body = if text.is_empty() {
        name
    } else {
        // Isolates, so that a name from right to left does not turn the line around.
        format!("\u{2068}{name}\u{2069}: \u{2068}{text}\u{2069}")
    };
    (title.get().to_owned(), body)
}

fn delay(is_watching: bool) -> Duration {
    if is_watching {
        return Duration::ZERO;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 200")]
    let jitter = (js_sys::Math::random() * 200.0) as u64;
    let wait = if visibility::is_visible() { 60 } else { 150 };
    Duration::from_millis(wait + jitter)
}

/// Returns whether it is one of these quiet hours now.
fn is_quiet(hours: &QuietHours) -> bool {
    units::minute_in_zone(clock::now_ms(), &hours.time_zone)
        .is_some_and(|(weekday, minute)| hours.contains(weekday, minute))
}

#[cfg(test)]
mod tests {
    use chat_protocol::admin::Visitor;

    use super::*;

    #[test]
    fn a_name_in_a_notification_cannot_look_like_the_console() {
        let visitor = Visitor { name: Some("\u{202e}Console\n\nsecurity".to_owned()), ..Visitor::default() };
        let now = ConversationSummary { visitor, ..ConversationSummary::default() };
        let (title, body) = describe(&now, Cause::Message, Some("Sign in\nagain"));
        assert_eq!(title, attention::NEW_MESSAGE.get());
        assert_eq!(body, "\u{2068}Console security\u{2069}: \u{2068}Sign in again\u{2069}");
        let (_, body) = describe(&ConversationSummary::default(), Cause::WantsPerson, None);
        assert_eq!(body, attention::SOMEBODY.get());
    }
}
