//! The time for which a certificate is valid, read from its DER form (RFC 5280, 4.1).

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{TlsError, certificates};

/// The time for which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment.
    pub not_before: Timestamp,
    /// The last moment.
    pub not_after: Timestamp,
}

/// Returns the validity of the first certificate in a file; `None` if the certificate is not understood.
pub fn validity(path: &Path) -> Result<Option<Validity>, TlsError> {
    let text = std::fs::read(path).map_err(|source| TlsError::File { path: path.to_owned(), source })?;
    let chain = certificates(path, &text)?;
    Ok(chain.first().and_then(|certificate| validity_of(certificate)))
}

const SEQUENCE: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

fn validity_of(der: &[u8]) -> Option<Validity> {
    let (SEQUENCE, certificate, _) = element(der)? else { return None };
    let (SEQUENCE, mut fields, _) = element(certificate)? else { return None };
    if let (EXPLICIT_VERSION, _, rest) = element(fields)? {
        fields = rest;
    }
    // The serial number, the algorithm and the issuer come first.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (SEQUENCE, times, _) = element(fields)? else { return None };
    let (first_tag, first, rest) = element(times)?;
    let (last_tag, last, _) = element(rest)?;
    Some(Validity { not_before: time(first_tag, first)?, not_after: time(last_tag, last)? })
}

/// Splits an element off: its tag, its content, and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length = bytes.iter().try_fold(0_usize, |length, byte| {
            length.checked_mul(256).and_then(|length| length.checked_add((*byte).into()))
        })?;
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, content: &[u8]) -> Option<Timestamp> {
    let digits = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
    let full = match tag {
        // Two digits of a year are of 1950 to 2049.
        UTC_TIME if digits.get(..2)? >= "50" => format!("19{digits}"),
        UTC_TIME => format!("20{digits}"),
        GENERALIZED_TIME => digits.to_owned(),
        _ => return None,
    };
    let at = |from: usize, to: usize| full.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize| i8::try_from(at(from, from + 2)?).ok();
    let time = DateTime::new(at(0, 4)?, small(4)?, small(6)?, small(8)?, small(10)?, small(12)?, 0).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_formats_of_times() {
        let shown = |tag, text: &str| time(tag, text.as_bytes()).map(|time| time.to_string());
        assert_eq!(shown(UTC_TIME, "260131235959Z").as_deref(), Some("2026-01-31T23:59:59Z"));
        assert_eq!(shown(UTC_TIME, "500101000000Z").as_deref(), Some("1950-01-01T00:00:00Z"));
        assert_eq!(shown(GENERALIZED_TIME, "21260131235959Z").as_deref(), Some("2126-01-31T23:59:59Z"));
        for invalid in ["", "Z", "260131235959", "261331235959Z", "26013123595", "\u{e9}60131235959Z"] {
            assert_eq!(shown(UTC_TIME, invalid), None, "{invalid}");
        }
    }

    #[test]
    fn any_part_of_a_certificate_is_read_without_a_panic() {
        let pem = include_bytes!("../../tests/tls/one.crt");
        let chain = certificates(Path::new("one.crt"), pem).expect("a certificate");
        let der: &[u8] = &chain[0];
        let validity = validity_of(der).expect("understood");
        assert!(validity.not_before < validity.not_after);
        assert!(validity.not_after.to_string().starts_with("2126-"), "{validity:?}");
        for length in 0..der.len() {
            assert_eq!(validity_of(&der[..length]), None);
        }
        for place in 0..der.len().min(200) {
            let mut changed = der.to_vec();
            changed[place] ^= 0xff;
            validity_of(&changed);
        }
    }
}
