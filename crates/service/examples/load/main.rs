//! Loads a service with real HTTP, measures it, and fills its database.
//!
//! `visitors` polls at the contract's pace, `saturate` as fast as the service responds; `fill` writes
//! conversations straight into a database, and `query` prints rows of one. `npm run bench:service` runs them.

mod arguments;
mod fill;
mod histogram;
mod http;
mod process;
mod query;
mod report;
mod saturate;
mod target;
mod visitors;

use std::error::Error;
use std::process::ExitCode;

use arguments::Arguments;

const USAGE: &str = "\
usage: load visitors --url URL --token TOKEN [--visitors N] [--connections N] [--seconds N] [--writing SHARE]
                     [--message-interval-ms N] [--presence-interval-ms N] [--pid PID] [--json]
       load saturate --url URL --token TOKEN [--conversations FILE] [--connections N] [--seconds N] [--pid PID]
                     [--json]
       load fill --database ADDRESS --site ID --conversations N --messages N [--list FILE] [--listed N]
                 [--searchable yes]
       load query --database ADDRESS SQL
--url and --pid can be repeated, once for each node.";

fn main() -> ExitCode {
    // One thread: the service gets as much of the processors as it can.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    match runtime.block_on(tokio::task::LocalSet::new().run_until(run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error.as_ref()),
    }
}

fn fail(error: &dyn Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = Arguments::parse(std::env::args().skip(1))?;
    match arguments.command.as_str() {
        "visitors" => visitors::run(arguments).await,
        "saturate" => saturate::run(arguments).await,
        "fill" => fill::run(arguments).await,
        "query" => query::run(&mut arguments).await,
        _ => Err(USAGE.into()),
    }
}
