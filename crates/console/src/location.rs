//! The console's pages and their addresses below `/console/`.

mod inbox;
mod query;
mod router;

pub use inbox::InboxQuery;
pub use query::{Query, encode};
pub use router::Router;

/// The path of the console.
pub const BASE: &str = "/console/";

/// A page of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// The inbox, with the conversation that is open.
    Inbox {
        /// The id of the open conversation.
        conversation: Option<String>,
        /// Which conversations the list shows.
        query: InboxQuery,
    },
    /// Reports. Their parameters are in the query.
    Reports(Query),
    /// Publishing: the parts of the path, and the query.
    Publishing(Vec<String>, Query),
    /// Settings: the parts of the path, and the query.
    Settings(Vec<String>, Query),
    /// The operator's own account.
    Account,
    /// The form that asks for a link to choose a new password.
    Forgot,
}

impl Default for Page {
    fn default() -> Self {
        Self::Inbox { conversation: None, query: InboxQuery::default() }
    }
}

/// A part of the pages. A release build has a program for each, with a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The inbox.
    Inbox,
    /// The settings, publishing, the reports and the operator's own account.
    Pages,
}

impl Page {
    /// Returns the page of a path and a query; an unknown path is the inbox.
    pub fn parse(path: &str, query: &str) -> Self {
        let rest = path.strip_prefix(BASE).unwrap_or_default();
        let mut parts: Vec<String> =
            rest.split('/').filter(|part| !part.is_empty()).map(query::decode).collect();
        let query = Query::parse(query);
        if parts.is_empty() {
            return Self::Inbox { conversation: None, query: InboxQuery::from(&query) };
        }
        match parts.remove(0).as_str() {
            "reports" => Self::Reports(query),
            "publishing" => Self::Publishing(parts, query),
            "settings" => Self::Settings(parts, query),
            "account" => Self::Account,
            "forgot" => Self::Forgot,
            _ => Self::Inbox { conversation: parts.into_iter().next(), query: InboxQuery::from(&query) },
        }
    }

    /// Returns the address of the page: path and query.
    pub fn href(&self) -> String {
        let (parts, query) = match self {
            Self::Inbox { conversation, query } => {
                let mut parts = vec!["inbox"];
                parts.extend(conversation.as_deref());
                (parts, Query::from(query))
            }
            Self::Reports(query) => (vec!["reports"], query.clone()),
            Self::Publishing(path, query) => (section("publishing", path), query.clone()),
            Self::Settings(path, query) => (section("settings", path), query.clone()),
            Self::Account => (vec!["account"], Query::default()),
            Self::Forgot => (vec!["forgot"], Query::default()),
        };
        let path = parts.into_iter().map(encode).collect::<Vec<_>>().join("/");
        format!("{BASE}{path}{query}")
    }

    /// Returns the inbox with an open conversation and the default list.
    pub fn conversation(id: &str) -> Self {
        Self::Inbox { conversation: Some(id.to_owned()), query: InboxQuery::default() }
    }

    /// Returns the part of the console that has the page.
    pub fn part(&self) -> Part {
        match self {
            Self::Inbox { .. } | Self::Forgot => Part::Inbox,
            Self::Reports(_) | Self::Publishing(..) | Self::Settings(..) | Self::Account => Part::Pages,
        }
    }

    /// Returns a page of the settings.
    pub fn settings(path: &[&str]) -> Self {
        Self::Settings(path.iter().map(|part| (*part).to_owned()).collect(), Query::default())
    }

    /// Returns the page with the code of a site's widget, which begins at the code.
    pub fn widget_code(site: &str) -> Self {
        let path = ["widget", site].map(str::to_owned).to_vec();
        Self::Settings(path, Query::default().with("part", Some("code")))
    }
}

fn section<'a>(name: &'a str, path: &'a [String]) -> Vec<&'a str> {
    std::iter::once(name).chain(path.iter().map(String::as_str)).collect()
}

// proptest is for native tests only.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use chat_protocol::admin::ConversationView;
    use proptest::prelude::*;

    use super::*;

    fn parse(href: &str) -> Page {
        let (path, query) = href.split_once('?').unwrap_or((href, ""));
        Page::parse(path, query)
    }

    #[test]
    fn an_address_names_the_conversation_and_the_list() {
        let page = parse("/console/inbox/conv_1?view=mine&site=s1&label=l1&q=late%20parcel");
        let query = InboxQuery {
            view: ConversationView::Mine,
            site: Some("s1".to_owned()),
            label: Some("l1".to_owned()),
            assignee: None,
            q: Some("late parcel".to_owned()),
        };
        assert_eq!(page, Page::Inbox { conversation: Some("conv_1".to_owned()), query });
        assert_eq!(page.href(), "/console/inbox/conv_1?view=mine&site=s1&label=l1&q=late%20parcel");
    }

    #[test]
    fn unknown_addresses_show_the_inbox() {
        for href in ["/console/", "/console/nothing", "/elsewhere", "", "/console//"] {
            assert_eq!(parse(href), Page::default(), "{href}");
        }
        assert_eq!(parse("/console/inbox?view=nothing"), Page::default());
    }

    #[test]
    fn settings_keep_their_own_path_and_query() {
        let page = parse("/console/settings/sites/a%2Fb?tab=ai");
        let Page::Settings(path, query) = &page else { panic!("settings") };
        assert_eq!(path, &["sites", "a/b"]);
        assert_eq!(query.get("tab"), Some("ai"));
        assert_eq!(page.href(), "/console/settings/sites/a%2Fb?tab=ai");
    }

    proptest! {
        #[test]
        fn any_search_survives_its_address(q in ".{1,40}", id in "[^/]{1,20}") {
            prop_assume!(!q.trim().is_empty());
            let query = InboxQuery { q: Some(q), ..InboxQuery::default() };
            let page = Page::Inbox { conversation: Some(id), query };
            prop_assert_eq!(parse(&page.href()), page);
        }

        #[test]
        fn no_address_makes_the_parser_fail(path in ".{0,60}", query in ".{0,60}") {
            _ = Page::parse(&format!("/console/{path}"), &query);
        }
    }
}
