//! Whether a change of a conversation rings.

use chat_protocol::admin::{ConversationSummary, Message, State};

/// Why a conversation rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The visitor has written.
    Message,
    /// The AI could not answer the visitor, and nobody has taken the conversation.
    Waits,
    /// The visitor asks for a person, and nobody has taken the conversation.
    WantsPerson,
}

/// How an operator is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The reason.
    pub cause: Cause,
    /// Whether a sound is played.
    pub sound: bool,
    /// Whether a desktop notification is shown.
    pub notification: bool,
}

/// What an operator wants, and where they look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Situation<'a> {
    /// The operator's own id.
    pub me: &'a str,
    /// Whether sounds are switched on.
    pub sound: bool,
    /// Whether notifications are switched on and allowed by the browser.
    pub notifications: bool,
    /// Whether it is one of the operator's quiet hours.
    pub quiet: bool,
    /// Whether the page is in sight and has the focus.
    pub watching: bool,
    /// The conversation that is open.
    pub open: Option<&'a str>,
}

/// Returns how the operator is told of a change, if at all. `before` is the conversation as the console knew
/// it; `None` if it did. `messages` are those that are new.
pub fn alert(
    situation: &Situation,
    before: Option<&ConversationSummary>,
    now: &ConversationSummary,
    messages: &[Message],
) -> Option<Alert> {
    if situation.quiet || now.blocked || now.status == State::Closed {
        return None;
    }
    let cause = cause(situation.me, before, now, messages)?;
    let is_on_screen = situation.watching && situation.open == Some(now.id.as_str());
    let alert = Alert {
        cause,
        sound: situation.sound && !is_on_screen,
        notification: situation.notifications && !situation.watching,
    };
    (alert.sound || alert.notification).then_some(alert)
}

fn cause(
    me: &str,
    before: Option<&ConversationSummary>,
    now: &ConversationSummary,
    messages: &[Message],
) -> Option<Cause> {
    let is_mine = now.assignee_id.as_deref() == Some(me);
    let is_nobodys = now.assignee_id.is_none();
    if !is_mine && !is_nobodys {
        return None;
    }
    let waits = now.status == State::Waiting;
    if is_nobodys && waits && before.is_none_or(|before| before.status != State::Waiting) {
        return Some(if now.lead.needs_handoff { Cause::WantsPerson } else { Cause::Waits });
    }
    // While the AI answers, nobody needs to look.
    let needs_person = is_mine || waits || now.ai_paused_until.is_some();
    let has_written = messages.iter().any(|message| message.role == "visitor");
    (needs_person && has_written).then_some(Cause::Message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(assignee: Option<&str>, status: State) -> ConversationSummary {
        ConversationSummary {
            id: "c1".to_owned(),
            assignee_id: assignee.map(str::to_owned),
            status,
            ..ConversationSummary::default()
        }
    }

    fn written(role: &str) -> Vec<Message> {
        vec![Message { role: role.to_owned(), ..Message::default() }]
    }

    const AWAY: Situation =
        Situation { me: "me", sound: true, notifications: true, quiet: false, watching: false, open: None };

    #[test]
    fn my_visitors_ring_and_those_of_others_do_not() {
        let message = written("visitor");
        let cause = |assignee| {
            let now = conversation(assignee, State::Open);
            alert(&AWAY, Some(&now), &now, &message).map(|alert| alert.cause)
        };
        assert_eq!(cause(Some("me")), Some(Cause::Message));
        assert_eq!(cause(Some("bob")), None);
        assert_eq!(cause(None), None, "the AI answers");
    }

    #[test]
    fn a_visitor_who_begins_to_wait_for_a_person_rings_once() {
        let open = conversation(None, State::Open);
        let waiting = conversation(None, State::Waiting);
        let cause =
            |before, messages: &[Message]| alert(&AWAY, before, &waiting, messages).map(|alert| alert.cause);
        assert_eq!(cause(Some(&open), &[]), Some(Cause::Waits));
        assert_eq!(cause(None, &written("visitor")), Some(Cause::Waits));
        assert_eq!(cause(Some(&waiting), &[]), None);
        assert_eq!(cause(Some(&waiting), &written("visitor")), Some(Cause::Message));
        let mut asking = waiting.clone();
        asking.lead.needs_handoff = true;
        let alert = alert(&AWAY, Some(&open), &asking, &[]);
        assert_eq!(alert.map(|alert| alert.cause), Some(Cause::WantsPerson));
    }

    #[test]
    fn answers_and_changes_do_not_ring() {
        let now = conversation(Some("me"), State::Open);
        for role in ["assistant", "operator", "system"] {
            assert_eq!(alert(&AWAY, Some(&now), &now, &written(role)), None, "{role}");
        }
        assert_eq!(alert(&AWAY, None, &now, &[]), None);
    }

    #[test]
    fn quiet_hours_blocked_visitors_and_closed_conversations_are_silent() {
        let message = written("visitor");
        let mine = conversation(Some("me"), State::Open);
        assert_eq!(alert(&Situation { quiet: true, ..AWAY }, None, &mine, &message), None);
        assert_eq!(alert(&AWAY, None, &conversation(Some("me"), State::Closed), &message), None);
        let blocked = ConversationSummary { blocked: true, ..mine };
        assert_eq!(alert(&AWAY, None, &blocked, &message), None);
    }

    #[test]
    fn somebody_who_looks_at_the_page_gets_no_notification() {
        let now = conversation(Some("me"), State::Open);
        let watching = Situation { watching: true, ..AWAY };
        let told = alert(&watching, None, &now, &written("visitor")).expect("an alert");
        assert!(told.sound && !told.notification);
        let reading = Situation { open: Some("c1"), ..watching };
        assert_eq!(alert(&reading, None, &now, &written("visitor")), None);
        let open_in_the_background = Situation { open: Some("c1"), ..AWAY };
        let told = alert(&open_in_the_background, None, &now, &written("visitor")).expect("an alert");
        assert!(told.sound && told.notification);
    }

    #[test]
    fn what_is_switched_off_stays_silent() {
        let now = conversation(Some("me"), State::Open);
        let off = Situation { sound: false, notifications: false, ..AWAY };
        assert_eq!(alert(&off, None, &now, &written("visitor")), None);
    }
}
