// A virtual screen for a browser that cannot run without one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts a virtual screen. Returns the `env` of a program that uses it, and `stop()`. */
export async function startScreen() {
  // It chooses a free display number and writes it to file descriptor 3.
  const flags = ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"];
  const screen = spawn("Xvfb", flags, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const stop = () => void screen.kill();
  process.once("exit", stop);
  const failed = once(screen, "exit").then(() => Promise.reject(new Error("Xvfb did not start")));
  const [number] = await Promise.race([once(createInterface(screen.stdio[3]), "line"), failed]);
  // From here on, this process stops it.
  failed.catch(() => {});
  // Without a GPU, WebKit would compile shaders when it first draws each kind of shape. That blocks a page for half a
  // second, and longer on a busy machine. Software rendering avoids it.
  return { env: { DISPLAY: `:${number}`, WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1" }, stop };
}
