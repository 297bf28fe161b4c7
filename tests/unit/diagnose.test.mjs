// `diagnose()` in front of a server and a page that are stubs: each problem is reported with advice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "../../scripts/options.mjs";
// It defines the globals of a page.
import "./option-parsers.mjs";

const LAZY = ["validate-options", "host-page", "page-listeners", "diagnose", "recover", "update", "derive"];
/** The files that each page loads without a table of the build. */
const OWN = ["companion", "waiting", "element", "progress", "mail-link"];
const NAMES = ["options", "wasm", "files", "launcher", "proxy", "config", "clock", "storage", "policy"];
const BASE = "https://shop.example/chat-widget/diagnose.mjs";
/** A module with nothing in it. */
const WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

const { default: diagnose } = await importSource("www/diagnose.ts", {
  LAZY_FILES: JSON.stringify(LAZY.join(" ")),
  LANGUAGES: JSON.stringify("de fr"),
});

const typed = (type, body = "") => new Response(body, { headers: { "Content-Type": type } });
const HTML = () => typed("text/html", "<p>");
const gone = () => new Response("", { status: 404 });

/** The response of a server on which everything works. */
function working({ pathname }) {
  if (pathname.endsWith(".wasm")) return typed("application/wasm", WASM);
  if (pathname.endsWith(".mjs")) return typed("text/javascript");
  if (pathname !== "/connector/chat/config") return gone();
  const headers = { Date: new Date().toUTCString() };
  return Response.json({ ok: true, data: { config: { enabled: true } } }, { headers });
}

/**
 * Runs the checks for a script tag with these attributes, without `data-`. `answers` returns the response to a URL that
 * is not the usual one, or throws; `page` are replaced members of the page. Returns all checks.
 */
async function run(attributes = {}, answers = () => undefined, { buttons = [], storage = {}, refuses = [] } = {}) {
  const listeners = [];
  Object.assign(globalThis.document, {
    baseURI: globalThis.location.href,
    addEventListener: (name, listener) => listeners.push([name, listener]),
    removeEventListener: (name, listener) => {
      const at = listeners.findIndex(([known, one]) => known === name && one === listener);
      listeners.splice(at, 1);
    },
    querySelectorAll: () => buttons,
  });
  globalThis.localStorage = { setItem() {}, removeItem() {}, ...storage };
  globalThis.fetch = async (address, options) => {
    const url = new URL(address, globalThis.location);
    for (const effectiveDirective of refuses) for (const [, listener] of listeners) listener({ effectiveDirective });
    return (await answers(url, options)) ?? working(url);
  };
  const dataset = Object.entries(attributes).map(([name, text]) => [
    name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()),
    text,
  ]);
  const { ok, checks } = await diagnose({ proxy: "/connector", ...Object.fromEntries(dataset) }, BASE);
  assert.deepEqual([...new Set(checks.map(({ name }) => name))], NAMES);
  assert.equal(
    ok,
    checks.every(({ ok }) => ok),
  );
  assert.deepEqual(listeners, [], "no listener is left");
  return checks;
}

/** Returns the failed checks, each as `name: message`. */
const failures = async (...page) =>
  (await run(...page)).filter(({ ok }) => !ok).map(({ name, message }) => `${name}: ${message}`);

/** Returns a function that gives this response for addresses that end like this. */
const at = (ending, answer) => (url) => (url.pathname.endsWith(ending) ? answer() : undefined);

for (const [setup, attributes, page] of [
  ["with default options", {}],
  ["in German, with a theme and an offset", { locale: "de", theme: "rose", offset: '{"x":40}' }],
  ["with attributes of other tools", { cfasync: "false", "wp-strategy": "async" }],
  ["with the page's own launcher", { launcher: ".brand" }, { buttons: [{ getClientRects: () => [{}] }] }],
])
  test(`no problem is reported on a working page ${setup}`, async () => {
    assert.deepEqual(await failures(attributes, undefined, page), []);
  });

