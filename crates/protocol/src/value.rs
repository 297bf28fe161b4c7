//! A JSON value: the one thing that is read from and written to the wire.

use std::fmt::{self, Display, Formatter};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

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

impl Value {
    /// The JSON text, always the same for the same value.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Integer(number) => out.push_str(&decimal(*number)),
            Self::Number(number) if number.is_finite() => write_number(out, *number),
            Self::Null | Self::Number(_) => out.push_str("null"),
            Self::Text(text) => write_text(out, text),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// The digits of a number. The standard library's formatting weighs a kilobyte in WebAssembly (brotli), for widths and
/// signs that nobody here asks for.
pub fn decimal(number: i64) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    while digits.is_empty() || rest > 0 {
        digits.push(char::from(b'0' + (rest % 10) as u8));
        rest /= 10;
    }
    if number < 0 {
        digits.push('-');
    }
    digits.into_iter().rev().collect()
}

/// Writes 15 significant digits and a power of ten: as much as any decimal number that a person wrote has. The standard
/// library's shortest exact form would cost 8 KB in WebAssembly.
#[expect(clippy::cast_possible_truncation, reason = "15 digits fit")]
fn write_number(out: &mut String, number: f64) {
    const DIGITS: (f64, f64) = (1e14, 1e15);
    /// Powers of ten are exact up to this one.
    const EXACT: f64 = 1e22;
    let (mut scaled, mut power) = (number.abs(), 0);
    if scaled == 0.0 {
        return out.push('0');
    }
    while scaled >= DIGITS.1 {
        scaled /= 10.0;
        power += 1;
    }
    // What a person wrote is multiplied, and so rounded, once.
    let mut factor = 1.0;
    while scaled * factor < DIGITS.0 {
        if factor >= EXACT {
            scaled *= factor;
            factor = 1.0;
        }
        factor *= 10.0;
        power -= 1;
    }
    let mut digits = (scaled * factor + 0.5) as i64;
    while digits % 10 == 0 {
        digits /= 10;
        power += 1;
    }
    if number < 0.0 {
        digits = -digits;
    }
    out.push_str(&decimal(digits));
    out.push('e');
    out.push_str(&decimal(power));
}

fn write_text(out: &mut String, text: &str) {
    let is_escaped = |character| matches!(character, '"' | '\\' | '\0'..' ');
    let mut escaped = text.chars().filter(|character| is_escaped(*character));
    out.push('"');
    for plain in text.split(is_escaped) {
        out.push_str(plain);
        match escaped.next() {
            Some('\n') => out.push_str("\\n"),
            Some(control) if control < ' ' => {
                let code = u32::from(control);
                out.push_str(if code < 16 { "\\u000" } else { "\\u001" });
                out.extend(char::from_digit(code % 16, 16));
            }
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => {}
        }
    }
    out.push('"');
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyValue { depth: 0 }.deserialize(deserializer)
    }
}

/// Nothing in the contract is nested deeper; a hostile answer that is would exhaust the stack.
const MOST_DEPTH: u8 = 64;

#[derive(Clone, Copy)]
struct AnyValue {
    depth: u8,
}

impl AnyValue {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MOST_DEPTH {
            return Err(E::custom("nested too deep"));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a JSON number of that size has no more precision to lose"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Number(number as f64), Value::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Vec::new();
        while let Some(name) = members.next_key()? {
            object.push((name, members.next_value_seed(inner)?));
        }
        Ok(Value::Object(object))
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
