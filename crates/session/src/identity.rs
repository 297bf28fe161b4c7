//! Who the visitor is: the id, what is known about the person, and the visitors that were erased or merged.

use chat_protocol::{Fields, Value, VisitorId, VisitorProfile};

use crate::stored::VERSION;

/// The visitor of a session.
#[derive(Debug)]
pub(crate) struct Identity {
    id: VisitorId,
    profile: VisitorProfile,
    customer_id: Option<String>,
    /// Contact details that the visitor left, as they are stored; null without any.
    contact: Value,
    /// Neither the site nor storage knew the visitor: the id was made for this page.
    is_new: bool,
    /// The id is that of another tab that knows more: of two such visitors, the one with the smaller id stays.
    is_merged: bool,
    /// The visitor that was erased.
    erased: Option<VisitorId>,
}

impl Identity {
    /// `profile` is what the site says about the visitor.
    pub(crate) fn new(
        id: VisitorId,
        is_new: bool,
        profile: VisitorProfile,
        customer_id: Option<String>,
    ) -> Self {
        Self { id, profile, customer_id, contact: Value::Null, is_new, is_merged: false, erased: None }
    }

    pub(crate) fn id(&self) -> &VisitorId {
        &self.id
    }

    pub(crate) fn profile(&self) -> &VisitorProfile {
        &self.profile
    }

    /// Returns the profile as it is sent with a message.
    pub(crate) fn sent_profile(&self) -> VisitorProfile {
        VisitorProfile { visitor_id: Some(self.id.clone()), ..self.profile.clone() }
    }

    pub(crate) fn customer_id(&self) -> Option<&str> {
        self.customer_id.as_deref()
    }

    /// Adds what the site or the visitor says to the profile.
    pub(crate) fn merge(&mut self, given: VisitorProfile) {
        self.profile.merge(given);
    }

    /// Returns whether a stored value belongs to this visitor, or to nobody.
    pub(crate) fn is_of(&self, value: &Value) -> bool {
        let visitor = value.get("visitorId").and_then(Value::as_text);
        visitor.is_none_or(|id| id == self.id.as_str())
    }

