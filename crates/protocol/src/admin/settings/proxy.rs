//! The check of a site's proxy: what the service finds when it requests the site's pages.

use serde::{Deserialize, Serialize};

/// The body of `POST /sites/{site}/check-proxy`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProxyCheck {
    /// The address of a page of the site, such as `https://shop.example/`.
    pub page: String,
    /// The option `proxy` of the page's widget: a path, or an address.
    pub proxy: String,
}

/// A part of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckedPart {
    /// The page can be reached.
    Page,
    /// The page contains the widget's script tag or element.
    Widget,
    /// The proxy answers with the chat's config.
    Proxy,
    /// The chat is switched on.
    Chat,
}

/// Why a part of the check failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum ProxyProblem {
    /// There was no connection, or no answer in time.
    Unreachable,
    /// The server redirects to another address.
    Redirect,
    /// There is nothing at this address.
    NotFound,
    /// The server answered with an error.
    Status,
    /// The answer is not one of the service: something else is at this address.
    NotTheProxy,
    /// The proxy's token is missing or not valid.
    Token,
    /// The proxy answers for another site.
    OtherSite,
    /// The page has no script tag of the widget. One that a script adds later is not seen.
    NoWidget,
    /// The site's chat or widget is switched off.
    SwitchedOff,
}

/// The result of one part. `data` of the check is a list of them, without those that cannot be checked
/// because an earlier one failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProxyChecked {
    /// The part.
    pub part: CheckedPart,
    /// The problem; `None` if it passed.
    #[serde(default)]
    pub problem: Option<ProxyProblem>,
    /// The HTTP status of the answer, if there was one.
    #[serde(default)]
    pub status: Option<u16>,
    /// The attributes of the widget's script by which the page sets options itself, in place of the site's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_options: Vec<String>,
}
