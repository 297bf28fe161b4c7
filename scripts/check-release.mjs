// Installs and runs the files of target/release-files/ in an empty folder, without the repository. The service and the
// proxy run from the static binary in a file system with nothing else in it. Each kind of page is opened in Chromium,
// where a visitor asks a question and sees the service's answer.
//
//     npm run release -- --dry-run && npm run check:release [-- zip vite next leptos certificates aarch64 released]
//
// `--files FOLDER` names another folder. `--program PATH` runs the service and the proxy from another program, as it is.
// A check whose tools are missing is reported as not run, and fails if it was named.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../tests/e2e/demo.mjs";
import { checksums } from "./release/files.mjs";
import { PROJECTS } from "./release/projects.mjs";
import { answersOverTls, startStack } from "./release/stack.mjs";
import { visit } from "./release/visitor.mjs";
import { stopAll } from "./servers.mjs";
import { Advice, chromium, main, root, say } from "./setup.mjs";
import { serveSite } from "./static-site.mjs";

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: "string", default: join(root, "target", "release-files") },
    program: { type: "string" },
  },
});
const files = resolve(values.files);
const folder = mkdtempSync(join(tmpdir(), "chat-widget-release-"));

/** Returns the path of the release's file whose name matches a pattern; fails if there is none. */
function file(pattern) {
  const found = readdirSync(files).find((name) => pattern.test(name));
  if (!found) throw new Advice(`the release has no file ${pattern.source}`);
  return join(files, found);
}

/** Unpacks the program for a processor, and returns its path. */
function program(processor) {
  const home = mkdtempSync(join(folder, `${processor}-`));
  const archive = file(new RegExp(`^site-connector-.*-${processor}-linux\\.tar\\.gz$`));
  const { status, stderr } = spawnSync("tar", ["-xzf", archive, "-C", home, "--strip-components=1"]);
  if (status !== 0) throw new Error(`tar could not unpack ${archive}: ${stderr}`);
  return join(home, "site-connector");
}

/** The processor of this machine, as the files name it. */
const OWN = process.arch === "arm64" ? "aarch64" : "x86_64";

let stack;
/** Starts the service and the proxy, once. */
const started = () => {
  const how = () =>
    values.program ? { program: resolve(values.program), isBare: false } : { program: program(OWN), isBare: true };
  stack ??= startStack(join(folder, "root"), how());
  return stack;
};

let browser;
/** Opens a page of a project, and asks the service a question there. Returns the question and the answer. */
async function ask(project) {
  const { proxy } = await started();
  const { site, html } = await project({ folder, file, proxy });
  const address = site ?? (await serveSite(html.folder, html.page, proxy)).site;
  browser ??= await launch({ executablePath: chromium().browser });
  return visit(browser, address);
}

/** The checks by their names. Each returns a line about its result. */
const CHECKS = {
  ...Object.fromEntries(Object.entries(PROJECTS).map(([name, project]) => [name, () => ask(project)])),
  released: async () => {
    const binary = program(OWN);
    if (readFileSync(binary).includes("/sandbox/")) throw new Error(`${binary} contains the test control`);
    const { status, stderr } = spawnSync(binary, ["demo"], { encoding: "utf8" });
    if (status !== 2 || !stderr.includes("--help")) throw new Error(`${binary} demo: ${status} ${stderr}`);
    return "the demo is an unknown command";
  },
  certificates: async () => answersOverTls(join(folder, "tls"), program(OWN)),
  aarch64: async () => {
    const binary = program("aarch64");
    const emulator = process.arch === "arm64" ? [] : ["qemu-aarch64-static"];
    const [command, ...args] = [...emulator, binary, "--version"];
    const { error, stdout, status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (error) throw new Advice(`${command} is missing: on Debian, install the package qemu-user-static`);
    if (status !== 0) throw new Error(`${binary} failed: ${stderr}`);
    return `it runs${emulator.length > 0 ? " in an emulator" : ""}: ${stdout.trim()}`;
  },
};

await main(async () => {
  const failed = [];
  try {
    const unknown = named.filter((name) => !(name in CHECKS));
    if (unknown.length > 0)
      throw new Advice(`invalid check: expected some of ${Object.keys(CHECKS).join(", ")}, got ${unknown.join(", ")}`);
    if (!existsSync(join(files, "SHA256SUMS")))
      throw new Advice(`${files} is not a release: run \`npm run release -- --dry-run\` first`);
    if (checksums(files) !== readFileSync(join(files, "SHA256SUMS"), "utf8"))
      throw new Advice("SHA256SUMS differs from the files: make the release again");
    for (const name of named.length > 0 ? named : Object.keys(CHECKS)) {
      try {
        say(`${name}: ${await CHECKS[name]()}`);
      } catch (error) {
        // Advice tells what is missing on this machine. Everything else is a fault of the release.
        const isMissing = error instanceof Advice;
        say(`${name}: ${isMissing ? `not run. ${error.message}` : `FAILED. ${error.stack}`}`);
        if (!isMissing || named.includes(name)) failed.push(name);
      }
    }
  } finally {
    await browser?.close();
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
  if (failed.length > 0) throw new Advice(`failed: ${failed.join(", ")}`);
});
// The servers of the pages would keep the process.
process.exit();
