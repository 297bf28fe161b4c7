//! The rules for this browser's subscription to pushes when an operator signs in.

use serde::{Deserialize, Serialize};

/// The operator who subscribed this browser to pushes, and the key of the subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushChoice {
    /// The operator's id.
    pub operator: String,
    /// The public key that the subscription was made with.
    pub key: String,
}

/// The action for this browser's subscription when an operator signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Nobody has asked for pushes here.
    Nothing,
    /// Another operator has: their pushes end.
    Forget,
    /// The device is added to the new session.
    Add,
}

impl PushChoice {
    /// Decides what is to be done with a stored choice when an operator signs in.
    pub fn resume(stored: Option<&Self>, operator: &str) -> Resume {
        match stored {
            None => Resume::Nothing,
            Some(choice) if choice.operator == operator => Resume::Add,
            Some(_) => Resume::Forget,
        }
    }

    /// Returns whether a subscription must be made anew: it is unknown, or was made with another key, as of a
    /// service whose database was restored.
    pub fn is_outdated(stored: Option<&Self>, key: &str) -> bool {
        stored.is_none_or(|choice| choice.key != key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice() -> PushChoice {
        PushChoice { operator: "me".to_owned(), key: "old".to_owned() }
    }

    #[test]
    fn pushes_come_back_for_the_operator_who_asked_for_them_only() {
        assert_eq!(PushChoice::resume(None, "me"), Resume::Nothing);
        assert_eq!(PushChoice::resume(Some(&choice()), "me"), Resume::Add);
        assert_eq!(PushChoice::resume(Some(&choice()), "bob"), Resume::Forget);
    }

    #[test]
    fn a_changed_key_of_the_service_needs_a_new_subscription() {
        assert!(PushChoice::is_outdated(Some(&choice()), "new"));
        assert!(PushChoice::is_outdated(None, "new"));
        assert!(!PushChoice::is_outdated(Some(&choice()), "old"));
    }
}
