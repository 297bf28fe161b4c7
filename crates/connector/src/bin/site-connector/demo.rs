//! `site-connector demo`

use std::io::{self, Write as _};
use std::path::PathBuf;

use chat_connector::demo::{Demo, DemoError, DemoOptions};
use chat_service::test_mode::{
    Ai, Amount, AssistantEndpoint, AssistantOptions, ConfigOverrides, Faults, Publishing, Target, TestOptions,
};
use clap::Args;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::json;
use uuid::Uuid;

use crate::failure::Failure;
use crate::service::secret;
use crate::shutdown::shutdown_signal;

/// Run a site with the chat, and a sandbox of the service, on this machine
#[derive(Debug, Args)]
pub(crate) struct DemoFlags {
    /// The site's port; 0 picks a free one
    #[arg(long, env = "PORT", default_value_t = 8080)]
    port: u16,
    /// The port of the sandbox and the console; 0 picks a free one
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
    sandbox_only: bool,
    /// Print the addresses as one line of JSON
    #[arg(long)]
    json: bool,
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
    /// The model of the AI endpoint
    #[arg(long, env = "AI_MODEL", value_name = "NAME")]
    ai_model: Option<String>,
}

impl DemoFlags {
    /// Returns the settings of the sandbox, without its faults.
    fn sandbox(&self) -> Result<TestOptions, Failure> {
        let flags = &self.service;
        let random = || SecretString::from(Uuid::new_v4().simple().to_string());
        let token = secret(flags.token_file.as_deref(), "CONNECTOR_TOKEN")?.unwrap_or_else(random);
        let assistant = match (&flags.ai_base, &flags.ai_model) {
            (Some(base), Some(model)) => Some(AssistantEndpoint {
                base: base.clone(),
                key: secret(None, "AI_KEY")?,
                model: model.clone(),
                timeout: AssistantEndpoint::TIMEOUT,
                options: AssistantOptions::default(),
            }),
            _ => None,
        };
        let publishing = if flags.automatic { Publishing::Automatic } else { Publishing::SemiAutomatic };
        Ok(TestOptions { data: flags.data.clone(), publishing, assistant, ..TestOptions::new(token) })
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

pub(crate) async fn run(flags: DemoFlags) -> Result<(), Failure> {
    let sandbox = flags.sandbox()?;
    serve(flags, sandbox).await.map_err(|error| Failure::new(error.to_string()))
}

async fn serve(flags: DemoFlags, sandbox: TestOptions) -> Result<(), DemoError> {
    let (json, sandbox_only) = (flags.json, flags.sandbox_only);
    let demo = Demo::bind_with(flags.into(), sandbox).await?;
    let (site, sandbox) = (format!("http://{}", demo.site()), format!("http://{}", demo.sandbox()));
    let console = format!("{sandbox}{}", demo.console_link().await?);
    let announcement = if json {
        json!({ "site": site, "sandbox": sandbox, "console": console }).to_string()
    } else {
        let site = if sandbox_only {
            format!("Proxy              {site}/connector")
        } else {
            format!("Customer's site    {site}\nDocumentation      {site}/docs/")
        };
        format!(
            "{site}\nOperators' console {console}\n\
             The link to the console signs in once, within an hour. Ctrl-C stops the demo."
        )
    };
    // Installed before the announcement, because its reader may send a signal at once.
    let stop = shutdown_signal().map_err(DemoError::Signals)?;
    // A closed pipe is ignored: the servers keep running.
    let _ = writeln!(io::stdout(), "{announcement}");
    demo.serve(stop).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let error = named::<Ai>("asleep").expect_err("refused");
        assert!(error.contains("provider_error"), "{error}");
    }
}
