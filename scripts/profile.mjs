// Finds the functions of the module that no window needs at first, and writes their names for the build, which defers them:
// it counts calls in a browser, in a module with a counter in each function.

import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openChat, part, withOptions } from "../tests/e2e/chat.mjs";
import { launch, startDemo } from "../tests/e2e/demo.mjs";
import { UNASKED } from "../tests/e2e/unasked-events.mjs";
import { FEATURES, NAMED, buildDist, buildModule } from "./build.mjs";
import { buildConnector } from "./connector.mjs";
import { main, root, say, setupTest } from "./setup.mjs";
import { DEFERRED, assemble, disassemble, parse, withoutHashes } from "./split.mjs";

/** Visitors, and the attributes of the pages on which they open a window. */
const VISITORS = [
  [{}, ""],
  [{ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }, 'data-load="intent"'],
  [{ reducedMotion: "reduce" }, 'data-load="eager" data-locale="de" data-theme="amber"'],
  [{ colorScheme: "dark" }, 'data-load="intent" data-locale="ar" data-consent="required" data-position="left"'],
  [{ reducedMotion: "reduce" }, 'data-load="intent" data-events="off"'],
];
// These are spans of time and not conditions: the profile is of everything that runs within them, whatever that is. No test
// waits for them.
/** The spans before a visitor opens the window, in milliseconds: before and after the companion has stored events. */
const DELAYS_MS = [0, 2000];
/**
 * Longer than until the first events are sent and the conversation is polled, in milliseconds. The functions that run within
 * such a span are the result, so that there is no condition to wait for.
 */
const SETTLED_MS = 4000;

/** Calls of a page at its start: the controls that sites call on every page. */
const CALLS = [
  ["identify", { name: "Ann", email: "ann@example.com" }],
  ["track", "order_placed", { total: 12 }],
  ["grantConsent"],
];

/** Returns the module with a call at the start of each function, which passes the function's index in `names`. */
function instrument(text) {
  const { forms, functions } = parse(text);
  const names = [...functions.keys()];
  const counted = forms.map((form) => {
    const index = names.findIndex((name) => functions.get(name) === form);
    if (index < 0) return form;
    const [head, ...lines] = form.split("\n");
    const body = lines.findIndex((line) => !line.startsWith("  (local "));
    return [head, ...lines.slice(0, body), `  (call $called (i32.const ${index}))`, ...lines.slice(body)].join("\n");
  });
  const types = counted.filter((form) => form.startsWith(" (type"));
  const others = counted.filter((form) => !form.startsWith(" (type"));
  const counter = ' (import "profile" "called" (func $called (param i32)))';
  return { names, text: `(module\n${[...types, counter, ...others].join("\n")}\n)\n` };
}

/** Counts in `window.called`. It runs in the page, before any script. */
function count() {
  window.called = new Set();
  const profile = { called: (index) => window.called.add(index) };
  const real = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = (response, imports) => real(response, { ...imports, profile });
}

/** Opens windows as visitors do for the first time, to write. Returns the called functions. */
async function callsOf(site, browser) {
  const called = new Set();
  const visits = VISITORS.flatMap((visit) => DELAYS_MS.map((delay) => [...visit, delay]));
  for (const [visitor, attributes, delay] of visits) {
    const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, ...visitor });
    await context.addInitScript(count);
    const page = await context.newPage();
    const take = async () => {
      await page.waitForTimeout(SETTLED_MS);
      for (const index of await page.evaluate(() => [...window.called])) called.add(index);
    };
    await withOptions(attributes)(page);
    // What happens while events are on their way is different from what happens after that.
    if (!delay) await page.route("**/connector/**/events", () => {});
    await page.addInitScript((calls) => (window.chatWidget = calls), delay ? CALLS : []);
    await page.goto(site);
    await page.waitForTimeout(delay);
    await openChat(page);
    await part(page, "input").pressSequentially("How long does");
    await take();
    for (const happen of Object.values(UNASKED)) await happen(page);
    await take();
    await context.close();
  }
  return called;
}

await main(async () => {
  const { browser: path } = setupTest();
  buildConnector();
  await buildModule();
  await buildDist();
  const folder = join(root, "target", "profile");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The demo would send a compressed file in place of the module that counts.
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true, filter: (file) => !file.endsWith(".br") });
  const { names, text } = instrument(disassemble(NAMED, FEATURES));
  assemble(text, join(folder, "counted.wasm"), FEATURES);
  copyFileSync(join(folder, "counted.wasm"), join(folder, "dist/chat-widget.wasm"));
  process.env.WIDGET_DIR = join(folder, "dist");
  process.env.CHROMIUM = path;
  const demo = await startDemo();
  const browser = await launch();
  const called = await callsOf(demo.site, browser).finally(async () => {
    await browser.close();
    await demo.stop();
  });
  const needed = new Set([...called].map((index) => withoutHashes(names[index])));
  // A function without a name of its own has a number, which means another function in the next build.
  const own = new Set(names.map(withoutHashes).filter((name) => !/^\d+$/.test(name)));
  const deferred = [...own].filter((name) => !needed.has(name)).sort();
  writeFileSync(join(root, DEFERRED), `${deferred.join("\n")}\n`);
  say(`${DEFERRED}: ${deferred.length} of ${names.length} functions are deferred`);
});
