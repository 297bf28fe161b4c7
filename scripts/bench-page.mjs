// Measures the widget's cost for its page: the shop on a slow network and a slow processor, without a widget, with one that
// loads on `idle` and on `intent`, and with a minimal hand-written launcher in Preact.

import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { launch, startDemo } from "../tests/e2e/demo.mjs";
import { buildIfStale } from "./build.mjs";
import { Advice, chromium, main, root, run, say, setupBuild } from "./setup.mjs";

/** Lighthouse's Slow 4G: milliseconds, and bytes per second. */
const LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
};
/** The factor by which the processor is slowed. */
const SLOWER = 4;
/** The number of visits of which each figure is the median. */
const VISITS = Number(process.env.VISITS ?? 9);
/** The time without activity after which a page counts as quiet, in milliseconds. */
const QUIET = 1500;

/** The limits of the medians. */
const LIMITS = { first: 1.5, returning: 1.2, blocking: 0, shift: 0, bytes: 4096, idleBytes: 8192 };

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};
const TAG = /<script async src="\/chat-widget\/chat-widget\.js"[^>]*><\/script>/;
const tagOf = (load) =>
  `<script async src="/chat-widget/chat-widget.js" data-proxy="/connector" data-locale="en-US" data-load="${load}"></script>`;
const VARIANTS = {
  none: "",
  hand: '<script async src="/by-hand.js"></script>',
  idle: tagOf("idle"),
  intent: tagOf("intent"),
};

/** Serves the shop as a site would: compressed, cached by the browser, and with the demo's proxy. */
async function serve(files, demo) {
  const shop = readFileSync(join(root, "www/demo/index.html"), "utf8");
  if (!TAG.test(shop)) throw new Error("the shop's page has no script tag of the widget");
  for (const [name, tag] of Object.entries(VARIANTS))
    files.set(`/${name}.html`, brotliCompressSync(shop.replace(TAG, tag)));
  const find = (path) => {
    const folder = path.startsWith("/chat-widget/")
      ? ["dist", path.slice("/chat-widget/".length)]
      : ["www/demo", path.slice(1)];
    return brotliCompressSync(readFileSync(join(root, ...folder)));
  };
  const server = createServer((incoming, answer) => {
    const { pathname } = new URL(incoming.url, "http://shop");
    if (pathname.startsWith("/connector/")) {
      const passed = request(demo.site + incoming.url, {
        method: incoming.method,
        headers: { ...incoming.headers, host: new URL(demo.site).host, origin: demo.site },
      });
      passed.on("response", (response) => response.pipe(answer.writeHead(response.statusCode, response.headers)));
      passed.on("error", () => answer.destroy());
      incoming.pipe(passed);
      return;
    }
    try {
      if (!files.has(pathname)) files.set(pathname, find(pathname));
      const cached = pathname.endsWith(".html") ? "no-cache" : "max-age=31536000, immutable";
      answer
        .writeHead(200, { "Content-Type": TYPES[extname(pathname)], "Content-Encoding": "br", "Cache-Control": cached })
        .end(files.get(pathname));
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, site: `http://127.0.0.1:${server.address().port}` };
}

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
  const bytes = { load: 0, all: 0 };
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
    if (!/\/(chat-widget|connector)\//.test(addresses.get(requestId) ?? "")) return;
    const length = Math.max(0, encodedDataLength - (heads.get(requestId) ?? 0));
    bytes.all += length;
    if (!loaded) bytes.load += length;
  };
  session.on("Network.loadingFinished", done);
  session.on("Network.loadingFailed", done);
  page.once("load", () => (loaded = true));
  await page.addInitScript(watch);
  await page.goto(`${site}/${variant}.html`, { waitUntil: "load" });
  while (underWay > 0 || performance.now() - last < QUIET)
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
  return { page, bytes, ...(await page.evaluate(() => window.seen)) };
}

/** Returns the time from a click on the launcher to a window with a usable input, in milliseconds. */
async function clickToWindow(page) {
  const pressed = page.evaluate(
    () =>
      new Promise((resolve) => {
        const root = document.querySelector("chat-widget").shadowRoot;
        root.querySelector("[part~=launcher]").addEventListener("click", ({ timeStamp }) => {
          const look = () => {
            if (root.activeElement?.matches("[part~=input]")) resolve(performance.now() - timeStamp);
            else requestAnimationFrame(look);
          };
          look();
        });
      }),
  );
  await page.locator("[part~=launcher]").click();
  return pressed;
}

const median = (figures) => figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)];

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

await main(async () => {
  setupBuild();
  await chromium();
  await buildIfStale();
  run("cargo", ["build", "--quiet", "--package", "chat-connector"]);
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(root, "scripts/bench/preact.jsx")],
    bundle: true,
    minify: true,
    write: false,
    jsxFactory: "h",
    logLevel: "warning",
  });
  const byHand = brotliCompressSync(outputFiles[0].contents);
  const demo = await startDemo();
  const { server, site } = await serve(new Map([["/by-hand.js", byHand]]), demo);
  const browser = await launch();
  const figures = {};
  const keep = (variant, name, figure) => ((figures[variant] ??= {})[name] ??= []).push(figure);
  try {
    say(
      `${VISITS} visits each, Slow 4G, processor ${SLOWER} times slower; the launcher by hand is ${byHand.length} bytes`,
    );
    for (let round = 0; round < VISITS; round += 1) {
      for (const variant of Object.keys(VARIANTS)) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
        for (const when of ["first", "returning"]) {
          const { page, bytes, launcher = NaN, blocking, shift } = await visit(context, site, variant);
          keep(variant, `${when} launcher`, launcher);
          keep(variant, `${when} blocking`, blocking);
          keep(variant, `${when} shift`, shift);
          keep(variant, `${when} bytes before load`, bytes.load);
          keep(variant, `${when} bytes`, bytes.all);
          // With `idle` the files are in the cache by then; with `intent` they are the second time. The click starts the module.
          if (variant === "idle" || variant === "intent") keep(variant, `${when} click`, await clickToWindow(page));
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
  say("                  launcher (ms)  blocking (ms)  shift   bytes before load      bytes   click to window (ms)");
  for (const when of ["first", "returning"]) {
    for (const variant of Object.keys(VARIANTS)) {
      const cells = [
        `${when} ${variant}`.padEnd(18),
        variant === "none" ? " ".repeat(13) : of(variant, `${when} launcher`).toFixed(0).padStart(13),
        of(variant, `${when} blocking`).toFixed(0).padStart(15),
        of(variant, `${when} shift`).toFixed(3).padStart(7),
        of(variant, `${when} bytes before load`).toFixed(0).padStart(20),
        of(variant, `${when} bytes`).toFixed(0).padStart(11),
        figures[variant][`${when} click`] ? of(variant, `${when} click`).toFixed(0).padStart(23) : "",
      ];
      say(cells.join(""));
    }
  }
  const exceeded = [];
  const demand = (sentence, figure, limit, pValue = 0) => {
    const kept = figure <= limit || pValue > MAX_P_VALUE;
    const note = pValue > 0 ? ` (p = ${pValue.toFixed(2)})` : "";
    say(`${kept ? "within" : "EXCEEDED"}  ${sentence}: ${Number(figure.toFixed(2))} of ${limit}${note}`);
    if (!kept) exceeded.push(sentence);
  };
  for (const variant of ["idle", "intent"]) {
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
