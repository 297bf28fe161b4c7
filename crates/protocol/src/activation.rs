//! Activation: exchanges a license code for a site token (4.2).

use std::fmt::{self, Debug, Formatter};

use crate::{FieldError, Fields, Value, limits};

/// A secret: a site token or a license code. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    /// Returns the secret.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Consumes the credential, and returns the secret.
    pub fn into_exposed(self) -> String {
        self.0
    }
}

impl Debug for Credential {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("[REDACTED]")
    }
}

impl From<String> for Credential {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Credential {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The body of `POST /auth/activate` (4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// `licenseCode`.
    pub license_code: Credential,
    /// `domain`: the site's origin, such as `https://shop.example`.
    pub domain: String,
    /// `platform`: the platform of the site.
    pub platform: Option<String>,
    /// `siteName`.
    pub site_name: Option<String>,
    /// `primaryLocale`.
    pub primary_locale: Option<String>,
    /// `supportedLocales`.
    pub supported_locales: Vec<String>,
}

impl TryFrom<Value> for Activation {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let license_code = fields.text("licenseCode")?.into();
        let domain = fields.text("domain")?;
        let [platform, site_name] = fields.optional_texts(["platform", "siteName"])?;
        let primary_locale = fields.optional_language_tag("primaryLocale")?;
        let supported_locales = fields.language_tags("supportedLocales", limits::SUPPORTED_LOCALES)?;
        Ok(Self { license_code, domain, platform, site_name, primary_locale, supported_locales })
    }
}

impl From<&Activation> for Value {
    fn from(body: &Activation) -> Self {
        Value::object([
            ("licenseCode", body.license_code.expose().into()),
            ("domain", body.domain.as_str().into()),
            ("platform", body.platform.clone().into()),
            ("siteName", body.site_name.clone().into()),
            ("primaryLocale", body.primary_locale.clone().into()),
            ("supportedLocales", body.supported_locales.iter().map(String::as_str).collect()),
        ])
    }
}

/// `data` of `POST /auth/activate`. The contract specifies only the token; the ids are optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activated {
    /// `siteToken` or `token`. It must stay on the server side (5).
    pub site_token: Credential,
    /// `tenantId`.
    pub tenant_id: Option<String>,
    /// `siteId`.
    pub site_id: Option<String>,
}

impl TryFrom<Value> for Activated {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let token = fields.lenient_text("siteToken").or_else(|| fields.lenient_text("token"));
        Ok(Self {
            site_token: token.ok_or_else(|| FieldError::new("siteToken", "is missing"))?.into(),
            tenant_id: fields.lenient_text("tenantId"),
            site_id: fields.lenient_text("siteId"),
        })
    }
}

impl From<&Activated> for Value {
    fn from(activated: &Activated) -> Self {
        Value::object([
            ("siteToken", activated.site_token.expose().into()),
            ("tenantId", activated.tenant_id.clone().into()),
            ("siteId", activated.site_id.clone().into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_token_from_either_field() {
        for name in ["siteToken", "token"] {
            let data = Value::object([(name, "st_1".into())]);
            assert_eq!(Activated::try_from(data).expect("usable").site_token.expose(), "st_1");
        }
        let error = Activated::try_from(Value::object([("siteToken", "".into())])).unwrap_err();
        assert_eq!(error.to_string(), "siteToken is missing");
    }

    #[test]
    fn names_the_invalid_locale() {
        let with = |name, locale| {
            let body = Value::object([("licenseCode", "L".into()), ("domain", "d".into()), (name, locale)]);
            Activation::try_from(body).map_err(|error| error.field)
        };
        assert_eq!(with("primaryLocale", "en_US".into()), Err("primaryLocale".to_owned()));
        let tags = || Value::List(vec!["en".into(), 7_i64.into()]);
        assert_eq!(with("supportedLocales", tags()), Err("supportedLocales[1]".to_owned()));
        let many = Value::List(vec!["en".into(); limits::SUPPORTED_LOCALES + 1]);
        assert_eq!(with("supportedLocales", many), Err("supportedLocales".to_owned()));
    }

    #[test]
    fn debug_output_contains_neither_token_nor_license() {
        let body = Activation {
            license_code: "LIC-1".into(),
            domain: "https://shop.example".into(),
            platform: None,
            site_name: None,
            primary_locale: Some("en-US".into()),
            supported_locales: vec!["en-US".into()],
        };
        let activated = Activated { site_token: "st_1".into(), tenant_id: None, site_id: Some("s".into()) };
        let output = format!("{body:?} {activated:?}");
        assert!(!output.contains("LIC-1") && !output.contains("st_1"), "{output}");
        assert_eq!(Activation::try_from(Value::from(&body)), Ok(body));
        assert_eq!(Activated::try_from(Value::from(&activated)), Ok(activated));
    }
}
