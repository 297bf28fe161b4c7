//! The command `site-connector`.

#![allow(clippy::doc_markdown, rustdoc::bare_urls, reason = "the docs of a flag are its help text")]
#![warn(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "the macros panic when a line cannot be written, on a full disk or to a closed pipe"
)]

mod activate;
mod admin;
mod ask;
mod audit;
mod backup;
mod check;
mod cli;
#[cfg(feature = "demo")]
mod demo;
mod doctor;
mod failure;
mod jobs;
mod listen;
mod log;
mod overlays;
mod print;
mod proxy;
mod reference;
mod serve;
mod service;
mod settings;
mod shutdown;
mod status;
mod sync;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use mimalloc::MiMalloc;
use tracing::Level;

/// mimalloc: a request through the proxy makes many small allocations, and the proxy answers a fifth more
/// requests a second than with the system's allocator (`npm run bench:proxy`).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let json = wants_json(std::env::args_os());
    let outcome = match Cli::try_parse() {
        Ok(cli) => Box::pin(run(cli)).await,
        // Help and the version are no failures.
        Err(error) if json && error.use_stderr() => Err(Failure::usage(error.to_string())),
        Err(error) => error.exit(),
    };
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // The exit code says it as well.
            log::say(&if json { failure.json() } else { format!("error: {}", failure.shown()) });
            failure.code()
        }
    };
    log::finish();
    code
}

/// Returns whether results are wanted as JSON, also of a command line that is invalid otherwise.
fn wants_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

async fn run(cli: Cli) -> Result<(), Failure> {
    let (level, format) = match &cli.command {
        Command::Serve(flags) => flags.log()?,
        _ => (None, None),
    };
    // Results go to standard output, the log to standard error.
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (level, format) = (cli.log.or(level), cli.log_format.or(format));
    log::start(level.unwrap_or(Level::WARN), format.unwrap_or_default(), colours);
    match cli.command {
        Command::Activate(flags) => activate::run(flags).await,
        Command::Status(flags) => status::run(flags).await,
        Command::Sync(flags) => sync::run(flags).await,
        Command::Overlays(flags) => overlays::run(flags).await,
        Command::Jobs(flags) => jobs::run(flags).await,
        Command::Check(flags) => check::run(flags).await,
        Command::Proxy(flags) => proxy::run(flags).await,
        Command::Serve(flags) => Box::pin(serve::run(flags)).await,
        Command::Admin(flags) => admin::run(flags).await,
        Command::Ask(flags) => ask::run(flags).await,
        Command::Audit(flags) => Box::pin(audit::run(flags)).await,
        Command::Backup(flags) => backup::back_up(flags).await,
        Command::Restore(flags) => backup::restore(flags).await,
        Command::Doctor(flags) => doctor::run(flags).await,
        #[cfg(feature = "demo")]
        Command::Demo(flags) => demo::run(flags).await,
        Command::Completions { shell } => reference::completions(shell),
        Command::Man { dir } => reference::man(dir.as_deref()),
    }
}
