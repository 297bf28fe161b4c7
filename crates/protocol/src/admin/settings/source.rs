//! The sources of a site's content beside its sync: websites that the service reads itself.

use serde::{Deserialize, Serialize};

/// How often a source is read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Refresh {
    /// Only when an operator says so.
    Off,
    /// Every day.
    Daily,
    /// Every week.
    #[default]
    Weekly,
}

impl Refresh {
    /// All intervals, the shortest last.
    pub const ALL: [Self; 3] = [Self::Off, Self::Weekly, Self::Daily];

    /// Returns the name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
        }
    }

    /// Returns the interval of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refresh| refresh.as_str() == name)
    }
}

/// The state of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum SourceState {
    /// It will be read soon.
    #[default]
    Waiting,
    /// It is being read.
    Reading,
    /// It was read.
    Read,
    /// It could not be read at all.
    Failed,
}

impl SourceState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Reading, Self::Read, Self::Failed];

    /// Returns the name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Reading => "reading",
            Self::Read => "read",
            Self::Failed => "failed",
        }
    }

    /// Returns the state of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// Why a page was not read, or a source not completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum SkipReason {
    /// The website's `robots.txt` does not allow it.
    Robots,
    /// The website's `robots.txt` cannot be read, so that nothing is.
    RobotsUnavailable,
    /// The page asks not to be indexed.
    Noindex,
    /// It is no HTML page.
    NotPage,
    /// The page has no text.
    Empty,
    /// The page has more bytes than are read.
    TooLarge,
    /// The page does not exist.
    NotFound,
    /// The server does not allow it, such as a page behind a password.
    Forbidden,
    /// The server answered with an error.
    ServerError,
    /// The page leads to another website, or to one that must not be read.
    Elsewhere,
    /// The page leads to another one of the website.
    Moved,
    /// The page redirects too often.
    Redirects,
    /// Another page has the same address or the same text.
    Duplicate,
    /// The server took too long.
    Timeout,
    /// There was no connection.
    Unreachable,
    /// The storage of the site is used up.
    Storage,
    /// The website has more pages than the maximum.
    MaxPages,
}

impl SkipReason {
    /// All reasons.
    pub const ALL: [Self; 17] = [
        Self::Robots,
        Self::RobotsUnavailable,
        Self::Noindex,
        Self::NotPage,
        Self::Empty,
        Self::TooLarge,
        Self::NotFound,
        Self::Forbidden,
        Self::ServerError,
        Self::Elsewhere,
        Self::Moved,
        Self::Redirects,
        Self::Duplicate,
        Self::Timeout,
        Self::Unreachable,
        Self::Storage,
        Self::MaxPages,
    ];

    /// Returns the name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Robots => "robots",
            Self::RobotsUnavailable => "robotsUnavailable",
            Self::Noindex => "noindex",
            Self::NotPage => "notPage",
            Self::Empty => "empty",
            Self::TooLarge => "tooLarge",
            Self::NotFound => "notFound",
            Self::Forbidden => "forbidden",
            Self::ServerError => "serverError",
            Self::Elsewhere => "elsewhere",
            Self::Moved => "moved",
            Self::Redirects => "redirects",
            Self::Duplicate => "duplicate",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Storage => "storage",
            Self::MaxPages => "maxPages",
        }
    }

    /// Returns the reason of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

/// A page that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SkippedPage {
    /// The address.
    pub address: String,
    /// The reason.
    pub reason: SkipReason,
}

/// A source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The source's id.
    pub id: String,
    /// The address of the website or of its sitemap.
    pub address: String,
    /// Maximum pages that are read.
    pub max_pages: i64,
    /// How often it is read again.
    pub refresh: Refresh,
    /// The state.
    pub state: SourceState,
    /// Why it was not read, or not completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<SkipReason>,
    /// The number of its pages that the assistant knows.
    pub pages: i64,
    /// While it is read: the number of pages that were looked at.
    pub done: i64,
    /// While it is read: the number of pages that are known so far, at most as many as are read.
    pub found: i64,
    /// When it was last read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at: Option<String>,
    /// When it is read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    /// The number of pages that were not read.
    pub skipped_count: i64,
    /// The first of these pages.
    pub skipped: Vec<SkippedPage>,
}

/// `data` of `GET /sites/{site}/sources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sources {
    /// The sources, oldest first.
    pub sources: Vec<Source>,
}

/// The body of `POST /sites/{site}/sources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSource {
    /// The address of a website, or of its sitemap, which ends with `.xml` or `.xml.gz`.
    pub address: String,
    /// Maximum pages that are read, 1 to 500; 200 without a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<i64>,
    /// How often it is read again.
    #[serde(default)]
    pub refresh: Refresh,
}

/// The body of `PATCH /sites/{site}/sources/{source}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceChange {
    /// Maximum pages that are read, 1 to 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<i64>,
    /// How often it is read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
}

/// `data` of a change of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceShown {
    /// The source as it is now.
    pub source: Source,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        let name = |value: serde_json::Value| value.as_str().map(str::to_owned).expect("a name");
        for reason in SkipReason::ALL {
            assert_eq!(name(serde_json::to_value(reason).expect("JSON")), reason.as_str());
            assert_eq!(SkipReason::parse(reason.as_str()), Some(reason));
        }
        for state in SourceState::ALL {
            assert_eq!(name(serde_json::to_value(state).expect("JSON")), state.as_str());
            assert_eq!(SourceState::parse(state.as_str()), Some(state));
        }
        for refresh in Refresh::ALL {
            assert_eq!(name(serde_json::to_value(refresh).expect("JSON")), refresh.as_str());
            assert_eq!(Refresh::parse(refresh.as_str()), Some(refresh));
        }
    }
}
