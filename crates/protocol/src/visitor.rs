//! The visitor's profile (2.8).

use crate::{FieldError, Fields, Value, VisitorId};

/// The request header with the token by which a site proves who a visitor is. An extension of the contract.
pub const VISITOR_TOKEN: &str = "visitor-token";

/// `visitor` of the send-message body. All fields except the id come from the visitor or the site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitorProfile {
    /// `visitorId`.
    pub visitor_id: Option<VisitorId>,
    /// `name`.
    pub name: Option<String>,
    /// `email`.
    pub email: Option<String>,
    /// `phone`.
    pub phone: Option<String>,
    /// `company`.
    pub company: Option<String>,
    /// `wechat`.
    pub wechat: Option<String>,
    /// `whatsapp`.
    pub whatsapp: Option<String>,
    /// `country`: country or region.
    pub country: Option<String>,
}

impl VisitorProfile {
    /// Replaces the fields that another profile has. The id is never replaced.
    pub fn merge(&mut self, other: Self) {
        let Self { visitor_id: _, name, email, phone, company, wechat, whatsapp, country } = other;
        let replacement = [name, email, phone, company, wechat, whatsapp, country];
        let known = [
            &mut self.name,
            &mut self.email,
            &mut self.phone,
            &mut self.company,
            &mut self.wechat,
            &mut self.whatsapp,
            &mut self.country,
        ];
        for (known, replacement) in known.into_iter().zip(replacement) {
            if replacement.is_some() {
                *known = replacement;
            }
        }
    }

    /// Returns whether any field is a contact detail.
    pub fn has_contact(&self) -> bool {
        [&self.email, &self.phone, &self.wechat, &self.whatsapp]
            .into_iter()
            .any(|field| field.as_deref().is_some_and(|text| !text.trim().is_empty()))
    }
}

impl TryFrom<Value> for VisitorProfile {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let names = ["visitorId", "name", "email", "phone", "company", "wechat", "whatsapp", "country"];
        let [visitor_id, name, email, phone, company, wechat, whatsapp, country] =
            Fields::of(value)?.optional_texts(names)?;
        let visitor_id = visitor_id.map(VisitorId::from);
        Ok(Self { visitor_id, name, email, phone, company, wechat, whatsapp, country })
    }
}

impl From<&VisitorProfile> for Value {
    fn from(visitor: &VisitorProfile) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        Value::object([
            ("visitorId", visitor.visitor_id.as_ref().into()),
            ("name", text(&visitor.name)),
            ("email", text(&visitor.email)),
            ("phone", text(&visitor.phone)),
            ("company", text(&visitor.company)),
            ("wechat", text(&visitor.wechat)),
            ("whatsapp", text(&visitor.whatsapp)),
            ("country", text(&visitor.country)),
        ])
    }
}
