//! `site-connector completions` and `man`: the command line as shells and readers want it.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::failure::Failure;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "site-connector", &mut text);
    print(&text)
}

/// Prints the man page, or writes the pages of all commands into a folder.
pub(crate) fn man(dir: Option<&Path>) -> Result<(), Failure> {
    if let Some(dir) = dir {
        return clap_mangen::generate_to(Cli::command(), dir)
            .map_err(|error| Failure::new(format!("cannot write to {}: {error}", dir.display())));
    }
    let mut text = Vec::new();
    Man::new(Cli::command()).render(&mut text).map_err(|error| Failure::new(error.to_string()))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<(), Failure> {
    // A closed pipe is ignored: its reader has seen enough.
    match io::stdout().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(error.to_string())),
        _ => Ok(()),
    }
}
