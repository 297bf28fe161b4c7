//! A JSON value: the one thing that is read from and written to the wire.

mod serde_impl;
mod write;

use std::fmt::{self, Display, Formatter};

pub use write::decimal;

/// A JSON value, with an object's members in the order in which they came.
///
/// `Display` writes it as JSON text. The text depends on nothing but the value, so a request body that is written
/// twice is the same to the byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`, and what a missing member reads as.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Integer(i64),
    /// A number with a fraction, or one too large for an integer; written with 15 significant digits, and as `null`
    /// when it is not finite.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// An object of the members that are not null; the order given is the order written.
    pub fn object<const N: usize>(mut members: [(&str, Self); N]) -> Self {
        // By way of a slice, so that objects of all sizes share their code.
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

    /// The member of an object with this name; `None` when there is none, or when this is no object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value this is, in the words of an error message.
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
            // What a person writes: up to 12 digits, some behind the point.
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
        fn text_written_is_read_back_as_the_same_value(value in any_value()) {
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
    fn a_number_of_twelve_digits_is_written_to_the_last_one() {
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
    fn a_number_that_json_cannot_hold_is_written_as_null() {
        assert_eq!(Value::Number(f64::NAN).to_string(), "null");
        assert_eq!(Value::Number(f64::INFINITY).to_string(), "null");
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(serde_json::from_str::<Value>(&nested(64)).is_ok());
        assert!(serde_json::from_str::<Value>(&nested(65)).is_err());
    }

    #[test]
    fn null_members_are_left_out_of_an_object() {
        let value = Value::object([("a", Value::Null), ("b", true.into())]);
        assert_eq!(value.to_string(), r#"{"b":true}"#);
    }
}
