// `diagnose()` reports each problem with advice, and none on a working page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, eventually, openChat, part, ready, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { WIDGET_DIR = join(root, "dist") } = process.env;
const KINDS = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const NAMES = ["options", "wasm", "files", "launcher", "proxy", "config", "clock", "storage", "policy"];

const diagnose = (page) => page.evaluate(() => window.chatWidget.diagnose());
/** Returns the failed checks, each as `name: message`. */
async function failedChecks(page) {
  await page.waitForFunction(() => window.chatWidget?.diagnose);
  const { ok, checks } = await diagnose(page);
  const wrong = checks.filter(({ ok }) => !ok);
  assert.equal(ok, wrong.length === 0);
  return wrong.map(({ name, message }) => `${name}: ${message}`);
}

for (const [setup, attributes, options] of [
  ["with default options", ""],
  [
    "in German, with a theme, an offset and the page's own launcher",
    `data-locale="de" data-theme="rose" data-offset='{"x":40}' data-launcher=".brand"`,
  ],
  ["in a container", 'data-container="main"'],
  ["with attributes of other tools", 'data-cfasync="false" data-wp-strategy="async"'],
]) {
  test(`diagnose() reports no problem on a working page ${setup}`, async ({ visit }) => {
    const page = await visit({ prepare: withOptions(attributes), ...options });
    await ready(page);
    const { ok, checks } = await diagnose(page);
    assert.deepEqual([ok, checks.filter(({ ok }) => !ok)], [true, []]);
    assert.deepEqual(
      checks.map(({ name }) => name),
      NAMES,
    );
  });
}

