// Measures the widget's cost for its page: the shop on a slow network and a slow processor, without a chat, with ours in three
// ways to load, with a launcher and a window by hand in Preact, and with Deep Chat from npm.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { launch, startDemo } from "../tests/e2e/demo.mjs";
import { keepMemory } from "../tests/e2e/memory.mjs";
import { VARIANTS, serve } from "./bench/shop.mjs";
import { LINE, median, SLOWER } from "./bench/slow.mjs";
import { buildConnector } from "./connector.mjs";
import { requireSteps } from "./run-steps.mjs";
import { Advice, chromium, main, root, run, say, setupBuild } from "./setup.mjs";

/** The number of visits of which each figure is the median. */
const VISITS = Number(process.env.VISITS ?? 9);
/** The time without activity after which a page counts as quiet, in milliseconds. */
const QUIET = 1500;

/** The version of Deep Chat that is compared. */
const DEEP_CHAT = "2.4.2";
const COMPARED = join(root, "target", "bench-page");

/** The limits of the medians. */
const LIMITS = { first: 1.5, returning: 1.2, blocking: 0, shift: 0, bytes: 4096, idleBytes: 8192 };
/** The variants that have to keep them. `eager` starts with the page, as a site may choose. */
const LIMITED = ["idle", "intent"];

/** Records paint, layout shifts and long tasks. It runs in the page before any other script. */
function watch() {
  const seen = { blocking: 0, shift: 0 };
  const launcher = () =>
    document.getElementById("by-hand") ??
    document.querySelector("chat-widget")?.shadowRoot?.querySelector("[part~=launcher]");
  const look = () => {
    // The launcher is painted at the end of this frame.
    if (launcher()?.getBoundingClientRect().width > 0) requestAnimationFrame((at) => (seen.launcher = at));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.blocking += Math.max(0, duration - 50);
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) seen.shift += value;
  }).observe({ type: "layout-shift", buffered: true });
  window.seen = seen;
}

/** Opens the page, waits until it is quiet, and returns the measurements and the bytes of the widget. */
async function visit(context, site, variant) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  const addresses = new Map();
  const bytes = { load: 0, all: 0, requests: 0 };
  let loaded = false;
  let last = performance.now();
  let underWay = 0;
  // The length of a body as transferred, without the head.
  const heads = new Map();
  session.on("Network.responseReceived", ({ requestId, response }) => heads.set(requestId, response.encodedDataLength));
  session.on("Network.requestWillBeSent", ({ requestId, request: { url } }) => {
    addresses.set(requestId, url);
    underWay += 1;
    last = performance.now();
  });
  const done = ({ requestId, encodedDataLength = 0 }) => {
    underWay -= 1;
    last = performance.now();
    if (!/\/(chat-widget|connector)\/|\/(by-hand|deep-chat)\.js$/.test(addresses.get(requestId) ?? "")) return;
    if (!addresses.get(requestId).includes("/connector/")) bytes.requests += 1;
    const length = Math.max(0, encodedDataLength - (heads.get(requestId) ?? 0));
    bytes.all += length;
    if (!loaded) bytes.load += length;
  };
  session.on("Network.loadingFinished", done);
  session.on("Network.loadingFailed", done);
  page.once("load", () => (loaded = true));
  await page.addInitScript(watch);
  await page.addInitScript(keepMemory);
  await session.send("Performance.enable");
  await page.goto(`${site}/${variant}.html`, { waitUntil: "load" });
  while (underWay > 0 || performance.now() - last < QUIET)
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
  const { metrics } = await session.send("Performance.getMetrics");
  const main = 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  const memory = await page.evaluate(() => (window.moduleMemory?.buffer.byteLength ?? 0) / 1e6);
  return { page, bytes, main, memory, ...(await page.evaluate(() => window.seen)) };
}

/** Returns the time from a click on the launcher to a window with a usable input, in milliseconds. */
async function clickToWindow(page) {
  const opened = page.evaluate(
    () =>
      new Promise((resolve) => {
        const input = () =>
          document.querySelector("chat-widget")?.shadowRoot.querySelector("[part~=input]") ??
          document.querySelector("deep-chat")?.shadowRoot?.querySelector("#text-input") ??
          document.querySelector("[role=dialog] textarea");
        const onClick = ({ timeStamp }) => {
          const look = () => {
            // It is painted at the end of the frame.
            if (input()?.getBoundingClientRect().height > 0)
              requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)));
            else requestAnimationFrame(look);
          };
          look();
        };
        addEventListener("click", onClick, { capture: true, once: true });
      }),
  );
  await page.locator("[part~=launcher], #by-hand").click();
  return opened;
}

/** The page's own first layout takes about 50 ms here, so its blocking time varies from visit to visit. */
const MAX_P_VALUE = 0.05;

/** Returns the p-value of the sign test: the probability of this many positive differences by chance. */
function pValueOf(differences) {
  const unequal = differences.filter((difference) => difference !== 0).length;
  const above = differences.filter((difference) => difference > 0).length;
  let ways = 1;
  let atLeast = 0;
  for (let count = 0; count <= unequal; count += 1) {
    if (count >= above) atLeast += ways;
    ways = (ways * (unequal - count)) / (count + 1);
  }
  return atLeast / 2 ** unequal;
}

