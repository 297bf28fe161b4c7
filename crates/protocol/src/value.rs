//! A JSON value, from which all types are parsed and to which they are written.

mod serde_impl;
mod write;

use std::fmt::{self, Display, Formatter};

pub use write::decimal;

/// A JSON value. Objects keep the order of their members.
///
/// `Display` writes it as JSON. The output is deterministic, so that a request body that is written twice is
/// identical.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`, or a missing member.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Integer(i64),
    /// A number with a fraction, or one too large for an integer. It is written with 15 significant digits,
    /// or as `null` if it is not finite.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Returns an object of the members that are not null, in the given order.
    pub fn object<const N: usize>(mut members: [(&str, Self); N]) -> Self {
        // Takes a slice, so that objects of all sizes share the code.
        Self::take_members(&mut members)
    }

    fn take_members(members: &mut [(&str, Self)]) -> Self {
        let mut present = Vec::new();
        for (name, value) in members {
            if !matches!(value, Self::Null) {
                present.push(((*name).to_owned(), std::mem::take(value)));
            }
        }
        Self::Object(present)
    }

    /// Returns the member of an object with this name; `None` if it is missing, or if this is not an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the type of the value for error messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Integer),
            // Numbers as people write them: up to 12 digits, some after the point.
            (-999_999_999_999_i64..999_999_999_999, 1_i32..9).prop_filter_map(
                "has a fraction",
                |(digits, places)| {
                    let number: f64 = format!("{digits}e-{places}").parse().ok()?;
                    (number.fract() != 0.0).then_some(Value::Number(number))
                }
            ),
            any::<String>().prop_map(Value::Text),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
                prop::collection::vec((any::<String>(), inner), 0..6).prop_map(Value::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_written_value_is_parsed_as_the_same_value(value in any_value()) {
            let read: Value = serde_json::from_str(&value.to_string()).expect("valid JSON");
            prop_assert_eq!(read, value);
        }

        #[test]
        fn serde_and_display_write_the_same_value(value in any_value()) {
            let written: Value = serde_json::from_str(&serde_json::to_string(&value).expect("writes")).expect("reads");
            prop_assert_eq!(written, value);
        }
    }

    #[test]
    fn writes_all_twelve_digits_of_a_number() {
        assert_eq!(Value::Number(-8_780.620_777_82).to_string(), "-878062077782e-8");
    }

    #[test]
    fn very_large_and_very_small_numbers_keep_their_digits() {
        for number in [1e300, 1.234_567_890_123_45e-300, 0.1, -2.5, 1e15, 0.0] {
            let written = Value::Number(number).to_string();
            let read: f64 = serde_json::from_str(&written).expect("a number");
            assert!((read - number).abs() <= number.abs() * 1e-12, "{number:e} became {written}");
        }
    }

    #[test]
    fn writes_non_finite_numbers_as_null() {
        assert_eq!(Value::Number(f64::NAN).to_string(), "null");
        assert_eq!(Value::Number(f64::INFINITY).to_string(), "null");
    }

    #[test]
    fn refuses_too_deep_nesting() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(serde_json::from_str::<Value>(&nested(64)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(65)).is_err());
    }

    #[test]
    fn omits_null_members() {
        let value = Value::object([("a", Value::Null), ("b", true.into())]);
        assert_eq!(value.to_string(), r#"{"b":true}"#);
    }
}
