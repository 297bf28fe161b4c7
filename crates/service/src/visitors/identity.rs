//! Who a visitor is: what the site has proved, and what a page only claims.
//!
//! A visitor whom the site has proved has an id that begins with [`PREFIX`], in every table and API. No page
//! can claim such an id, so that a claim never meets a proof.

use chat_protocol::{VisitorId, VisitorProfile};

/// The beginning of the ids of verified visitors.
const PREFIX: &str = "verified:";

/// A visitor whom the site has proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The id, with its prefix.
    pub(crate) id: VisitorId,
    /// The proved fields, without the id.
    pub(crate) profile: VisitorProfile,
}

impl Identity {
    /// Returns the visitor whom the site calls `subject`, with the fields that it has proved.
    pub(crate) fn new(subject: &str, profile: VisitorProfile) -> Self {
        Self { id: format!("{PREFIX}{subject}").into(), profile }
    }
}

/// Returns the site's own id of a visitor, as pages claim it.
pub(super) fn subject(id: &str) -> &str {
    id.strip_prefix(PREFIX).unwrap_or(id)
}

/// Returns whether an id is that of a verified visitor.
pub(crate) fn is_verified(id: &str) -> bool {
    id.starts_with(PREFIX)
}

/// Returns the id that a page claims; `None` if pages cannot claim it.
pub(crate) fn claimed(id: Option<VisitorId>) -> Option<VisitorId> {
    id.filter(|id| !is_verified(id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_claims_the_id_of_a_verified_visitor() {
        let identity = Identity::new("crm-4711", VisitorProfile::default());
        assert_eq!(identity.id.as_str(), "verified:crm-4711");
        assert!(is_verified(identity.id.as_str()));
        assert_eq!(claimed(Some(identity.id)), None);
        assert_eq!(claimed(Some("crm-4711".into())), Some("crm-4711".into()));
        assert_eq!(claimed(None), None);
    }
}