const INVALID = {
  theme: ["tael", /data-theme="tael" is not a theme; expected one of teal, .*; using teal/],
  "color-scheme": ["drak", /expected one of theme, auto, light, dark/],
  locale: ["de, please", /is not a language tag; expected a language tag \(BCP 47\)/],
  position: ["top", /expected one of end, start/],
  events: ["some", /expected one of auto, manual, off/],
  consent: ["yes", /is not a state of consent; expected one of granted, required; using required/],
  load: ["later", /expected one of idle, intent, eager/],
  contact: ["help@shop.example", /expected an address that begins with https:\/\/, mailto: or tel:/],
  "z-index": ["high", /expected a whole number/],
  offset: ["40", /expected an object such as {"x": 40, "y": 20}/],
  visitor: ["Ann", /expected an object such as {"name"/],
  strings: ["Go", /expected an object such as {"send"/],
  "theme-tokens": ['{"accents":"red"}', /data-theme-tokens\.accents="red" is not a token/],
  "suggested-questions": ["How?", /expected an array of at most 20 strings/],
  greeting: ['{"after":5}', /is not a greeting/],
  isolate: ["perhaps", /expected true or false/],
  preview: ["perhaps", /expected true or false/],
  "title-alert": ["perhaps", /expected true or false/],
  "customer-id": ["a".repeat(201), /expected a string of at most 200 characters/],
  launcher: ["##", /is not a selector/],
  container: ["#nope", /data-container="#nope" is not on this page/],
  themetokens: ["{}", /data-themetokens is not an option; expected data-theme-tokens/],
};

test("diagnose() names each invalid option and its accepted values", async ({ visit, recordOf }) => {
  for (const [name, [text, message]] of Object.entries(INVALID)) {
    const prepare = async (page) => {
      recordOf(page).tolerate("; expected ");
      await withOptions(`data-${name}='${text}'`)(page);
    };
    const page = await visit({ prepare });
    const wrong = await failedChecks(page);
    assert.equal(wrong.length, 1, `${name}: ${wrong.join("\n")}`);
    assert.match(wrong[0], message);
    assert.ok(wrong[0].startsWith("options: "));
    await page.context().close();
  }
});

test("diagnose() names the invalid attribute of an element", async ({ visit, recordOf }) => {
  const body =
    '<chat-widget inline proxy="/connector" theme="tael"></chat-widget><script type="module" src="/chat-widget/element.mjs"></script>';
  const prepare = async (page) => {
    recordOf(page).tolerate("; expected ");
    await pageOf(body)(page);
  };
  const page = await visit({ prepare });
  await page.waitForFunction(() => customElements.get("chat-widget"));
  const { ok, checks } = await page.locator("chat-widget").evaluate((element) => element.diagnose());
  assert.equal(ok, false);
  assert.deepEqual(
    checks.filter(({ ok }) => !ok).map(({ name, message }) => [name, message.split(";")[0]]),
    [["options", 'chat widget: theme="tael" is not a theme']],
  );
});

for (const [problem, pattern, answer, attributes, expected] of [
  [
    "a missing theme file",
    "**/themes/*.mjs",
    { status: 404 },
    'data-theme="rose"',
    /^files: .*\/themes\/rose\.mjs answers with status 404\. All files of dist\/ must stand beside each other/,
  ],
  [
    "a missing language file",
    "**/locales/*.mjs",
    { status: 404 },
    'data-locale="de"',
    /^files: .*\/locales\/de\.mjs answers with status 404/,
  ],
  ["a missing style sheet", "**/styles.mjs", { status: 404 }, "", /^files: .*\/styles\.mjs answers with status 404/],
  [
    "an HTML page instead of the module",
    "**/chat-widget.mjs",
    { contentType: "text/html", body: "<p>" },
    "",
    /^files: The server sends .*\/chat-widget\.mjs as text\/html, which no browser runs as a module/,
  ],
  ...[
    "validate-options",
    "host-page",
    "page-listeners",
    "companion",
    "waiting",
    "diagnose",
    "recover",
    "update",
    "derive",
    "element",
    "progress",
  ].map((name) => [
    `a missing ${name}.mjs`,
    `**/${name}.mjs`,
    { status: 404 },
    "",
    new RegExp(`^files: .*/${name}\\.mjs answers with status 404`),
  ]),
  [
    "a missing WebAssembly module",
    "**/chat-widget.wasm",
    { status: 404 },
    "",
    /^wasm: .*chat-widget\.wasm answers with status 404/,
  ],
  [
    "a WebAssembly module with a wrong Content-Type",
    "**/chat-widget.wasm",
    { contentType: "application/octet-stream", path: join(WIDGET_DIR, "chat-widget.wasm") },
    "",
    /^wasm: The server sends .* as application\/octet-stream/,
  ],
  [
    "a launcher selector without a match",
    "**/nothing",
    {},
    'data-launcher=".nope"',
    /^launcher: The option launcher, \.nope, matches nothing on this page, so that nobody can open the chat\. Correct the selector/,
  ],
  [
    "a proxy with another prefix",
    "**/nothing",
    {},
    'data-proxy="/conector"',
    /^proxy: There is no proxy at \/conector\/chat\/config/,
  ],
]) {
  test(`diagnose() reports ${problem}`, async ({ visit, recordOf }) => {
    const prepare = async (page) => {
      // The widget asks a wrong prefix again, also while the test ends.
      const known = ["chat widget: ", "Failed to load module script", "an unexpected request: /conector/"];
      for (const text of known) recordOf(page).tolerate(text);
      await page.route(pattern, (route) => route.fulfill(answer));
      await withOptions(attributes)(page);
    };
    const page = await visit({ prepare });
    const wrong = await failedChecks(page);
    assert.ok(
      wrong.some((line) => expected.test(line)),
      wrong.join("\n"),
    );
    recordOf(page).takeComplaints();
  });
}

test("diagnose() reports an invisible launcher until it is visible", async ({ visit }) => {
  const page = await visit({ prepare: withOptions('data-launcher=".brand"') });
  await ready(page);
  await page.evaluate(() => (document.querySelector(".brand").hidden = true));
  const [wrong, ...others] = await failedChecks(page);
  assert.match(
    wrong,
    /^launcher: The option launcher, \.brand, matches 1 of the page's elements, and none of them is visible/,
  );
  assert.deepEqual(others, []);
  await page.evaluate(() => (document.querySelector(".brand").hidden = false));
  assert.deepEqual(await failedChecks(page), []);
});

test("diagnose() reports a page's fetch that throws", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  await page.evaluate(() => {
    window.fetch = () => {
      throw Symbol("no");
    };
  });
  const wrong = await failedChecks(page);
  assert.match(wrong.join("\n"), /^proxy: The proxy cannot be reached at \/connector\/chat\/config \(Symbol\(no\)\)/m);
});

/** Serves the widget's folder from another host. */
function serveWidget(headers) {
  const server = createServer((request, response) => {
    try {
      const path = new URL(request.url, "http://cdn").pathname;
      const body = readFileSync(join(WIDGET_DIR, path));
      response.writeHead(200, { "Content-Type": KINDS[extname(path)] ?? "text/plain", ...headers }).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  after(() => new Promise((closed) => server.close(closed).closeAllConnections()));
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );
}

const CLOSED_HOST = await serveWidget({});
const OPEN_HOST = await serveWidget({ "Access-Control-Allow-Origin": "*" });

/** Prepares a visit: a page with the script tag from that host. */
const pageFrom = (cdn, attributes = "") =>
  pageOf(
    `<script async src="${cdn}/chat-widget.js" data-proxy="/connector" data-contact="tel:+44123" ${attributes}></script>`,
    {
      headers: { "content-security-policy": `script-src 'self' ${cdn} 'wasm-unsafe-eval'; connect-src 'self' ${cdn}` },
    },
  );

test("With files on another host without CORS, diagnose() resolves, and a click shows the error message and the link", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: pageFrom(CLOSED_HOST) });
  await part(page, "launcher").click();
  await part(page, "notice").getByRole("link", { name: "Contact us" }).waitFor();
  const wrong = await failedChecks(page);
  const words = `${CLOSED_HOST} does not let this page read ${CLOSED_HOST}/chat-widget.wasm: a host that is not the page's own must answer with the header Access-Control-Allow-Origin`;
  assert.ok(
    wrong.some((line) => line.startsWith(`wasm: ${words}`)),
    wrong.join("\n"),
  );
  assert.ok(
    wrong.some((line) => line.startsWith(`files: ${CLOSED_HOST} does not let this page read ${CLOSED_HOST}/`)),
    wrong.join("\n"),
  );
  assert.equal(await page.locator("head > script").count(), 0, "the widget left nothing behind");
  recordOf(page).takeComplaints();
});

