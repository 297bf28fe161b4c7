//! The flags of the service and its token.

use std::fs;
use std::path::{Path, PathBuf};

use chat_connector::client::{ClientOptions, ServerConnectorClient};
use clap::Args;
use reqwest::Url;
use secrecy::SecretString;

use crate::failure::Failure;

#[derive(Debug, Args)]
#[command(next_help_heading = "The service")]
pub(crate) struct ServiceFlags {
    /// The service's origin, such as https://service.example, without /api/connector/v1
    #[arg(long, env = "CONNECTOR_ORIGIN", value_name = "URL")]
    pub(crate) origin: String,
    /// The file that contains the site token; without it, the variable CONNECTOR_TOKEN is read
    #[arg(long, env = "CONNECTOR_TOKEN_FILE", value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
}

impl ServiceFlags {
    pub(crate) fn client(&self) -> Result<ServerConnectorClient, Failure> {
        let token = secret(self.token_file.as_deref(), "CONNECTOR_TOKEN")?.ok_or_else(|| {
            Failure::usage(
                "no site token: set --token-file or CONNECTOR_TOKEN. \
             To get one: site-connector activate",
            )
        })?;
        Ok(ServerConnectorClient::new(self.options(), &token)?)
    }

    pub(crate) fn options(&self) -> ClientOptions {
        ClientOptions::new(self.origin.clone())
    }
}

/// Parses the origin of a site. The result has no trailing slash.
pub(crate) fn site_origin(text: &str) -> Result<String, &'static str> {
    let invalid = "expected an origin such as https://shop.example, without a path";
    let url = Url::parse(text.trim()).map_err(|_| invalid)?;
    let bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    let origin = Some(url.origin()).filter(|origin| bare && origin.is_tuple()).ok_or(invalid)?;
    Ok(origin.ascii_serialization())
}

/// Fails if the path is not a folder.
pub(crate) fn folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} is not a folder: create it first", path.display())))
    }
}

/// Reads a secret from a file, or else from the environment. No flag takes a secret, as other users of the
/// machine can read command lines.
pub(crate) fn secret(file: Option<&Path>, variable: &str) -> Result<Option<SecretString>, Failure> {
    let text = match file {
        Some(file) => Some(
            fs::read_to_string(file)
                .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?,
        ),
        None => std::env::var(variable).ok(),
    };
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).map(SecretString::from))
}
