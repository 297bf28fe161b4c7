//! Which service is talked to, and with which token.

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
    /// The file that holds the site token; without one, the variable CONNECTOR_TOKEN does
    #[arg(long, env = "CONNECTOR_TOKEN_FILE", value_name = "PATH")]
    pub(crate) token_file: Option<PathBuf>,
}

impl ServiceFlags {
    pub(crate) fn client(&self) -> Result<ServerConnectorClient, Failure> {
        let token = secret(self.token_file.as_deref(), "CONNECTOR_TOKEN")?.ok_or(Failure::new(
            "no site token: name its file with --token-file, or set CONNECTOR_TOKEN. \
             To get one: site-connector activate",
        ))?;
        Ok(ServerConnectorClient::new(self.options(), &token)?)
    }

    pub(crate) fn options(&self) -> ClientOptions {
        ClientOptions::new(self.origin.clone())
    }
}

/// The origin of a site, without the slash at its end.
pub(crate) fn site_origin(text: &str) -> Result<String, &'static str> {
    let wrong = "it must be the site's origin, such as https://shop.example, and no path";
    let url = Url::parse(text.trim()).map_err(|_| wrong)?;
    let bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    let origin = Some(url.origin()).filter(|origin| bare && origin.is_tuple()).ok_or(wrong)?;
    Ok(origin.ascii_serialization())
}

/// That this is a folder.
pub(crate) fn folder(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} is no folder: make it first", path.display())))
    }
}

/// A secret out of a file, or else out of the environment. There is no flag for one: other users of the machine can read
/// the command lines of its processes.
pub(crate) fn secret(file: Option<&Path>, variable: &str) -> Result<Option<SecretString>, Failure> {
    let text = match file {
        Some(file) => Some(
            fs::read_to_string(file)
                .map_err(|error| Failure::new(format!("{} cannot be read: {error}", file.display())))?,
        ),
        None => std::env::var(variable).ok(),
    };
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).map(SecretString::from))
}
