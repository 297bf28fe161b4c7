//! `site-connector admin license`

use std::time::Duration;

use chat_service::License;
use clap::Subcommand;
use secrecy::ExposeSecret;
use serde_json::json;

use super::{Context, Output, after, column, duration, minute};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Create a license code, and print it: it cannot be shown again
    Create {
        /// The tenant; can be omitted if there is one only
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
        /// The site that the license activates; without it, one is created
        #[arg(long, value_name = "ID")]
        site: Option<String>,
        /// The time after which it expires
        #[arg(long, default_value = "7d", value_name = "DURATION", value_parser = duration)]
        expires: Duration,
    },
    /// List the licenses of a tenant, without the codes
    List {
        /// The tenant; can be omitted if there is one only
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
    },
    /// Revoke a license
    Revoke {
        /// The tenant; can be omitted if there is one only
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
        /// The license's id, as listed
        id: String,
    },
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let admin = &context.admin;
    Ok(match action {
        Action::Create { tenant, site, expires } => {
            let tenant = match &site {
                Some(site) if tenant.is_none() => admin.site(site).await?.tenant_id.clone(),
                _ => context.tenant(tenant).await?,
            };
            let license = admin.create_license(&tenant, site.as_deref(), after(expires)).await?;
            let code = license.code.expose_secret();
            let until = minute(Some(&license.info.expires_at));
            let note = format!(
                "Exchange the code once, before {until} (UTC), on the site's server: site-connector activate"
            );
            let info = serde_json::to_value(&license.info).unwrap_or_default();
            Output::secret(code, json!({ "license": code, "info": info }), note)
        }
        Action::List { tenant } => {
            let tenant = context.tenant(tenant).await?;
            Output::list("licenses", &admin.licenses(&tenant).await?, line)
        }
        Action::Revoke { tenant, id } => {
            let tenant = context.tenant(tenant).await?;
            admin.revoke_license(&tenant, &id).await?;
            Output::new("revoked", &id, "The license is not valid any more.")
        }
    })
}

fn line(license: &License) -> String {
    let state = match (&license.used_at, license.revoked) {
        (Some(at), _) => format!("used {}", minute(Some(at))),
        (None, true) => "revoked".to_owned(),
        (None, false) => format!("expires {}", minute(Some(&license.expires_at))),
    };
    let site = license.site_id.as_deref().unwrap_or("a new site");
    [column(&license.id, 40), column(site, 37), state].concat().trim_end().to_owned()
}