/** The columns of the table: title, figure, digits, and factor. */
const COLUMNS = [
  ["KB", "bytes", 1, 0.001],
  ["requests", "requests", 0],
  ["launcher ms", "launcher", 0],
  ["open ms", "open", 0],
  ["main thread ms", "main", 0],
  ["blocking ms", "blocking", 0],
  ["WebAssembly MB", "memory", 2],
];

/** Bundles a file of `scripts/bench/`, with Deep Chat from npm, and returns it compressed. */
async function bundle(entry) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(root, "scripts/bench", entry)],
    nodePaths: [join(COMPARED, "node_modules")],
    bundle: true,
    minify: true,
    write: false,
    jsxFactory: "h",
    logLevel: "warning",
  });
  return brotliCompressSync(outputFiles[0].contents);
}

await main(async () => {
  setupBuild();
  await chromium();
  await requireSteps("build:dist");
  buildConnector();
  mkdirSync(COMPARED, { recursive: true });
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", COMPARED, `deep-chat@${DEEP_CHAT}`]);
  const files = new Map();
  for (const [path, entry] of [
    ["/by-hand.js", "preact.jsx"],
    ["/deep-chat.js", "deep-chat.js"],
  ])
    files.set(path, await bundle(entry));
  const demo = await startDemo();
  const { server, site } = await serve(files, demo);
  const browser = await launch();
  const figures = {};
  const keep = (variant, name, figure) => ((figures[variant] ??= {})[name] ??= []).push(figure);
  try {
    say(
      `${VISITS} visits each, Slow 4G, processor ${SLOWER} times slower: medians, and in brackets the range; main thread and blocking over the page alone`,
    );
    for (let round = 0; round < VISITS; round += 1) {
      for (const variant of Object.keys(VARIANTS)) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
        for (const when of ["first", "returning"]) {
          const { page, bytes, main, memory, launcher = NaN, blocking, shift } = await visit(context, site, variant);
          keep(variant, `${when} requests`, bytes.requests);
          keep(variant, `${when} main`, main);
          keep(variant, `${when} memory`, memory);
          keep(variant, `${when} launcher`, launcher);
          keep(variant, `${when} blocking`, blocking);
          keep(variant, `${when} shift`, shift);
          keep(variant, `${when} bytes before load`, bytes.load);
          keep(variant, `${when} bytes`, bytes.all);
          // With `idle` the files are in the cache by then; with `intent` they are the second time. The click starts the module.
          if (variant !== "none") keep(variant, `${when} open`, await clickToWindow(page));
          await page.close();
        }
        await context.close();
      }
    }
  } finally {
    await browser.close();
    await demo.stop();
    server.close();
  }
  const of = (variant, name) => median(figures[variant][name]);
  console.log("");
  console.log(`| ${["", ...COLUMNS.map(([title]) => title)].join(" | ")} |`);
  console.log(`| --- |${COLUMNS.map(() => " ---: |").join("")}`);
  for (const when of ["first", "returning"]) {
    for (const variant of Object.keys(VARIANTS).slice(1)) {
      const cells = COLUMNS.map(([, name, digits, scale = 1]) => {
        const alone = name === "main" || name === "blocking" ? of("none", `${when} ${name}`) : 0;
        const all = figures[variant][`${when} ${name}`].map((figure) => (figure - alone) * scale);
        const [least, most] = [Math.min(...all), Math.max(...all)].map((figure) => figure.toFixed(digits));
        return `${median(all).toFixed(digits)} (${least} to ${most})`;
      });
      console.log(`| ${[`${variant}, ${when} visit`, ...cells].join(" | ")} |`);
    }
  }
  console.log("");
  const exceeded = [];
  const demand = (sentence, figure, limit, pValue = 0) => {
    const kept = figure <= limit || pValue > MAX_P_VALUE;
    const note = pValue > 0 ? ` (p = ${pValue.toFixed(2)})` : "";
    say(`${kept ? "within" : "EXCEEDED"}  ${sentence}: ${Number(figure.toFixed(2))} of ${limit}${note}`);
    if (!kept) exceeded.push(sentence);
  };
  for (const variant of LIMITED) {
    for (const when of ["first", "returning"]) {
      const compared = (name) => of(variant, `${when} ${name}`) - of("none", `${when} ${name}`);
      const blocking = figures[variant][`${when} blocking`].map(
        (ms, round) => ms - figures.none[`${when} blocking`][round],
      );
      demand(
        `${variant}, ${when} visit: launcher, times of the one by hand`,
        of(variant, `${when} launcher`) / of("hand", `${when} launcher`),
        LIMITS[when],
      );
      demand(
        `${variant}, ${when} visit: blocking time added, ms`,
        median(blocking),
        LIMITS.blocking,
        pValueOf(blocking),
      );
      demand(`${variant}, ${when} visit: layout shift added`, compared("shift"), LIMITS.shift);
      demand(
        `${variant}, ${when} visit: bytes before the page's load`,
        of(variant, `${when} bytes before load`),
        LIMITS.bytes,
      );
    }
  }
  demand("intent: bytes without any intent", of("intent", "first bytes"), LIMITS.idleBytes);
  if (exceeded.length > 0) throw new Advice(`${exceeded.length} limits exceeded`);
});