test("With files on another host with CORS, the chat works and diagnose() reports no problem", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: pageFrom(OPEN_HOST) });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  assert.deepEqual(await failedChecks(page), []);
  recordOf(page).takeComplaints();
});

test("With a server that sends .mjs with a wrong type, diagnose() resolves", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    await page.route("**/chat-widget/**/*.mjs", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), "content-type": "application/octet-stream" } });
    });
    await pageOf('<script async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script>', {
      headers: { "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'" },
    })(page);
  };
  const page = await visit({ prepare });
  const wrong = await failedChecks(page);
  assert.match(
    wrong.join("\n"),
    /^files: The server sends .*\/chat-widget\.mjs as application\/octet-stream, which no browser runs as a module/m,
  );
  recordOf(page).takeComplaints();
});

test("Where only the loader can be loaded, diagnose() rejects", async ({ visit, recordOf }) => {
  const prepare = (page) => page.route("**/chat-widget/error-state*", (route) => route.abort());
  const page = await visit({ prepare });
  await page.waitForFunction(() => window.chatWidget?.diagnose);
  const outcome = await page.evaluate(() =>
    window.chatWidget.diagnose().then(
      () => "answered",
      () => "rejected",
    ),
  );
  assert.equal(outcome, "rejected");
  // The last fallback is a classic script, which Trusted Types block.
  await eventually(() => assert.match(recordOf(page).complaints.join(), /require-trusted-types-for/));
  recordOf(page).takeComplaints();
});
