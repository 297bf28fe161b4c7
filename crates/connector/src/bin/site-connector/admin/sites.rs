//! `site-connector admin site`

use chat_connector::printable::Printable;
use chat_service::{Site, SiteChange};
use clap::Subcommand;
use serde_json::json;

use super::{Context, Output, column};
use crate::failure::Failure;
use crate::service::site_origin;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Create a site, and print the script tag for its pages
    Create {
        /// The site's name
        #[arg(long)]
        name: String,
        /// The tenant; can be omitted if there is one only
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
        /// An origin of pages with the chat, such as https://shop.example; can be repeated
        #[arg(long = "origin", value_name = "URL", value_parser = site_origin)]
        origins: Vec<String>,
        /// semi_automatic: a person approves each entry; automatic: page heads without
        /// a problem are published without approval [default: semi_automatic]
        #[arg(long, value_name = "MODE")]
        publishing: Option<String>,
        /// The locale for visitors whose own locale is not supported, such as en-US
        #[arg(long, value_name = "TAG")]
        locale: Option<String>,
    },
    /// List the sites
    List {
        /// Only the sites of this tenant
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
    },
    /// Show a site, and the script tag for its pages
    Show {
        /// The site's id
        id: String,
    },
    /// Disable a site: its chat is gone, and its tokens are not valid
    Disable {
        /// The site's id
        id: String,
    },
    /// Enable a disabled site
    Enable {
        /// The site's id
        id: String,
    },
    /// Delete a site, with all its conversations
    Delete {
        /// The site's id
        id: String,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let admin = &context.admin;
    Ok(match action {
        Action::Create { name, tenant, origins, publishing, locale } => {
            let tenant_id = context.tenant(tenant).await?;
            let change = SiteChange {
                allowed_origins: Some(origins),
                publishing,
                primary_locale: locale.map(Some),
                ..SiteChange::default()
            };
            shown(context, &admin.create_site(&tenant_id, &name, change).await?)
        }
        Action::List { tenant } => Output::list("sites", &admin.sites(tenant.as_deref()).await?, line),
        Action::Show { id } => shown(context, &admin.site(&id).await?),
        Action::Disable { id } => set_disabled(context, &id, true).await?,
        Action::Enable { id } => set_disabled(context, &id, false).await?,
        Action::Delete { id, yes: true } => {
            let site = admin.site(&id).await?;
            admin.delete_site(&id).await?;
            let text =
                format!("{} is deleted. Its data is removed in the background.", Printable(&site.name));
            Output::new("site", &site, text)
        }
        Action::Delete { id, yes: false } => {
            let site = admin.site(&id).await?;
            return Err(Failure::new(format!(
                "this deletes {} with all its conversations: repeat the command with --yes",
                Printable(&site.name)
            )));
        }
    })
}

async fn set_disabled(context: &Context, id: &str, disabled: bool) -> Result<Output, Failure> {
    context.admin.set_site_disabled(id, disabled).await?;
    Ok(one(&context.admin.site(id).await?))
}

fn one(site: &Site) -> Output {
    Output::new("site", site, line(site))
}

/// Returns a site with the script tag for its pages.
fn shown(context: &Context, site: &Site) -> Output {
    let tag = script_tag(&context.origin, &site.id);
    let origins = match site.allowed_origins.as_slice() {
        [] => "none: add one in the console, or the chat appears on no page".to_owned(),
        origins => origins.iter().map(|origin| Printable(origin).to_string()).collect::<Vec<_>>().join(", "),
    };
    let text = format!(
        "{}\nPages that may use the chat: {origins}\nPut this into each page, before </body>:\n\n{tag}",
        line(site)
    );
    let site = serde_json::to_value(site).unwrap_or_default();
    Output { json: json!({ "site": site, "scriptTag": tag }), text, note: None }
}

fn script_tag(origin: &str, site_id: &str) -> String {
    format!(
        "<script async src=\"{origin}/chat-widget/chat-widget.js\" data-proxy=\"{origin}/connector/{site_id}\"></script>"
    )
}

fn line(site: &Site) -> String {
    let state = if site.disabled { "disabled" } else { "" };
    format!("{}{}{state}", column(&site.id, 37), column(&site.name, 30)).trim_end().to_owned()
}
