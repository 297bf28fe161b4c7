//! The command `site-connector`.

mod cli;

use std::io::{self, Write};
use std::process::ExitCode;

use chat_connector::demo::{Demo, DemoError};
use clap::Parser;
use cli::{Cli, Command, DemoFlags};

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    // Standard output is for what was asked for; what happened meanwhile goes beside it.
    tracing_subscriber::fmt().with_max_level(cli.log).with_writer(io::stderr).with_target(false).init();
    let Command::Demo(flags) = cli.command;
    match demo(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn demo(flags: DemoFlags) -> Result<(), DemoError> {
    let json = flags.json;
    let sandbox_only = flags.sandbox_only;
    let demo = Demo::bind(flags.into()).await?;
    let (site, sandbox) = (demo.site(), demo.sandbox());
    let announcement = if json {
        format!(r#"{{"site": "http://{site}", "sandbox": "http://{sandbox}"}}"#)
    } else if sandbox_only {
        format!(
            "Proxy             http://{site}/connector\nOperator console  http://{sandbox}/operator\nCtrl-C stops both."
        )
    } else {
        format!(
            "Customer's site   http://{site}\nOperator console  http://{sandbox}/operator\nCtrl-C stops both."
        )
    };
    // Before anybody is told that it is up: who is told may say stop at once.
    let stop = told_to_stop().map_err(DemoError::Signals)?;
    // Who started this may have closed its end of the pipe; the servers are up all the same.
    let _ = writeln!(io::stdout(), "{announcement}");
    demo.serve(stop).await
}

/// Ready on Ctrl-C, and on Unix on SIGTERM too; listens from the call on.
#[cfg(unix)]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ready on Ctrl-C; listens from the call on.
#[cfg(windows)]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupt.recv().await;
    })
}