    /// Returns whether the id was made for this page.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    pub(crate) fn is_merged(&self) -> bool {
        self.is_merged
    }

    /// Returns the erased visitor if it has this id.
    pub(crate) fn erased(&self, id: &str) -> Option<&VisitorId> {
        self.erased.as_ref().filter(|erased| erased.as_str() == id)
    }

    pub(crate) fn has_erased(&self) -> bool {
        self.erased.is_some()
    }

    pub(crate) fn mark_erased(&mut self, id: VisitorId) {
        self.erased = Some(id);
    }

    /// Becomes the visitor that storage, or another tab, has.
    pub(crate) fn adopt(&mut self, id: VisitorId) {
        self.id = id;
        self.profile.visitor_id = None;
    }

    /// Records that the browser knew the visitor before this page.
    pub(crate) fn mark_known(&mut self) {
        self.is_new = false;
    }

    /// Records whether the visitor is that of a tab that knows more.
    pub(crate) fn set_merged(&mut self, is_merged: bool) {
        self.is_merged = is_merged;
    }

    /// Becomes another person: nothing that was known goes along with what is sent from now on.
    pub(crate) fn replace(&mut self) {
        // Not dropped: that happens nowhere else, and its code would weigh more than the few names that stay in memory.
        std::mem::forget(std::mem::take(&mut self.profile));
        self.contact = Value::Null;
        self.is_new = false;
    }

    /// Returns the contact details as they are stored, or null.
    pub(crate) fn contact(&self) -> &Value {
        &self.contact
    }

    /// Keeps contact details that the visitor left, with earlier ones that are not among them. What the site says of the
    /// visitor is the site's to store.
    pub(crate) fn keep_contact(&mut self, given: &VisitorProfile) {
        let before = std::mem::take(&mut self.contact);
        let detail = |name: &'static str, given: &Option<String>| {
            (name, given.as_deref().or_else(|| before.get(name)?.as_text()).into())
        };
        self.contact = Value::object([
            ("v", VERSION.into()),
            ("visitorId", (&self.id).into()),
            detail("name", &given.name),
            detail("email", &given.email),
            detail("phone", &given.phone),
        ]);
    }

    /// Takes over contact details that another tab, or an earlier page, stored. What the site says of the visitor comes
    /// first. Returns whether they are this visitor's.
    pub(crate) fn apply_remote_contact(&mut self, value: Value) -> bool {
        if value == Value::Null || !self.is_of(&value) {
            return false;
        }
        self.contact = value.clone();
        let mut fields = Fields::lenient(value);
        let known = &mut self.profile;
        for (name, place) in
            [("name", &mut known.name), ("email", &mut known.email), ("phone", &mut known.phone)]
        {
            *place = place.take().or_else(|| fields.lenient_text(name));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(profile: VisitorProfile) -> Identity {
        Identity::new(VisitorId::from("v1"), true, profile, None)
    }

    fn profile(name: &str, email: Option<&str>) -> VisitorProfile {
        VisitorProfile {
            name: Some(name.into()),
            email: email.map(str::to_owned),
            ..VisitorProfile::default()
        }
    }

    #[test]
    fn the_profile_is_sent_with_the_visitors_id() {
        let identity = identity(profile("Ann", None));
        assert_eq!(identity.profile().visitor_id, None);
        let sent = identity.sent_profile();
        assert_eq!((sent.visitor_id, sent.name.as_deref()), (Some(VisitorId::from("v1")), Some("Ann")));
    }

    #[test]
    fn contact_details_are_added_to_earlier_ones() {
        let mut identity = identity(VisitorProfile::default());
        assert_eq!(identity.contact(), &Value::Null);
        identity.keep_contact(&profile("Ann", Some("ann@example.com")));
        identity.keep_contact(&profile("Anna", None));
        let detail = |name| identity.contact().get(name).and_then(Value::as_text);
        assert_eq!(
            (detail("name"), detail("email"), detail("phone")),
            (Some("Anna"), Some("ann@example.com"), None)
        );
    }

    #[test]
    fn what_the_site_says_comes_before_stored_details() {
        let mut identity = identity(profile("Ann", None));
        let stored = |visitor: &str| {
            Value::object([("visitorId", visitor.into()), ("name", "Bob".into()), ("email", "a@b.c".into())])
        };
        assert!(!identity.apply_remote_contact(stored("v2")), "another visitor's");
        assert!(!identity.apply_remote_contact(Value::Null));
        assert!(identity.apply_remote_contact(stored("v1")));
        assert_eq!(identity.profile().name.as_deref(), Some("Ann"));
        assert_eq!(identity.profile().email.as_deref(), Some("a@b.c"));
    }

    #[test]
    fn another_person_begins_with_nothing() {
        let mut identity = identity(profile("Ann", None));
        identity.keep_contact(&profile("Ann", None));
        identity.adopt(VisitorId::from("v2"));
        assert_eq!(identity.profile().name.as_deref(), Some("Ann"), "the same person, by another id");
        identity.replace();
        assert_eq!((identity.id().as_str(), &identity.profile().name), ("v2", &None));
        assert!(!identity.is_new() && identity.contact() == &Value::Null);
    }

    #[test]
    fn values_without_a_visitor_belong_to_every_visitor() {
        let identity = identity(VisitorProfile::default());
        assert!(identity.is_of(&Value::object([])) && identity.is_of(&Value::Null));
        assert!(!identity.is_of(&Value::object([("visitorId", "v2".into())])));
    }

    #[test]
    fn a_customer_an_erased_and_a_known_visitor_are_remembered() {
        let ann = Some("ann".to_owned());
        let mut identity = Identity::new(VisitorId::from("v1"), true, VisitorProfile::default(), ann);
        assert_eq!((identity.customer_id(), identity.is_new()), (Some("ann"), true));
        identity.mark_known();
        assert!(!identity.is_new() && !identity.has_erased());
        identity.mark_erased(VisitorId::from("v0"));
        assert!(identity.has_erased());
        assert_eq!((identity.erased("v0").is_some(), identity.erased("v1").is_some()), (true, false));
    }
}
