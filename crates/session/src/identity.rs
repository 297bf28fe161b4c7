//! The visitor: the id, the profile, and the erased and merged visitors.

use chat_protocol::{Fields, Value, VisitorId, VisitorProfile};

use crate::stored::VERSION;

/// The visitor of a session.
#[derive(Debug)]
pub(crate) struct Identity {
    id: VisitorId,
    profile: VisitorProfile,
    customer_id: Option<String>,
    /// Contact details that the visitor entered, as they are stored; null if there are none.
    contact: Value,
    /// The id is new: neither the site nor storage had one.
    is_new: bool,
    /// The id is that of another tab with more state. Of two such visitors, the one with the smaller id
    /// stays.
    is_merged: bool,
    /// The visitor that was erased.
    erased: Option<VisitorId>,
}

impl Identity {
    /// Returns a visitor with this id. `profile` is the site's.
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
        let mut profile = self.profile.clone();
        profile.visitor_id = Some(self.id.clone());
        profile
    }

    pub(crate) fn customer_id(&self) -> Option<String> {
        self.customer_id.clone()
    }

    /// Adds fields from the site or the visitor to the profile.
    pub(crate) fn merge(&mut self, given: VisitorProfile) {
        self.profile.merge(given);
    }

    /// Returns whether a stored value belongs to this visitor, or to no particular one.
    pub(crate) fn is_of(&self, value: &Value) -> bool {
        let visitor = value.get("visitorId").and_then(Value::as_text);
        visitor.is_none_or(|id| id == self.id.as_str())
    }

    /// Returns whether the id is new.
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

    /// Adopts the visitor of storage or of another tab.
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

    /// Replaces the visitor by another person: nothing of the profile stays.
    pub(crate) fn replace(&mut self) {
        // Leaked on purpose: the code of this only drop would be larger than the few names that stay in
        // memory.
        std::mem::forget(std::mem::take(&mut self.profile));
        self.contact = Value::Null;
        self.is_new = false;
    }

    /// Returns the contact details as they are stored, or null.
    pub(crate) fn contact(&self) -> &Value {
        &self.contact
    }

    /// Adds contact details that the visitor entered to the stored ones. The site's own fields are not
    /// stored.
    pub(crate) fn add_contact(&mut self, given: &VisitorProfile) {
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

    /// Forgets contact details that a visitor entered before somebody signed in who has others.
    pub(crate) fn forget_contact(&mut self) {
        let mut fields = Fields::lenient(std::mem::take(&mut self.contact));
        let known = &mut self.profile;
        for (name, place) in
            [("name", &mut known.name), ("email", &mut known.email), ("phone", &mut known.phone)]
        {
            let entered = fields.lenient_text(name);
            place.take_if(|known| entered.as_ref() == Some(known));
        }
    }

    /// Applies contact details that another tab, or an earlier page, stored. The site's fields take
    /// precedence. Returns whether they are this visitor's.
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
        identity.add_contact(&profile("Ann", Some("ann@example.com")));
        identity.add_contact(&profile("Anna", None));
        let detail = |name| identity.contact().get(name).and_then(Value::as_text);
        assert_eq!(
            (detail("name"), detail("email"), detail("phone")),
            (Some("Anna"), Some("ann@example.com"), None)
        );
    }

    #[test]
    fn the_sites_profile_overrides_stored_details() {
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
    fn a_replaced_visitor_has_an_empty_profile() {
        let mut identity = identity(profile("Ann", None));
        identity.add_contact(&profile("Ann", None));
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
        assert_eq!((identity.customer_id().as_deref(), identity.is_new()), (Some("ann"), true));
        identity.mark_known();
        assert!(!identity.is_new() && !identity.has_erased());
        identity.mark_erased(VisitorId::from("v0"));
        assert!(identity.has_erased());
        assert_eq!((identity.erased("v0").is_some(), identity.erased("v1").is_some()), (true, false));
    }
}
