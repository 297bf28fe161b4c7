//! The processor time and the memory of processes, from `/proc`.

use std::time::Duration;

/// The length of a tick in `/proc/PID/stat`: Linux reports hundredths of a second on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// Returns the processor time that processes have used, in user mode and in the kernel.
pub(crate) fn cpu_time(pids: &[String]) -> Duration {
    pids.iter().filter_map(|pid| cpu_ticks(pid)).map(|ticks| TICK * ticks).sum()
}

fn cpu_ticks(pid: &str) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Returns the resident memory of processes, in MiB.
pub(crate) fn resident_mib(pids: &[String]) -> f64 {
    let kib = |pid: &String| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    pids.iter().filter_map(kib).map(|kib| f64::from(kib) / 1024.0).sum()
}
