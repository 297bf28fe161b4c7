// The files of a release, as `npm run release` packs them from dist/, and their use in an empty folder.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { packAll } from "../../scripts/release.mjs";
import { checksums } from "../../scripts/release/files.mjs";
import { releaseNotes, sharedVersion, statedVersions } from "../../scripts/release/source.mjs";
import { debianTool, root } from "../../scripts/setup.mjs";
import { read } from "../docs-snippets.mjs";

const folder = mkdtempSync(join(tmpdir(), "release-files-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const version = sharedVersion(statedVersions());
const packed = join(folder, "files");
const site = join(folder, "site");

/** Packs a release into a folder. Every call must write the same bytes. */
function pack(into) {
  const notes = releaseNotes(read("CHANGELOG.md"), version, { dryRun: true });
  packAll(into, { version, source: { hash: "0".repeat(40), time: 1_790_000_000 }, notes });
}

before(() => {
  pack(packed);
  debianTool("unzip");
  mkdirSync(site);
  execFileSync("unzip", ["-q", join(packed, `chat-widget-${version}.zip`), "-d", site]);
});

test("Packing the same build again makes the same files, to the byte", () => {
  const again = join(folder, "again");
  pack(again);
  assert.deepEqual(readdirSync(packed).sort(), [
    `chat-markup-${version}.crate`,
    `chat-protocol-${version}.crate`,
    `chat-session-${version}.crate`,
    `chat-widget-${version}.cdx.json`,
    `chat-widget-${version}.crate`,
    `chat-widget-${version}.zip`,
    `chat-widget-wordpress-${version}.zip`,
    "release-notes.md",
    `site-connector-chat-widget-${version}.tgz`,
  ]);
  assert.equal(checksums(again), checksums(packed));
});

test("The archive of the widget has every file with its hash, compressed copies, the script tag, and licences", () => {
  const home = join(site, "chat-widget");
  const bytes = (path) => readFileSync(join(home, path));
  const integrity = JSON.parse(bytes("integrity.json"));
  assert.ok(Object.keys(integrity).length > 50, "hashes");
  for (const [path, hash] of Object.entries(integrity))
    assert.equal(`sha384-${createHash("sha384").update(bytes(path)).digest("base64")}`, hash, path);
  const compressed = readdirSync(home, { recursive: true }).filter((path) => path.endsWith(".br"));
  assert.ok(compressed.length > 40, "compressed copies");
  for (const path of compressed) assert.ok(brotliDecompressSync(bytes(path)).equals(bytes(path.slice(0, -3))), path);
  assert.ok(bytes("snippet.html").includes(integrity["chat-widget.js"]));
  const top = readdirSync(home);
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) assert.ok(top.includes(name), name);
  for (const name of ["console", "server"]) assert.ok(!top.includes(name), name);
});

/** The timeout of the check of a release, which compiles a Leptos application. */
const CHECK_TIMEOUT_MS = 600_000;

/** Runs a script to its end. After the timeout, it and the processes that it started are killed. */
async function runScript(args, timeoutMs) {
  // A group of its own, because a script that waits for a program does not handle signals.
  const child = spawn(process.execPath, args, { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), timeoutMs);
  const [status, signal] = await once(child, "close");
  clearTimeout(timer);
  return { status, signal, ...output };
}

test("Pages made from the files alone show the answer of the service", async () => {
  writeFileSync(join(packed, "SHA256SUMS"), checksums(packed));
  const args = ["scripts/check-release.mjs", "--files", packed, "--program", "target/debug/site-connector"];
  const { status, signal, stdout, stderr } = await runScript(args, CHECK_TIMEOUT_MS);
  // The lines tell which checks did not run on this machine, and why.
  console.log(stdout.trim());
  assert.equal(signal, null, `it did not end within ${CHECK_TIMEOUT_MS} ms: ${stderr}`);
  assert.equal(status, 0, stderr);
  const answered = stdout.split("\n").filter((line) => line.includes("is answered: "));
  assert.ok(
    answered.some((line) => line.includes("] zip: ")) && answered.some((line) => line.includes("] leptos: ")),
    stdout,
  );
});
