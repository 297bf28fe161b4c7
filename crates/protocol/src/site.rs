//! The status of a site (4.3).

use crate::{FieldError, Fields, Value};

/// `data` of `GET /site/status`. The contract does not specify it. The fields are those that other sections
/// mention, and all are optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteStatus {
    /// `tenantId`.
    pub tenant_id: Option<String>,
    /// `siteId`.
    pub site_id: Option<String>,
    /// `siteName`, or `name`.
    pub site_name: Option<String>,
    /// `domain`.
    pub domain: Option<String>,
    /// `status`, such as `active`.
    pub status: Option<String>,
    /// Whether `tracking` is `enabled` (3).
    pub tracking_enabled: Option<bool>,
    /// Further members.
    pub extra: Value,
}

impl TryFrom<Value> for SiteStatus {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        // Some services wrap the record in `site`.
        if let site @ Value::Object(_) = fields.take("site") {
            fields = Fields::of(site)?;
        }
        Ok(Self {
            tenant_id: fields.lenient_text("tenantId"),
            site_id: fields.lenient_text("siteId").or_else(|| fields.lenient_text("id")),
            site_name: fields.lenient_text("siteName").or_else(|| fields.lenient_text("name")),
            domain: fields.lenient_text("domain"),
            status: fields.lenient_text("status"),
            tracking_enabled: match fields.take("tracking") {
                Value::Text(word) if word == "enabled" => Some(true),
                Value::Text(word) if word == "disabled" => Some(false),
                Value::Bool(enabled) => Some(enabled),
                _ => None,
            },
            extra: fields.rest(),
        })
    }
}

impl From<&SiteStatus> for Value {
    fn from(status: &SiteStatus) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        let tracking = status.tracking_enabled.map(|enabled| if enabled { "enabled" } else { "disabled" });
        let known = Value::object([
            ("tenantId", text(&status.tenant_id)),
            ("siteId", text(&status.site_id)),
            ("siteName", text(&status.site_name)),
            ("domain", text(&status.domain)),
            ("status", text(&status.status)),
            ("tracking", tracking.into()),
        ]);
        match (known, status.extra.clone()) {
            (Value::Object(mut known), Value::Object(more)) => {
                known.extend(more);
                Value::Object(known)
            }
            (known, _) => known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_an_empty_status() {
        let status = SiteStatus::try_from(Value::object([])).expect("usable");
        assert_eq!(status, SiteStatus { extra: Value::object([]), ..SiteStatus::default() });
    }

    #[test]
    fn a_status_keeps_unknown_members() {
        let status = SiteStatus {
            site_id: Some("s".into()),
            status: Some("active".into()),
            tracking_enabled: Some(false),
            extra: Value::object([("jobsWaiting", 3_i64.into())]),
            ..SiteStatus::default()
        };
        assert_eq!(SiteStatus::try_from(Value::from(&status)), Ok(status));
    }

    #[test]
    fn accepts_a_wrapped_record() {
        let wrapped =
            Value::object([("site", Value::object([("id", 7_i64.into()), ("name", "Shop".into())]))]);
        let status = SiteStatus::try_from(wrapped).expect("usable");
        assert_eq!((status.site_id.as_deref(), status.site_name.as_deref()), (Some("7"), Some("Shop")));
    }
}
