//! The sections of the settings, and who may see each.

use chat_protocol::admin::Me;
use chat_protocol::admin::settings::OperatorRole;

use crate::text::{Text, settings as t};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One site, whose id is the second part of the path.
    Site,
    /// All sites.
    Workspace,
}

/// A section of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Name, origins, languages and switches of a site.
    Site,
    /// The widget's options, and the code for a page.
    Widget,
    /// The AI.
    Assistant,
    /// What the assistant knows.
    Knowledge,
    /// Tokens and licenses.
    Access,
    /// How long conversations are kept.
    Retention,
    /// All sites.
    Sites,
    /// Operators and invitations.
    Team,
    /// Labels of conversations.
    Labels,
    /// Canned replies.
    Replies,
    /// Webhooks and their deliveries.
    Webhooks,
    /// The use of what is limited.
    Quotas,
    /// The operator's own e-mails.
    Email,
    /// The audit log.
    Audit,
}

impl Section {
    /// All sections, in the order of the list.
    pub const ALL: [Self; 14] = [
        Self::Site,
        Self::Widget,
        Self::Assistant,
        Self::Knowledge,
        Self::Access,
        Self::Retention,
        Self::Sites,
        Self::Team,
        Self::Labels,
        Self::Replies,
        Self::Webhooks,
        Self::Quotas,
        Self::Email,
        Self::Audit,
    ];

    /// Returns the section's name in addresses, and its title.
    fn names(self) -> (&'static str, Text) {
        match self {
            Self::Site => ("site", t::SECTION_SITE),
            Self::Widget => ("widget", t::SECTION_WIDGET),
            Self::Assistant => ("assistant", t::SECTION_ASSISTANT),
            Self::Knowledge => ("knowledge", t::SECTION_KNOWLEDGE),
            Self::Access => ("access", t::SECTION_ACCESS),
            Self::Retention => ("retention", t::SECTION_RETENTION),
            Self::Sites => ("sites", t::SECTION_SITES),
            Self::Team => ("team", t::SECTION_TEAM),
            Self::Labels => ("labels", t::SECTION_LABELS),
            Self::Replies => ("replies", t::SECTION_REPLIES),
            Self::Webhooks => ("webhooks", t::SECTION_WEBHOOKS),
            Self::Quotas => ("quotas", t::SECTION_QUOTAS),
            Self::Email => ("email", t::SECTION_EMAIL),
            Self::Audit => ("audit", t::SECTION_AUDIT),
        }
    }

    /// Returns the section's name in addresses.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the section of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }

    /// Returns the section's title.
    pub fn title(self) -> Text {
        self.names().1
    }

    /// Returns what the section is about.
    pub fn scope(self) -> Scope {
        match self {
            Self::Site
            | Self::Widget
            | Self::Assistant
            | Self::Knowledge
            | Self::Access
            | Self::Retention => Scope::Site,
            _ => Scope::Workspace,
        }
    }

    /// Returns the least role that sees the section.
    fn least_role(self) -> OperatorRole {
        match self {
            Self::Knowledge | Self::Team | Self::Replies | Self::Email => OperatorRole::Agent,
            _ => OperatorRole::Admin,
        }
    }

    /// Returns whether an operator sees the section.
    pub fn is_for(self, me: &Me) -> bool {
        me.role >= self.least_role()
    }
}

/// Returns the sections that an operator sees.
pub fn permitted(me: &Me) -> Vec<Section> {
    Section::ALL.into_iter().filter(|section| section.is_for(me)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_role(role: OperatorRole) -> Me {
        Me { role, ..Me::default() }
    }

    #[test]
    fn a_section_is_found_by_its_name() {
        for section in Section::ALL {
            assert_eq!(Section::parse(section.name()), Some(section));
        }
        assert_eq!(Section::parse("secrets"), None);
    }

    #[test]
    fn agents_see_only_what_they_may() {
        let sections = permitted(&with_role(OperatorRole::Agent));
        assert_eq!(sections, [Section::Knowledge, Section::Team, Section::Replies, Section::Email]);
        assert_eq!(permitted(&with_role(OperatorRole::Admin)), Section::ALL);
        assert_eq!(permitted(&with_role(OperatorRole::Owner)), Section::ALL);
    }
}
