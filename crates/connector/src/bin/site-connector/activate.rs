//! `site-connector activate`

use std::io;
use std::path::PathBuf;

use chat_connector::client::{ClientOptions, ServerConnectorClient};
use chat_connector::printable::Printable;
use chat_connector::private_file::PrivateFile;
use chat_protocol::{Activation, Value};
use clap::Args;
use secrecy::ExposeSecret;

use crate::failure::Failure;
use crate::print::say;
use crate::service::{secret, site_origin};

/// Exchange a license code for the site token, and store it in a file
///
/// The license code is read from --license-file or the variable CONNECTOR_LICENSE. The token is written to
/// --token-file, readable by its owner only, and is never printed.
#[derive(Debug, Args)]
pub(crate) struct ActivateFlags {
    /// The service's origin, such as https://service.example, without /api/connector/v1
    #[arg(long, env = "CONNECTOR_ORIGIN", value_name = "URL")]
    origin: String,
    /// The file to write the site token to
    #[arg(long, env = "CONNECTOR_TOKEN_FILE", value_name = "PATH")]
    token_file: PathBuf,
    /// The file that contains the license code
    #[arg(long, value_name = "PATH")]
    license_file: Option<PathBuf>,
    /// The site's own origin, such as https://shop.example
    #[arg(long, value_name = "URL", value_parser = site_origin)]
    domain: String,
    /// The site's name
    #[arg(long, value_name = "NAME")]
    site_name: Option<String>,
    /// The platform of the site
    #[arg(long, default_value = "custom", value_name = "NAME")]
    platform: String,
    /// A language of the site, the primary one first; can be repeated
    #[arg(long = "locale", default_value = "en", value_name = "TAG")]
    locales: Vec<String>,
    /// Replace an existing token file
    #[arg(long)]
    replace: bool,
    /// Print the outcome as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: ActivateFlags) -> Result<(), Failure> {
    if flags.token_file.exists() && !flags.replace {
        let file = flags.token_file.display();
        return Err(Failure::new(format!("{file} already exists: use --replace to activate again")));
    }
    let license = secret(flags.license_file.as_deref(), "CONNECTOR_LICENSE")?
        .ok_or_else(|| Failure::usage("no license code: set --license-file or CONNECTOR_LICENSE"))?;
    let body = Activation {
        license_code: license.expose_secret().into(),
        domain: flags.domain,
        platform: Some(flags.platform),
        site_name: flags.site_name,
        primary_locale: flags.locales.first().cloned(),
        supported_locales: flags.locales,
    };
    let file = flags.token_file.display().to_string();
    let unwritable = |error: io::Error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        let advice = if missing { "; create its folder first" } else { "" };
        Failure::new(format!("cannot write {file}: {error}{advice}"))
    };
    // Created before the license is used: a token that cannot be stored would be lost.
    let mut token_file = PrivateFile::begin(&flags.token_file).map_err(unwritable)?;
    let site = ServerConnectorClient::activate(&ClientOptions::new(flags.origin), &body).await?;
    token_file.write(format!("{}\n", site.token.expose_secret()).as_bytes()).map_err(unwritable)?;
    token_file.persist(flags.replace).map_err(|error| {
        Failure::new(format!("cannot write {file}: cannot rename the token file: {error}"))
    })?;
    let site_id = site.site_id.clone();
    let json = Value::object([
        ("siteId", site.site_id.into()),
        ("tenantId", site.tenant_id.into()),
        ("tokenFile", file.as_str().into()),
    ]);
    say(flags.json, &json, || {
        let site = site_id.map_or(String::new(), |id| format!(" as {}", Printable(&id)));
        format!("Activated{site}. The site token is in {file}: keep it on the server.")
    });
    Ok(())
}
