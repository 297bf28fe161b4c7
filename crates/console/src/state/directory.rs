//! The lists that all pages share: colleagues, sites, labels and canned replies.

use chat_protocol::admin::{CannedReply, Label, Preferences, TeamMember};
use leptos::prelude::*;
use leptos::task::spawn_local;
use reactive_stores::Store;

use crate::api::requests::{self, SiteName};

/// The lists.
#[derive(Clone, Debug, Default, PartialEq, Store)]
pub struct Directory {
    /// The tenant's operators.
    pub team: Vec<TeamMember>,
    /// The tenant's sites.
    pub sites: Vec<SiteName>,
    /// The labels of conversations.
    pub labels: Vec<Label>,
    /// The canned replies.
    pub replies: Vec<CannedReply>,
}

/// Loads all lists again. A list that cannot be loaded stays as it was.
pub(super) fn reload(directory: Store<Directory>, own: RwSignal<Preferences>) {
    spawn_local(async move {
        if let Ok(team) = requests::team().await {
            directory.team().set(team);
        }
    });
    spawn_local(async move {
        if let Ok(sites) = requests::sites().await {
            directory.sites().set(sites);
        }
    });
    spawn_local(async move {
        if let Ok(labels) = requests::labels().await {
            directory.labels().set(labels);
        }
    });
    spawn_local(async move {
        if let Ok(replies) = requests::replies().await {
            directory.replies().set(replies);
        }
    });
    spawn_local(async move {
        if let Ok(preferences) = requests::preferences().await {
            own.set(preferences);
        }
    });
}

impl Directory {
    /// Returns the name of an operator.
    pub fn operator(&self, id: &str) -> Option<&str> {
        self.team.iter().find(|member| member.id == id).map(|member| member.name.as_str())
    }

    /// Returns the name of a site.
    pub fn site(&self, id: &str) -> Option<&str> {
        self.sites.iter().find(|site| site.id == id).map(|site| site.name.as_str())
    }

    /// Returns who answers first on a site: `ai_first`, `people_first`, `people_only` or `ai_only`.
    pub fn answering(&self, site_id: &str) -> &str {
        self.sites.iter().find(|site| site.id == site_id).map_or("", |site| &site.answering)
    }

    /// Returns a label.
    pub fn label(&self, id: &str) -> Option<&Label> {
        self.labels.iter().find(|label| label.id == id)
    }
}
