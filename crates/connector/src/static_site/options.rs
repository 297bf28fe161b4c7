//! The settings of a static site.

use std::path::PathBuf;

/// The settings of a static site.
#[derive(Clone, Debug)]
pub struct StaticSiteOptions {
    /// The folder that the web server serves.
    pub root: PathBuf,
    /// The private state folder: versions, overlays and original pages. Its files are readable by their owner
    /// only.
    pub state: PathBuf,
    /// The site's public origin, such as `https://shop.example`.
    pub origin: String,
    /// The template of article pages, with `{{title}}`, `{{content}}` and `{{locale}}`; `None` uses a plain
    /// page.
    pub template: Option<String>,
}
