//! The settings of a static site.

use std::path::PathBuf;

/// Where a static site is, and where what was published into it is remembered.
#[derive(Clone, Debug)]
pub struct StaticSiteOptions {
    /// The folder that the web server serves.
    pub root: PathBuf,
    /// The folder for what visitors need not see: versions, overlays, and pages as they were. What is written there is
    /// for its owner only.
    pub state: PathBuf,
    /// The site's public origin, such as `https://shop.example`.
    pub origin: String,
    /// A page to publish articles in, with `{{title}}`, `{{content}}` and `{{locale}}`; without one, a plain page.
    pub template: Option<String>,
}
