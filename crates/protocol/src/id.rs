//! Identifiers: opaque text, with a type for each kind.

use std::fmt::{self, Display, Formatter};

use crate::{FieldError, Value, limits};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "admin", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $name(String);

        impl $name {
            /// Returns the identifier as it is on the wire.
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

macro_rules! impl_from_text {
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
    /// The stable identifier of a visitor (2.8), created and stored by the widget.
    VisitorId
}
impl_from_text!(VisitorId);

identifier! {
    /// The identifier of a conversation (4.5), assigned by the service with its first response.
    ConversationId
}
impl_from_text!(ConversationId);

identifier! {
    /// The identifier of a message (2.4), assigned by the service.
    MessageId
}
impl_from_text!(MessageId);

#[cfg(any(feature = "server", test))]
identifier! {
    /// The identifier of a cloud job (2.2).
    JobId
}
#[cfg(any(feature = "server", test))]
impl_from_text!(JobId);

#[cfg(any(feature = "server", test))]
identifier! {
    /// The credential of a job's claim (2.2): issued with the claim, and sent back with the completion.
    ClaimToken
}
#[cfg(any(feature = "server", test))]
impl_from_text!(ClaimToken);

identifier! {
    /// The `Idempotency-Key` of one logical request (4.1), which only retries of that request reuse.
    IdempotencyKey
}

impl IdempotencyKey {
    /// Creates a key. Its length must be within [`limits::KEY_LENGTH`] and each character visible ASCII.
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
    fn accepts_keys_of_8_to_160_visible_ascii_characters() {
        assert!(IdempotencyKey::new("1234567").is_err());
        assert!(IdempotencyKey::new("12345678").is_ok());
        assert!(IdempotencyKey::new("k".repeat(160)).is_ok());
        assert!(IdempotencyKey::new("k".repeat(161)).is_err());
        assert!(IdempotencyKey::new("a key with spaces").is_err());
        assert!(IdempotencyKey::new("schlüssel").is_err());
    }
}
