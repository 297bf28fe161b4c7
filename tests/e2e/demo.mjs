// The demo on free ports, and a browser for it: those of the worker that runs the file, or of the file alone.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
const COMMAND = process.env.SITE_CONNECTOR ?? "target/debug/site-connector";
const DEMO = ["--log", "error", "demo", "--json", "--sandbox-port", "0"];
const BROWSER = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The pages of the address bar, which take as long to load as a test. And the local network checks: a
  // page that a test makes up has no address, so it would need permission to reach a second server of the test.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,LocalNetworkAccessChecks",
];

const CHROMIUM = { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: BROWSER };

/** Starts Chromium for several processes, which connect to its `wsEndpoint()`. */
export const launchServer = (executablePath = CHROMIUM.executablePath) =>
  chromium.launchServer({ ...CHROMIUM, executablePath });

/** Returns a browser: the worker's, whose `close()` closes this file's contexts, or a new one with Playwright's `options`. */
export const launch = (options) =>
  process.env.BROWSER_WS && !options
    ? chromium.connect(process.env.BROWSER_WS)
    : chromium.launch({ ...CHROMIUM, ...options });

/**
 * Returns the worker's demo, or starts one with these pages or the shop's, and with further flags of the command. It has the
 * addresses of `site` and `sandbox`, the `token` between them, and `stop()`. `SITE_CONNECTOR`, `WIDGET_DIR` and `SITE_DIR`
 * name another build.
 */
export async function startDemo(pages, more = []) {
  if (process.env.DEMO && !pages && more.length === 0) return { ...JSON.parse(process.env.DEMO), stop: async () => {} };
  const { WIDGET_DIR: widget, SITE_DIR: site = pages } = process.env;
  const folders = [...(site ? ["--site-dir", site] : []), ...(widget ? ["--widget-dir", widget] : [])];
  const port = more.includes("--port") ? [] : ["--port", "0"];
  const flags = [...DEMO, ...port, ...folders, ...more];
  const token = `token-${crypto.randomUUID()}`;
  const env = { ...process.env, CONNECTOR_TOKEN: token };
  const demo = spawn(COMMAND, flags, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  process.once("exit", () => demo.kill());
  // A signal alone would end this process and leave the demo running.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  demo.stderr.pipe(process.stderr);
  const announced = new Promise((resolve, reject) => {
    createInterface(demo.stdout).once("line", resolve);
    const failed = (why) =>
      reject(new Error(`the demo did not start (${why}): run cargo build -p chat-connector --features demo first`));
    demo.once("error", (error) => failed(error.message)).once("exit", failed);
  });
  const stop = async () => {
    if (demo.exitCode !== null) return;
    demo.kill();
    await once(demo, "exit");
  };
  return { ...JSON.parse(await announced), token, stop };
}

/** Runs a command of the site's own server in `folder`, with its token. Returns the JSON that it prints. */
async function ofSite({ origin, token }, command, folder, address, args) {
  const from = ["--origin", origin, "--site-origin", address, "--json", "--state", join(folder, "state")];
  const env = { ...process.env, CONNECTOR_TOKEN: token };
  const { stdout } = await promisify(execFile)(COMMAND, [command, ...from, ...args], { cwd: root, env });
  return JSON.parse(stdout);
}

/**
 * Runs the pending jobs on the site's own server, for a site at `address`: its pages are written to `www` in `folder`.
 * Returns the results.
 */
export const runJobs = (service, folder, address) =>
  ofSite(service, "jobs", folder, address, ["--once", "--site", join(folder, "www")]);

/** Syncs the pages of `www` in `folder` for a site at `address`. Returns the result. */
export const syncPages = (service, folder, address) => ofSite(service, "sync", folder, address, [join(folder, "www")]);
