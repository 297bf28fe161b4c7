// Ends a program that prints nothing any more, such as a test file whose server was never closed.

/** The time in which a program can clean up after SIGTERM. */
const GRACE_MS = 5000;

const groups = new Set();

/** Sends a signal to a program and all that it has started. */
function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    // It has ended meanwhile.
    if (error.code !== "ESRCH") throw error;
  }
}

// A group of its own does not get the signals of the terminal.
function interrupted(name) {
  for (const pid of groups) signal(pid, name);
  process.exit(1);
}

/**
 * Ends a child that leads a process group, when it has printed nothing for `limitMs()`. Call `heard()` for each output. `stop()`
 * returns a sentence about it if the child was ended, and otherwise an empty text.
 */
export function endWhenSilent(child, limitMs) {
  let ended = "";
  let timer;
  const end = (ms) => {
    ended = `\nended: no output for ${Math.round(ms / 1000)} s. Something keeps the process alive, such as an open server, or a test never ends.\n`;
    signal(child.pid, "SIGTERM");
    timer = setTimeout(() => signal(child.pid, "SIGKILL"), GRACE_MS);
  };
  const heard = () => {
    if (ended !== "") return;
    clearTimeout(timer);
    const ms = limitMs();
    timer = setTimeout(end, ms, ms);
  };
  if (child.pid === undefined) return { heard: () => {}, stop: () => "" };
  if (groups.size === 0) for (const name of ["SIGINT", "SIGTERM"]) process.on(name, interrupted);
  groups.add(child.pid);
  heard();
  return {
    heard,
    stop() {
      clearTimeout(timer);
      groups.delete(child.pid);
      if (groups.size === 0) for (const name of ["SIGINT", "SIGTERM"]) process.off(name, interrupted);
      return ended;
    },
  };
}
