//! `site-connector serve`

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use chat_connector::serve::{ServeError, Server};
use chat_service::{OpenError, Service, first_owner_link};
use clap::Args;
use serde_json::json;
use tracing::{Level, warn};

use crate::failure::Failure;
use crate::log::LogFormat;
use crate::settings::Settings;
use crate::settings::key::{KeyFile, create_folder_of, is_postgres, read_or_create};
use crate::settings::origin::local_origin;
use crate::shutdown::shutdown_signal;

/// Run the service: the connector API, the operators' console, the widget's files and the proxy paths
///
/// Every flag can also be set in a TOML file (--config), under the same name with _ instead of -. A flag
/// overrides its environment variable, which overrides the file. The first start creates the database and its
/// key file, and prints a one-time link for the first owner.
#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// A configuration file in TOML
    #[arg(long, env = "SERVICE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the addresses as one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

impl ServeFlags {
    /// Returns the level and the format of the log that the configuration file sets.
    pub(crate) fn log(&self) -> Result<(Option<Level>, Option<LogFormat>), Failure> {
        Settings::read(self.config.as_deref())?.log()
    }
}

pub(crate) async fn run(flags: ServeFlags) -> Result<(), Failure> {
    let settings = flags.settings.or(Settings::read(flags.config.as_deref())?);
    let database = settings.database().to_owned();
    // Settings are checked before anything is created.
    settings.service(chat_service::ServiceKey::random())?;
    settings.trusted_hops()?;
    let tls = settings.tls()?;
    if !is_postgres(&database) {
        create_folder_of(Path::new(&database))
            .map_err(|error| Failure::new(format!("cannot create the folder of {database}: {error}")))?;
    }
    let key = read_or_create(&settings.key_file(), &database).await?;
    let options = settings.serve(key.key.clone())?;
    let public_origin = options.service.public_origin.clone();
    if let Some(folder) = &options.service.widget_dir
        && !folder.join("chat-widget.js").is_file()
    {
        warn!("{} has no chat-widget.js: set widget_dir to the folder of the built widget", folder.display());
    }
    let server = Server::bind(options).await.map_err(|error| failed(&error))?;
    // Installed before the announcement, because its reader may send a signal at once.
    let stop = shutdown_signal().map_err(|error| Failure::new(error.to_string()))?;
    #[cfg(all(unix, feature = "demo"))]
    chat_service::test_mode::panic_on_signal().map_err(|error| Failure::new(error.to_string()))?;
    let address = server.address().map_err(|error| Failure::new(error.to_string()))?;
    let addresses = Addresses {
        local: local_origin(address, tls.is_some()),
        public: public_origin,
        metrics: server.metrics_address().map(|address| local_origin(address, false)),
    };
    let announce = async |service: Service| {
        let link = first_owner_link(&service).await;
        let text = if flags.json { addresses.json(&key, link) } else { addresses.text(&key, link) };
        // A closed pipe is ignored: the service keeps running.
        let _ = writeln!(io::stdout(), "{text}");
    };
    server.serve(stop, announce).await.map_err(|error| {
        if let ServeError::Open(OpenError::Key) = error {
            key.discard();
        }
        failed(&error)
    })
}

fn failed(error: &ServeError) -> Failure {
    match error {
        ServeError::Open(open) if open.is_transient() => Failure::transient(error.to_string()),
        ServeError::Open(_) => Failure::data(error.to_string()),
        error => Failure::new(error.to_string()),
    }
}

/// The addresses that are announced when the service is ready.
#[derive(Debug)]
struct Addresses {
    local: String,
    public: Option<String>,
    metrics: Option<String>,
}

impl Addresses {
    /// Completes a link of a service without a public origin.
    fn link(&self, link: String) -> String {
        if link.starts_with('/') { format!("{}{link}", self.local) } else { link }
    }

    fn console(&self) -> String {
        format!("{}/console/", self.public.as_ref().unwrap_or(&self.local))
    }

    fn json(&self, key: &KeyFile, link: Option<String>) -> String {
        json!({
            "address": self.local,
            "console": self.console(),
            "metrics": self.metrics.as_ref().map(|origin| format!("{origin}/metrics")),
            "ownerLink": link.map(|link| self.link(link)),
            "newKeyFile": key.is_new.then(|| key.path.display().to_string()),
        })
        .to_string()
    }

    fn text(&self, key: &KeyFile, link: Option<String>) -> String {
        let mut text = format!("Service  {}\nConsole  {}", self.local, self.console());
        if let Some(metrics) = &self.metrics {
            let _ = write!(text, "\nMetrics  {metrics}/metrics");
        }
        if key.is_new {
            let _ = write!(
                text,
                "\n\nCOPY THIS FILE to a safe place, apart from the backups: {}\n\
                 It encrypts secrets in the database (keys of AI endpoints, of webhooks, of second factors).\n\
                 Without it, nobody can read these secrets, not even from a backup.",
                key.path.display()
            );
        }
        if let Some(link) = link {
            let _ = write!(
                text,
                "\n\nOpen this link within 24 hours to create the first account. It can be used once:\n{}",
                self.link(link)
            );
        }
        text
    }
}
