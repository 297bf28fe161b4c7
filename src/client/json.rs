//! JSON text and JavaScript values, to and from [`Value`].

use chat_protocol::Value;
use js_sys::{Array, Object};
#[cfg(feature = "js-api")]
use serde::{Serialize, Serializer};
use wasm_bindgen::{JsCast, JsValue};

/// Nothing in the contract is nested deeper; a hostile answer that is would exhaust the stack.
const MOST_DEPTH: u32 = 64;
/// Integers up to here are exact in JavaScript.
const MOST_SAFE: f64 = 9_007_199_254_740_991.0;

/// The value of a JSON text, by the browser's own parser; null when it is no JSON, or nested beyond all reason.
pub fn parse(text: &str) -> Value {
    js_sys::JSON::parse(text).ok().and_then(|value| read(&value, MOST_DEPTH)).unwrap_or_default()
}

/// A plain JavaScript value as JSON would have it; what JSON cannot say is null.
pub fn from_js(value: &JsValue) -> Value {
    read(value, MOST_DEPTH).unwrap_or_default()
}

/// The JavaScript value, of plain objects and arrays.
#[cfg(feature = "js-api")]
pub fn to_js(value: &Value) -> JsValue {
    Plain(value).serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::NULL)
}

/// A value whose numbers are JavaScript's. Integers of 64 bits bring the words for those that do not fit.
#[cfg(feature = "js-api")]
struct Plain<'a>(&'a Value);

#[cfg(feature = "js-api")]
impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            #[expect(clippy::cast_precision_loss, reason = "so it is in JavaScript")]
            Value::Integer(number) => serializer.serialize_f64(*number as f64),
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items.iter().map(Plain)),
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, Plain(value))))
            }
        }
    }
}

/// Reads by hand: serde-wasm-bindgen's reader brings the formatting of floats with its error messages, 9 KB in all.
fn read(value: &JsValue, depth: u32) -> Option<Value> {
    if let Some(text) = value.as_string() {
        return Some(Value::Text(text));
    }
    if let Some(number) = value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer that fits")]
        let exact = (number.abs() <= MOST_SAFE).then_some(number as i64);
        #[expect(
            clippy::cast_precision_loss,
            clippy::float_cmp,
            reason = "an integer that is exact either way"
        )]
        return Some(
            exact.filter(|integer| *integer as f64 == number).map_or(Value::Number(number), Value::Integer),
        );
    }
    if let Some(value) = value.as_bool() {
        return Some(Value::Bool(value));
    }
    if !value.is_object() {
        return Some(Value::Null);
    }
    let deeper = depth.checked_sub(1)?;
    if let Some(items) = value.dyn_ref::<Array>() {
        let mut list = Vec::new();
        for item in items.iter() {
            list.push(read(&item, deeper)?);
        }
        return Some(Value::List(list));
    }
    let mut members = Vec::new();
    for member in Object::entries(value.unchecked_ref()).iter() {
        let member: Array = member.unchecked_into();
        members.push((member.get(0).as_string()?, read(&member.get(1), deeper)?));
    }
    Some(Value::Object(members))
}
