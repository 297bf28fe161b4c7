//! Writes a value as JSON, without the standard library's formatting, which takes more bytes in WebAssembly.

use super::Value;

impl Value {
    /// Returns the value as JSON. The output is deterministic.
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

/// Returns the decimal digits of a number. The standard library's formatting takes a kilobyte in WebAssembly
/// (brotli).
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

/// Writes 15 significant digits and a power of ten, which preserves any decimal number that a person wrote.
/// The standard library's shortest exact form takes 8 KB in WebAssembly.
#[expect(clippy::cast_possible_truncation, reason = "15 digits fit")]
fn write_number(out: &mut String, number: f64) {
    const DIGITS: (f64, f64) = (1e14, 1e15);
    /// The largest exact power of ten.
    const EXACT: f64 = 1e22;
    let (mut scaled, mut power) = (number.abs(), 0);
    if scaled == 0.0 {
        return out.push('0');
    }
    while scaled >= DIGITS.1 {
        scaled /= 10.0;
        power += 1;
    }
    // A number that a person wrote is multiplied, and so rounded, only once.
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
