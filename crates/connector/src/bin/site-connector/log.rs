//! The log on standard error. Text from outside cannot control the terminal or forge a line. A line that
//! cannot be written, on a full disk or to a closed pipe, is lost, and nothing else is.

use std::io::{self, Write};

use chat_connector::printable::{printable_json, printable_log_line};
use clap::ValueEnum;
use serde::Deserialize;
use tracing::Level;

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Starts the log. `colours` must be false if standard error is not a terminal.
pub(crate) fn start(level: Level, format: LogFormat, colours: bool) {
    let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(colours).with_target(false);
    match format {
        LogFormat::Text => log.with_writer(|| Lines { printable: printable_log_line }).init(),
        LogFormat::Json => {
            log.with_writer(|| Lines { printable: printable_json }).json().flatten_event(true).init();
        }
    }
}

/// A writer that writes each event to standard error as one line.
struct Lines {
    printable: fn(&str) -> String,
}

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = (self.printable)(text.strip_suffix('\n').unwrap_or(&text));
        // For an error, tracing-subscriber would print a line of its own, and panic when that fails as well.
        let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Standard error has no buffer.
        Ok(())
    }
}
