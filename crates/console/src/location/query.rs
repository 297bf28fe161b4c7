//! The query of an address: names and values, percent-encoded.

use std::fmt::{self, Write};

/// The parameters of an address, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query without its `?`.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
        });
        Self(decoded.collect())
    }

    /// Returns the value of a name, if it is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the query with a value; `None` removes it.
    #[must_use]
    pub fn with(mut self, name: &str, value: Option<&str>) -> Self {
        self.0.retain(|(known, _)| known != name);
        if let Some(value) = value {
            self.0.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// Writes the query with its `?`, and nothing without parameters.
impl fmt::Display for Query {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let separator = if index == 0 { '?' } else { '&' };
            write!(formatter, "{separator}{}={}", encode(name), encode(value))?;
        }
        Ok(())
    }
}

/// Percent-encodes a part of an address.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Decodes percent-encoding. Invalid escapes stay as they are.
pub(super) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        let digit = |offset: usize| char::from(*bytes.get(place + offset)?).to_digit(16);
        let escaped = if *byte == b'%' { digit(1).zip(digit(2)) } else { None };
        if let Some((high, low)) = escaped {
            decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
            place += 3;
        } else {
            decoded.push(*byte);
            place += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
