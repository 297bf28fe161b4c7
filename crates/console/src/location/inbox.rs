//! Which conversations the list of the inbox shows.

use chat_protocol::admin::ConversationView;

use super::Query;

/// The view, the filters and the search of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct InboxQuery {
    /// The view.
    pub view: ConversationView,
    /// Only conversations of this site.
    pub site: Option<String>,
    /// Only conversations with this label.
    pub label: Option<String>,
    /// Only conversations of this operator: an id, `me` or `nobody`.
    pub assignee: Option<String>,
    /// Only conversations that contain these words.
    pub q: Option<String>,
}

impl InboxQuery {
    /// Returns whether something besides the view narrows the list.
    pub fn is_filtered(&self) -> bool {
        self.site.is_some() || self.label.is_some() || self.assignee.is_some() || self.q.is_some()
    }
}

impl From<&Query> for InboxQuery {
    fn from(query: &Query) -> Self {
        let text = |name: &str| query.get(name).map(str::to_owned);
        Self {
            view: query.get("view").and_then(ConversationView::parse).unwrap_or_default(),
            site: text("site"),
            label: text("label"),
            assignee: text("assignee"),
            q: text("q"),
        }
    }
}

impl From<&InboxQuery> for Query {
    fn from(inbox: &InboxQuery) -> Self {
        let view = (inbox.view != ConversationView::default()).then(|| inbox.view.as_str());
        Self::default()
            .with("view", view)
            .with("site", inbox.site.as_deref())
            .with("label", inbox.label.as_deref())
            .with("assignee", inbox.assignee.as_deref())
            .with("q", inbox.q.as_deref())
    }
}
