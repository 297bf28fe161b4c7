// A virtual screen for a browser that cannot run without one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts a screen. Returns the `env` of a program that uses it, and `stop()`. */
export async function startScreen() {
  // It chooses a number that is free, and tells it on the fourth of its channels.
  const flags = ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"];
  const screen = spawn("Xvfb", flags, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const stop = () => void screen.kill();
  process.once("exit", stop);
  const failed = once(screen, "exit").then(() => Promise.reject(new Error("Xvfb did not start")));
  const [number] = await Promise.race([once(createInterface(screen.stdio[3]), "line"), failed]);
  // From here on, its end is ours.
  failed.catch(() => {});
  // Without a graphics processor, WebKit would compile what one draws with, for as long as it draws the first of its
  // kind: half a second in which a page stands still, and far more on a busy machine. It can draw without.
  return { env: { DISPLAY: `:${number}`, WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1" }, stop };
}
