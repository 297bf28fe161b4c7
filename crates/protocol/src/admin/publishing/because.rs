//! The reasons for the parts of a suggested page head: `because` of an overlay.

use serde::{Deserialize, Serialize};

use super::Field;
use crate::{Fields, Value};

/// A fault of a part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Fault {
    /// The page does not have it.
    Missing,
    /// It only repeats the title.
    RepeatsTitle,
    /// It is an address that nobody else can open, such as one of `localhost`.
    Unreachable,
}

/// Where a text is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum TextSource {
    /// The page itself has it in another place of its head, or as its heading: a rule proves that it fits.
    Page,
    /// The service has chosen or written it. A person reads it first, or a rule that names the part.
    Composed,
}

/// The reason of one part of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Because {
    /// The part.
    pub field: Field,
    /// The fault.
    pub fault: Fault,
    /// Where the text is from.
    pub source: TextSource,
}

impl Because {
    /// Reads the reasons of an overlay. One that is not known counts as composed text of another fault.
    pub fn of(overlay: &Value) -> Vec<Self> {
        let Some(Value::List(listed)) = overlay.get("because") else { return Vec::new() };
        listed.iter().filter_map(Self::read).collect()
    }

    fn read(value: &Value) -> Option<Self> {
        let mut fields = Fields::lenient(value.clone());
        let field = fields.lenient_text("field")?;
        let fault = fields.lenient_text("fault")?;
        let source = fields.lenient_text("source").unwrap_or_default();
        Some(Self {
            field: Field::ALL.into_iter().find(|known| known.as_str() == field)?,
            fault: match fault.as_str() {
                "missing" => Fault::Missing,
                "repeatsTitle" => Fault::RepeatsTitle,
                "unreachable" => Fault::Unreachable,
                _ => return None,
            },
            source: if source == "page" { TextSource::Page } else { TextSource::Composed },
        })
    }
}

impl From<&Because> for Value {
    fn from(because: &Because) -> Self {
        let fault = match because.fault {
            Fault::Missing => "missing",
            Fault::RepeatsTitle => "repeatsTitle",
            Fault::Unreachable => "unreachable",
        };
        let source = match because.source {
            TextSource::Page => "page",
            TextSource::Composed => "composed",
        };
        Self::object([
            ("field", because.field.as_str().into()),
            ("fault", fault.into()),
            ("source", source.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_survive_a_round_trip_and_unknown_ones_are_skipped() {
        let mut all = Vec::new();
        for field in Field::ALL {
            for fault in [Fault::Missing, Fault::RepeatsTitle, Fault::Unreachable] {
                for source in [TextSource::Page, TextSource::Composed] {
                    all.push(Because { field, fault, source });
                }
            }
        }
        let mut listed: Vec<Value> = all.iter().map(Value::from).collect();
        listed.extend([Value::Null, Value::object([("field", "else".into()), ("fault", "missing".into())])]);
        assert_eq!(Because::of(&Value::object([("because", Value::List(listed))])), all);
        assert_eq!(Because::of(&Value::Null), []);
    }

    #[test]
    fn the_names_are_those_of_the_admin_api() {
        for field in Field::ALL {
            assert_eq!(serde_json::to_value(field).expect("JSON"), field.as_str());
        }
    }
}
