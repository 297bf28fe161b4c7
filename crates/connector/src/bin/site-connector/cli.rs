//! The command line.

use std::path::PathBuf;

use chat_connector::demo::DemoOptions;
use chat_service::test_mode::{
    Ai, Amount, AssistantEndpoint, ConfigOverrides, Faults, Publishing, Target, TestOptions,
};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use tracing::Level;
use uuid::Uuid;

use crate::activate::ActivateFlags;
use crate::admin::AdminFlags;
use crate::backup::{BackupFlags, RestoreFlags};
use crate::check::CheckFlags;
use crate::doctor::DoctorFlags;
use crate::failure::Failure;
use crate::jobs::JobsFlags;
use crate::log::LogFormat;
use crate::overlays::OverlaysFlags;
use crate::proxy::ProxyFlags;
use crate::serve::ServeFlags;
use crate::service::secret;
use crate::status::StatusFlags;
use crate::sync::SyncFlags;

/// The server side of a site with the chat widget
///
/// Exits with 0 on success, 1 on failure, 2 if the command line or a setting is invalid or missing, and 75
/// on a failure that may be transient. With --json, a failure is one line of JSON on standard error.
#[derive(Debug, Parser)]
#[command(name = "site-connector", version)]
pub(crate) struct Cli {
    /// Log level on standard error: error, warn, info, debug or trace [default: warn]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<Level>,
    /// Log format: text, or a line of JSON for each event [default: text]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Activate(ActivateFlags),
    /// Show the site's status at the service
    Status(StatusFlags),
    Sync(SyncFlags),
    /// List the published overlays, or apply them to pages
    Overlays(OverlaysFlags),
    Jobs(JobsFlags),
    Proxy(ProxyFlags),
    Check(CheckFlags),
    Serve(ServeFlags),
    Admin(AdminFlags),
    Backup(BackupFlags),
    Restore(RestoreFlags),
    Doctor(DoctorFlags),
    /// Run a site with the chat, and a sandbox of the service, on this machine
    Demo(DemoFlags),
    /// Print the completions of this command for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page; with --dir, write the pages of all commands
    Man {
        /// The folder for the pages, such as /usr/local/share/man/man1
        #[arg(long, value_name = "PATH")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DemoFlags {
    /// The site's port; 0 picks a free one
    #[arg(long, env = "PORT", default_value_t = 8080)]
    port: u16,
    /// The port of the sandbox and its operator console; 0 picks a free one
    #[arg(long, env = "SANDBOX_PORT", default_value_t = 8090)]
    sandbox_port: u16,
    /// The site's pages, served at /
    #[arg(long, default_value = "www/demo", value_name = "PATH")]
    site_dir: PathBuf,
    /// The built widget, served at /chat-widget/
    #[arg(long, default_value = "dist", value_name = "PATH")]
    widget_dir: PathBuf,
    /// The built documentation, served at /docs/
    #[arg(long, default_value = "target/docs-site", value_name = "PATH")]
    docs_dir: PathBuf,
    /// Serve the proxy and the sandbox only, and no files
    #[arg(long)]
    pub(crate) sandbox_only: bool,
    /// Print both addresses as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    service: SandboxFlags,
    #[command(flatten)]
    faults: FaultFlags,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The sandbox")]
struct SandboxFlags {
    /// The file that stores the sandbox's data; in memory by default
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The file that contains the site token; without it or CONNECTOR_TOKEN, a random token is used
    #[arg(long, env = "CONNECTOR_TOKEN_FILE", value_name = "PATH")]
    token_file: Option<PathBuf>,
    /// Publish suggestions without approval
    #[arg(long)]
    automatic: bool,
    /// An OpenAI-compatible endpoint that replaces the built-in assistant, such as https://ai.example/v1; its
    /// key is read from AI_KEY
    #[arg(long, env = "AI_BASE", value_name = "URL", requires = "ai_model")]
    ai_base: Option<String>,
    /// A host name of the operator console besides localhost, as behind a reverse proxy; can be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// The model of the AI endpoint
    #[arg(long, env = "AI_MODEL", value_name = "NAME")]
    ai_model: Option<String>,
}

impl DemoFlags {
    /// Returns the settings of the sandbox, without its faults.
    pub(crate) fn sandbox(&self) -> Result<TestOptions, Failure> {
        let flags = &self.service;
        let random = || SecretString::from(Uuid::new_v4().simple().to_string());
        let token = secret(flags.token_file.as_deref(), "CONNECTOR_TOKEN")?.unwrap_or_else(random);
        let assistant = match (&flags.ai_base, &flags.ai_model) {
            (Some(base), Some(model)) => Some(AssistantEndpoint {
                base: base.clone(),
                key: secret(None, "AI_KEY")?,
                model: model.clone(),
                timeout: AssistantEndpoint::TIMEOUT,
            }),
            _ => None,
        };
        let publishing = if flags.automatic { Publishing::Automatic } else { Publishing::SemiAutomatic };
        Ok(TestOptions {
            data: flags.data.clone(),
            publishing,
            assistant,
            hosts: flags.hosts.clone(),
            ..TestOptions::new(token)
        })
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Faults in the sandbox")]
struct FaultFlags {
    /// The requests that faults apply to: all, config, send, messages, presence, events, activate, status,
    /// sync, overlays, claim or complete
    #[arg(long, default_value = "all", value_parser = named::<Target>)]
    only: Target,
    /// Milliseconds to wait before every response
    #[arg(long, default_value_t = 0, value_name = "MS")]
    delay_ms: u64,
    /// Fail with this HTTP status
    #[arg(long, value_name = "STATUS")]
    fail_status: Option<u16>,
    /// The share of requests to fail, 0 to 1
    #[arg(long, value_name = "SHARE", requires = "fail_status")]
    fail_rate: Option<f64>,
    /// Maximum requests to fail
    #[arg(long, value_name = "COUNT", requires = "fail_status")]
    fail_times: Option<u32>,
    /// The error code of the failure
    #[arg(long, value_name = "CODE", requires = "fail_status")]
    fail_code: Option<String>,
    /// Retry-After of the failure, in seconds
    #[arg(long, value_name = "SECONDS", requires = "fail_status")]
    retry_after: Option<u64>,
    /// Execute requests, but lose the response: a count of the next requests, or a share between 0 and 1
    #[arg(long, default_value_t = 0.0, value_name = "AMOUNT")]
    lose_answers: f64,
    /// Break the connection without executing requests: a count of the next requests, or a share between 0
    /// and 1
    #[arg(long, default_value_t = 0.0, value_name = "AMOUNT")]
    drop_requests: f64,
    #[arg(long, help = "The behaviour of the AI: ok, slow, provider_error, quota_insufficient or blocked", default_value = "ok", value_parser = named::<Ai>)]
    ai: Ai,
    /// Milliseconds until a slow AI answers
    #[arg(long, default_value_t = 20_000, value_name = "MS")]
    slow_ms: u64,
    /// Milliseconds that a claimed job is leased for
    #[arg(long, value_name = "MS")]
    lease_ms: Option<u64>,
    /// Report that the chat is switched off
    #[arg(long)]
    chat_off: bool,
    /// Report that the widget is switched off
    #[arg(long)]
    widget_off: bool,
    /// Report that the config is stale
    #[arg(long)]
    stale_config: bool,
}

/// Parses a value by its name on the wire. The error lists the valid names.
fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

impl From<DemoFlags> for DemoOptions {
    fn from(flags: DemoFlags) -> Self {
        Self {
            port: flags.port,
            sandbox_port: flags.sandbox_port,
            site_dir: flags.site_dir,
            widget_dir: flags.widget_dir,
            docs_dir: flags.docs_dir,
            sandbox_only: flags.sandbox_only,
            faults: flags.faults.into(),
        }
    }
}

impl From<FaultFlags> for Faults {
    fn from(flags: FaultFlags) -> Self {
        Self {
            only: flags.only,
            delay_ms: flags.delay_ms,
            status: flags.fail_status,
            rate: flags.fail_rate,
            times: flags.fail_times,
            code: flags.fail_code,
            retry_after: flags.retry_after,
            lose_answers: Amount(flags.lose_answers),
            drop_requests: Amount(flags.drop_requests),
            ai: flags.ai,
            slow_ms: flags.slow_ms,
            lease_ms: flags.lease_ms,
            config: ConfigOverrides {
                enabled: flags.chat_off.then_some(false),
                widget_enabled: flags.widget_off.then_some(false),
                stale: flags.stale_config.then_some(true),
                ..ConfigOverrides::default()
            },
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let error = named::<Ai>("asleep").expect_err("refused");
        assert!(error.contains("provider_error"), "{error}");
    }
}
