//! `site-connector admin token`

use std::time::Duration;

use chat_service::{NewToken, TokenInfo};
use clap::Subcommand;
use secrecy::ExposeSecret;
use serde_json::json;

use super::{Context, Output, after, column, duration, millis, minute};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Create a token, and print it: it cannot be shown again
    Create {
        /// The site's id
        #[arg(long, value_name = "ID")]
        site: String,
        /// The purpose of the token
        #[arg(long, default_value = "")]
        name: String,
        /// The time after which it expires, such as 90d; never by default
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires: Option<Duration>,
    },
    /// List the tokens of a site, without the secrets
    List {
        /// The site's id
        #[arg(long, value_name = "ID")]
        site: String,
    },
    /// Revoke a token at once
    Revoke {
        /// The site's id
        #[arg(long, value_name = "ID")]
        site: String,
        /// The token's id, as listed
        id: String,
    },
    /// Create a token that replaces all others of the site
    Rotate {
        /// The site's id
        #[arg(long, value_name = "ID")]
        site: String,
        /// The purpose of the token
        #[arg(long, default_value = "")]
        name: String,
        /// The time for which the old tokens are still valid
        #[arg(long, default_value = "24h", value_name = "DURATION", value_parser = duration)]
        overlap: Duration,
    },
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let admin = &context.admin;
    Ok(match action {
        Action::Create { site, name, expires } => {
            created(&admin.create_token(&site, &name, expires.map(after)).await?, "")
        }
        Action::List { site } => Output::list("tokens", &admin.tokens(&site).await?, line),
        Action::Revoke { site, id } => {
            admin.revoke_token(&site, &id).await?;
            Output::new("revoked", &id, "The token is not valid any more.")
        }
        Action::Rotate { site, name, overlap } => {
            let token = admin.rotate_token(&site, &name, millis(overlap)).await?;
            let hint = format!("\nThe other tokens of the site are valid for {} s.", overlap.as_secs());
            created(&token, &hint)
        }
    })
}

/// Returns a new token. This is the only time that it is shown.
fn created(token: &NewToken, hint: &str) -> Output {
    let secret = token.secret.expose_secret();
    let note = format!("Store the token on the site's server now: it cannot be shown again.{hint}");
    let info = serde_json::to_value(&token.info).unwrap_or_default();
    Output::secret(secret, json!({ "token": secret, "info": info }), note)
}

fn line(token: &TokenInfo) -> String {
    let state = match (&token.revoked_at, &token.expires_at) {
        (Some(at), _) => format!("revoked {}", minute(Some(at))),
        (None, Some(at)) => format!("expires {}", minute(Some(at))),
        (None, None) => String::new(),
    };
    let used = format!("last used {}", minute(token.last_used_at.as_deref()));
    let columns = [column(&token.id, 16), column(&token.name, 20), column(&used, 27), state];
    columns.concat().trim_end().to_owned()
}
