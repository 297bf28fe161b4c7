//! `site-connector overlays`

use std::path::PathBuf;

use chat_connector::client::OverlayQuery;
use chat_connector::printable::Printable;
use chat_connector::static_site::{StaticSite, StaticSiteOptions};
use chat_protocol::{OverlayList, Value};
use clap::Args;

use crate::failure::Failure;
use crate::print::say;
use crate::service::{ServiceFlags, folder};

#[derive(Debug, Args)]
pub(crate) struct OverlaysFlags {
    #[command(flatten)]
    service: ServiceFlags,
    /// Only the overlays of this page
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only the overlays of this locale
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// Apply the overlays to the heads of the pages in this folder
    #[arg(long, value_name = "FOLDER")]
    apply: Option<PathBuf>,
    /// The folder for the pages' originals
    #[arg(long, default_value = ".site-connector", value_name = "FOLDER")]
    state: PathBuf,
    /// Print the overlays as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: OverlaysFlags) -> Result<(), Failure> {
    if let Some(root) = &flags.apply {
        folder(root)?;
    }
    let query = OverlayQuery { path: flags.path, locale: flags.locale };
    let list = flags.service.client()?.list_seo_overlays(&query).await?;
    let mut problems = Vec::new();
    if let Some(root) = flags.apply {
        let site = StaticSite::new(StaticSiteOptions {
            root,
            state: flags.state,
            origin: String::new(),
            template: None,
        });
        for overlay in &list.overlays {
            if let Err(failure) = site.apply_overlay(overlay).await {
                problems.push(Printable(&failure.reason).to_string());
            }
        }
    }
    say(flags.json, &Value::from(&list), || formatted(&list));
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(Failure::new(problems.join("\n"))),
    }
}

fn formatted(list: &OverlayList) -> String {
    if list.overlays.is_empty() {
        return "No overlays are published.".to_owned();
    }
    let line = |overlay: &chat_protocol::Overlay| {
        let text = |text: &Option<String>| Printable(text.as_deref().unwrap_or("-")).to_string();
        format!("{:<32}{}", text(&overlay.path), text(&overlay.title))
    };
    list.overlays.iter().map(line).collect::<Vec<_>>().join("\n")
}
