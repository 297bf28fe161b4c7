//! Identifiers. Each is opaque text; the types keep them apart.

use std::fmt::{self, Display, Formatter};

use crate::{FieldError, Value, limits};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The identifier as it is on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Display for $name {
            fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl From<&$name> for Value {
            fn from(id: &$name) -> Self {
                Value::Text(id.0.clone())
            }
        }
    };
}

macro_rules! named_by_the_service {
    ($name:ident) => {
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

identifier! {
    /// The stable identifier of a visitor (2.8), which the widget makes and keeps.
    VisitorId
}
named_by_the_service!(VisitorId);

identifier! {
    /// The identifier of a conversation (4.5), which the service gives with the first answer.
    ConversationId
}
named_by_the_service!(ConversationId);

identifier! {
    /// The identifier of a message (2.4), which the service gives.
    MessageId
}
named_by_the_service!(MessageId);

#[cfg(any(feature = "server", test))]
identifier! {
    /// The identifier of a cloud job (2.2).
    JobId
}
#[cfg(any(feature = "server", test))]
named_by_the_service!(JobId);

#[cfg(any(feature = "server", test))]
identifier! {
    /// What proves that a job is held by this claim (2.2): it comes with the claim, and goes back with the completion.
    ClaimToken
}
#[cfg(any(feature = "server", test))]
named_by_the_service!(ClaimToken);

identifier! {
    /// The `Idempotency-Key` of one logical request (4.1): a retry repeats it, another request never does.
    IdempotencyKey
}

impl IdempotencyKey {
    /// A key, when its length is within [`limits::KEY_LENGTH`] and each character is visible ASCII, as a header needs.
    pub fn new(text: impl Into<String>) -> Result<Self, FieldError> {
        Self::checked(text.into())
    }

    fn checked(text: String) -> Result<Self, FieldError> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || !limits::KEY_LENGTH.contains(&text.len()) {
            return Err(FieldError::new("Idempotency-Key", "must have 8 to 160 visible ASCII characters"));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_8_to_160_visible_ascii_characters() {
        assert!(IdempotencyKey::new("1234567").is_err());
        assert!(IdempotencyKey::new("12345678").is_ok());
        assert!(IdempotencyKey::new("k".repeat(160)).is_ok());
        assert!(IdempotencyKey::new("k".repeat(161)).is_err());
        assert!(IdempotencyKey::new("a key with spaces").is_err());
        assert!(IdempotencyKey::new("schlüssel").is_err());
    }
}
