// Compares what crates/page reads of HTML files with what Chromium reads of them:
// node scripts/compare-pages.mjs FOLDER… prints each field that differs, and their share.
// Build the reader first: cargo build --release -p chat-page --example read

import { spawn } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { root } from "./setup.mjs";

const READER =
  process.env.READER ?? join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "release/examples/read");
const FIELDS = ["title", "description", "language", "canonical", "robots", "text"];

/** Returns the HTML files in a folder, without links to files. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.html?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => realpathSync(file) === resolve(file));

/** Reads the page that the browser shows: the same fields as `examples/read.rs`. */
function readInBrowser() {
  const one = (selector, name) => document.querySelector(selector)?.getAttribute(name)?.replace(/\s+/g, " ").trim();
  const robots = [...document.querySelectorAll("meta[name=robots i], meta[name=googlebot i]")];
  for (const menu of document.querySelectorAll("nav, [role=navigation], .navheader, .navfooter")) menu.remove();
  return {
    title: document.title,
    description: one("meta[name=description i][content]", "content"),
    language: document.documentElement.lang || document.documentElement.getAttribute("xml:lang"),
    canonical: one("link[rel~=canonical i]", "href"),
    robots: robots.flatMap((meta) => meta.content.toLowerCase().split(/[\s,]+/)),
    text: (document.querySelector("main") ?? document.body)?.innerText,
  };
}

/** Returns the words of a text, each once: a header of a table is repeated in each row. */
const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Returns how two values of a field differ, or nothing. */
function difference(field, ours, theirs) {
  if (field !== "text") {
    const [one, other] = [ours, theirs].map((value) => (value ?? []).toString());
    return one === other ? undefined : `${JSON.stringify(one)} is ${JSON.stringify(other)} in the browser`;
  }
  const [read, shown] = [words(ours), words(theirs ?? "")];
  const missing = [...shown].filter((word) => !read.has(word));
  const added = [...read].filter((word) => !shown.has(word));
  if (missing.length + added.length === 0) return undefined;
  return `missing ${JSON.stringify(missing.slice(0, 20))}, added ${JSON.stringify(added.slice(0, 20))}`;
}

const files = process.argv.slice(2).flatMap(filesIn);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await (await browser.newContext({ javaScriptEnabled: true })).newPage();
// Only the page itself: no script changes it, and no style hides anything.
await page.route("**/*", (route) => (route.request().resourceType() === "document" ? route.continue() : route.abort()));
const reader = spawn(READER, files, { stdio: ["ignore", "pipe", "inherit"] });
let [compared, differing] = [0, 0];
for await (const line of createInterface({ input: reader.stdout })) {
  const ours = JSON.parse(line);
  await page.goto(pathToFileURL(ours.file).href, { waitUntil: "domcontentloaded" });
  const theirs = await page.evaluate(readInBrowser);
  for (const field of FIELDS) {
    compared += 1;
    const found = difference(field, ours[field], theirs[field]);
    if (found === undefined) continue;
    differing += 1;
    console.log(`${ours.file}: ${field}: ${found}`);
  }
}
await browser.close();
console.log(
  `${files.length} pages, ${compared} fields, ${differing} differ: ${((100 * differing) / compared).toFixed(3)} %`,
);