for (const [name, text, message] of [
  ["theme", "tael", /data-theme="tael" is not a theme; expected one of teal, .*; using teal/],
  ["color-scheme", "drak", /expected one of theme, auto, light, dark/],
  ["locale", "de, please", /is not a language tag; expected a language tag \(BCP 47\)/],
  ["position", "top", /expected one of end, start/],
  ["events", "some", /expected one of auto, manual, off/],
  ["consent", "yes", /is not a state of consent; expected one of granted, required; using required/],
  ["load", "later", /expected one of idle, intent, eager/],
  ["contact", "help@shop.example", /expected an address that begins with https:\/\/, mailto: or tel:/],
  ["z-index", "high", /expected a whole number/],
  ["offset", "40", /expected an object such as {"x": 40, "y": 20}/],
  ["visitor", "Ann", /expected an object such as {"name"/],
  ["strings", "Go", /expected an object such as {"send"/],
  ["theme-tokens", '{"accents":"red"}', /data-theme-tokens\.accents="red" is not a token/],
  ["suggested-questions", "How?", /expected an array of at most 20 strings/],
  ["greeting", '{"after":5}', /is not a greeting/],
  ["isolate", "perhaps", /expected true or false/],
  ["preview", "perhaps", /expected true or false/],
  ["title-alert", "perhaps", /expected true or false/],
  ["customer-id", "a".repeat(201), /expected a string of at most 200 characters/],
  ["launcher", "##", /is not a selector/],
  ["container", "#nope", /data-container="#nope" is not on this page/],
  ["themetokens", "{}", /data-themetokens is not an option; expected data-theme-tokens/],
])
  test(`the invalid data-${name} is named with its accepted values`, async () => {
    const [wrong, ...others] = await failures({ [name]: text });
    assert.match(wrong, message);
    assert.ok(wrong.startsWith("options: "));
    assert.deepEqual(others, []);
  });

const refuse = () => {
  throw new TypeError("Failed to fetch");
};

for (const [problem, expected, answers, attributes] of [
  [
    "a missing theme file",
    /^files: .*\/themes\/rose\.mjs answers with status 404\. All files of dist\/ must stand beside each other/,
    at("/themes/rose.mjs", gone),
    { theme: "rose" },
  ],
  [
    "a missing language file",
    /^files: .*\/locales\/de\.mjs answers with status 404/,
    at("/locales/de.mjs", gone),
    { locale: "de" },
  ],
  [
    "an HTML page instead of the module",
    /^files: The server sends .*\/chat-widget\.mjs as text\/html, which no browser runs as a module/,
    at("/chat-widget.mjs", HTML),
  ],
  ...[...LAZY, ...OWN].map((name) => [
    `a missing ${name}.mjs`,
    new RegExp(`^files: .*/${name}\\.mjs answers with status 404`),
    at(`/${name}.mjs`, gone),
  ]),
  [
    "many missing files by the first three and a number",
    /^files: .*\/chat-widget\.mjs .*\/element\.mjs .*\/progress\.mjs .* Number of other files with problems: 11\.$/,
    at(".mjs", gone),
  ],
  ...["chat-widget", "deferred"].map((name) => [
    `a missing ${name}.wasm`,
    new RegExp(`^wasm: .*${name}\\.wasm answers with status 404`),
    at(`/${name}.wasm`, gone),
  ]),
  ["an HTML page instead of the WebAssembly module", /^wasm: .*is not a valid WebAssembly module/, at(".wasm", HTML)],
  [
    "a WebAssembly module with a wrong Content-Type",
    /^wasm: The server sends .* as application\/octet-stream/,
    at(".wasm", () => typed("application/octet-stream", WASM)),
  ],
  [
    "a file that cannot be fetched",
    /^files: .*\/waiting\.mjs cannot be loaded \(TypeError: Failed to fetch\)\. Check that its server is up/,
    at("/waiting.mjs", refuse),
  ],
  [
    "a launcher selector without a match",
    /^launcher: The option launcher, \.nope, matches nothing on this page, so that nobody can open the chat\. Correct the selector/,
    undefined,
    { launcher: ".nope" },
  ],
  [
    "a proxy with another prefix",
    /^proxy: There is no proxy at \/conector\/chat\/config/,
    undefined,
    { proxy: "/conector" },
  ],
  ["a rejected token", /^proxy: The service refuses the proxy's token \(401\)/, at("/config", () => refusal(401))],
  [
    "a proxy that fails",
    /^proxy: \/connector\/chat\/config answers with status 502\. /,
    at("/config", () => refusal(502)),
  ],
  ["a proxy out of reach", /^proxy: The proxy cannot be reached at \/connector\/chat\/config/, at("/config", refuse)],
  [
    "an invalid proxy",
    /^proxy: invalid option proxy: expected a prefix on this site/,
    undefined,
    { proxy: "/c?site=1" },
  ],
  [
    "a proxy on another origin",
    /^proxy: There is no proxy at https:\/\/api\.example\/x\/chat\/config: .* what visitors write goes to https:\/\/api\.example\./,
    undefined,
    { proxy: "https://api.example/x" },
  ],
  ["an HTML page instead of the proxy", /^config: .*it must be JSON with ok and data/, at("/config", HTML)],
  [
    "a chat that is switched off",
    /^config: The chat is switched off/,
    at("/config", () => Response.json({ ok: true, data: { config: { enabled: false } } })),
  ],
  [
    "a clock that is ten minutes off",
    /^clock: .* are 10 minutes apart/,
    at("/config", () => configAt(Date.now() - 600_000)),
  ],
])
  test(`it reports ${problem}`, async () => {
    const wrong = await failures(attributes, answers);
    assert.ok(
      wrong.some((line) => expected.test(line)),
      wrong.join("\n"),
    );
  });

const refusal = (status) => Response.json({ ok: false }, { status });
const configAt = (ms) =>
  Response.json({ ok: true, data: { config: {} } }, { headers: { Date: new Date(ms).toUTCString() } });

test("it reports files on another host that does not allow the page", async () => {
  const answers = (url, { mode }) => (/\.(mjs|wasm)$/.test(url.pathname) && mode !== "no-cors" ? refuse() : undefined);
  const { location } = globalThis;
  globalThis.location = new URL("https://other.example/");
  try {
    const wrong = (await failures({ proxy: "https://shop.example/connector" }, answers)).join("\n");
    assert.match(wrong, /^wasm: https:\/\/shop\.example does not let this page read .*chat-widget\.wasm: a host/m);
    assert.match(wrong, /^files: https:\/\/shop\.example does not let this page read .*chat-widget\.mjs: a host/m);
  } finally {
    globalThis.location = location;
  }
});

test("it reports launchers that are all invisible", async () => {
  const buttons = [{ getClientRects: () => [] }, { getClientRects: () => [{}], checkVisibility: () => false }];
  const [wrong, ...others] = await failures({ launcher: ".brand" }, undefined, { buttons });
  assert.match(wrong, /^launcher: .*, matches 2 of the page's elements, and none of them is visible/);
  assert.deepEqual(others, []);
});

test("it reports storage that is blocked, and the directives of the policy that block the widget", async () => {
  const setItem = () => {
    throw new Error("denied");
  };
  const wrong = await failures({}, undefined, { storage: { setItem }, refuses: ["connect-src", "script-src"] });
  assert.equal(wrong.length, 2);
  assert.match(wrong[0], /^storage: The browser stores nothing for this page \(Error: denied\)/);
  assert.match(wrong[1], /^policy: .* by these directives: connect-src, script-src\. docs\/csp\.md/);
});

test("a fetch of the page that throws anything is reported", async () => {
  const answers = at("/config", () => {
    throw Symbol("no");
  });
  assert.match((await failures({}, answers)).join("\n"), /^proxy: The proxy cannot be reached .* \(Symbol\(no\)\)/m);
});
