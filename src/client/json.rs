//! Conversions between [`Value`], JSON text and JavaScript values.

use chat_protocol::Value;
use js_sys::{Array, Object};
#[cfg(feature = "js-api")]
use serde::{Serialize, Serializer};
use wasm_bindgen::prelude::*;

/// Maximum nesting: more than the contract needs. Unlimited nesting would exhaust the stack.
const MAX_DEPTH: u32 = 64;
/// Maximum integer that JavaScript represents exactly.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

#[wasm_bindgen]
extern "C" {
    /// `JSON.parse`, for a text that is not copied into the module's memory, which never shrinks.
    #[wasm_bindgen(js_namespace = JSON, js_name = parse, catch)]
    fn parse_text(text: &JsValue) -> Result<JsValue, JsValue>;
}

/// Parses a JSON text with the browser's parser. Returns null if it is invalid or nested too deeply.
pub fn parse(text: &str) -> Value {
    from_js(&parse_js(&text.into()))
}

/// Parses a JSON text that is a JavaScript value. Returns null if it is invalid.
pub(crate) fn parse_js(text: &JsValue) -> JsValue {
    parse_text(text).unwrap_or(JsValue::NULL)
}

/// Converts a plain JavaScript value as JSON does. A value that JSON cannot represent becomes null.
pub fn from_js(value: &JsValue) -> Value {
    read(value, MAX_DEPTH).unwrap_or_default()
}

/// Returns the value as plain JavaScript objects and arrays.
#[cfg(feature = "js-api")]
pub fn to_js(value: &Value) -> JsValue {
    Plain(value).serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::NULL)
}

/// A value whose integers are serialized as floats: 64-bit integers would add the error messages of those
/// that do not fit.
#[cfg(feature = "js-api")]
struct Plain<'a>(&'a Value);

#[cfg(feature = "js-api")]
impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            #[expect(clippy::cast_precision_loss, reason = "as in JavaScript")]
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

/// Converts by hand: the deserializer of serde-wasm-bindgen adds 9 KB, for the formatting of floats in its
/// errors.
fn read(value: &JsValue, depth: u32) -> Option<Value> {
    if let Some(text) = value.as_string() {
        return Some(Value::Text(text));
    }
    if let Some(number) = value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer that fits")]
        let exact = (number.abs() <= MAX_SAFE_INTEGER).then_some(number as i64);
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
