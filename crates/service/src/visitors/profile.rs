//! The fields of a visitor's profile, and those of them that an operator wrote.

use chat_protocol::VisitorProfile;

/// Returns the fields of a profile, by the names that are stored.
pub(crate) fn fields(profile: &mut VisitorProfile) -> [(&'static str, &mut Option<String>); 7] {
    let VisitorProfile { visitor_id: _, name, email, phone, company, wechat, whatsapp, country } = profile;
    [
        ("name", name),
        ("email", email),
        ("phone", phone),
        ("company", company),
        ("wechat", wechat),
        ("whatsapp", whatsapp),
        ("country", country),
    ]
}

/// Returns a profile without the fields that an operator wrote.
pub(crate) fn without(profile: &VisitorProfile, edited: &[String]) -> VisitorProfile {
    let mut profile = profile.clone();
    for (name, field) in fields(&mut profile) {
        if edited.iter().any(|edited| edited == name) {
            *field = None;
        }
    }
    profile
}
