//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use tracing::Level;

use crate::activate::ActivateFlags;
use crate::admin::AdminFlags;
use crate::ask::AskFlags;
use crate::audit::AuditFlags;
use crate::backup::{BackupFlags, RestoreFlags};
use crate::check::CheckFlags;
#[cfg(feature = "demo")]
use crate::demo::DemoFlags;
use crate::doctor::DoctorFlags;
use crate::jobs::JobsFlags;
use crate::log::LogFormat;
use crate::overlays::OverlaysFlags;
use crate::proxy::ProxyFlags;
use crate::serve::ServeFlags;
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
    Audit(AuditFlags),
    Proxy(ProxyFlags),
    Check(CheckFlags),
    Serve(ServeFlags),
    Admin(AdminFlags),
    Ask(AskFlags),
    Backup(BackupFlags),
    Restore(RestoreFlags),
    Doctor(DoctorFlags),
    #[cfg(feature = "demo")]
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
