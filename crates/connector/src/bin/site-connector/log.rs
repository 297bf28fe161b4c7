//! The log on standard error. Text from outside cannot control the terminal or forge a line. A line that
//! cannot be written, on a full disk or to a closed pipe, is lost, and nothing else is. A pipe that nobody
//! reads holds up only the thread that writes: what does not fit into its queue is lost, and counted.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use chat_connector::printable::{printable_json, printable_log_line};
use clap::ValueEnum;
use serde::Deserialize;
use tracing::{Level, warn};

/// Maximum bytes of the lines that wait to be written.
const MAX_WAITING_BYTES: usize = 1024 * 1024;
/// Maximum time at the end of the process in which the last lines are written.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

static QUEUE: Queue = Queue::new();
static WRITER: Once = Once::new();

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
    // The hook of the standard library writes to standard error itself.
    panic::set_hook(Box::new(|panic| {
        let thread = thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        let trace = Backtrace::capture();
        let trace =
            if trace.status() == BacktraceStatus::Captured { format!("\n{trace}") } else { String::new() };
        say(&format!("thread '{name}' {panic}{trace}"));
        // The process ends with its main thread.
        if name == "main" {
            finish();
        }
    }));
}

/// Writes a text to standard error, after the lines of the log.
pub(crate) fn say(text: &str) {
    WRITER.call_once(|| {
        // Without a thread, which the system refuses only if it has no memory, the log is lost.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(|| QUEUE.write_to(io::stderr()));
    });
    QUEUE.push(format!("{text}\n").as_bytes());
}

/// Waits until everything is written, for a moment at most.
pub(crate) fn finish() {
    QUEUE.finish(FINISH_TIMEOUT);
}

/// A writer of events, each as one line.
struct Lines {
    printable: fn(&str) -> String,
}

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        say(&(self.printable)(text.strip_suffix('\n').unwrap_or(&text)));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A thread of its own writes.
        Ok(())
    }
}

/// Lines on their way to a thread that writes them.
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    text: Vec<u8>,
    /// The thread is writing what waited before.
    is_writing: bool,
    /// The number of lines that did not fit since it began.
    lost: u64,
}

impl Queue {
    const fn new() -> Self {
        let waiting = Waiting { text: Vec::new(), is_writing: false, lost: 0 };
        Self { waiting: Mutex::new(waiting), changed: Condvar::new() }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, unless too much waits.
    fn push(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        if waiting.text.len().saturating_add(line.len()) > MAX_WAITING_BYTES {
            waiting.lost += 1;
            return;
        }
        waiting.text.extend_from_slice(line);
        drop(waiting);
        self.changed.notify_all();
    }

    /// Writes what is added, without end. An error loses what waits.
    fn write_to(&self, mut out: impl Write) {
        loop {
            let idle = |waiting: &mut Waiting| waiting.text.is_empty();
            let waiting = self.changed.wait_while(self.waiting(), idle);
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            let text = std::mem::take(&mut waiting.text);
            waiting.is_writing = true;
            drop(waiting);
            let _ = out.write_all(&text);
            let mut waiting = self.waiting();
            waiting.is_writing = false;
            let lost = std::mem::take(&mut waiting.lost);
            drop(waiting);
            self.changed.notify_all();
            if lost > 0 {
                warn!(lines = lost, "the log was not read in time, and lines of it are lost");
            }
        }
    }

    fn finish(&self, timeout: Duration) {
        let unwritten = |waiting: &mut Waiting| waiting.is_writing || !waiting.text.is_empty();
        // Late lines are lost.
        drop(self.changed.wait_timeout_while(self.waiting(), timeout, unwritten));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Standard error whose reader decides when each part is read.
    struct Slow {
        parts: Sender<Vec<u8>>,
        reads: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.parts.send(text.to_vec()).map_err(io::Error::other)?;
            self.reads.recv().map_err(io::Error::other)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_nobody_reads_are_lost_and_counted() {
        static SLOW: Queue = Queue::new();
        let ((parts, written), (read, reads)) = (channel(), channel());
        thread::spawn(move || SLOW.write_to(Slow { parts, reads }));
        SLOW.push(b"first\n");
        assert_eq!(written.recv().expect("a part"), b"first\n");
        // The thread waits for the reader. Nobody who logs does.
        let line = [b'x'; 1024];
        for _ in 0..MAX_WAITING_BYTES / line.len() + 5 {
            SLOW.push(&line);
        }
        assert_eq!(SLOW.waiting().lost, 5);
        SLOW.finish(Duration::from_millis(1));
        assert!(SLOW.waiting().is_writing);
        read.send(()).expect("waits");
        assert_eq!(written.recv().expect("a part").len(), MAX_WAITING_BYTES);
        read.send(()).expect("waits");
        SLOW.finish(Duration::from_mins(1));
        let waiting = SLOW.waiting();
        assert_eq!((waiting.is_writing, waiting.text.len(), waiting.lost), (false, 0, 0));
    }
}
