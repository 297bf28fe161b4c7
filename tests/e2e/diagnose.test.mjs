// `diagnose()` reports each problem with advice, and none on a working page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, openChat, part, ready, withOptions } from "./chat.mjs";
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

test("diagnose() reports no problem on a working page in German, with a theme and the page's own launcher", async ({
  visit,
}) => {
  const page = await visit({ prepare: withOptions('data-locale="de" data-theme="rose" data-launcher=".brand"') });
  await ready(page);
  const { ok, checks } = await diagnose(page);
  assert.deepEqual([ok, checks.filter(({ ok }) => !ok)], [true, []]);
  assert.deepEqual(
    checks.map(({ name }) => name),
    NAMES,
  );
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
const pageFrom = (cdn) =>
  pageOf(`<script async src="${cdn}/chat-widget.js" data-proxy="/connector" data-contact="tel:+44123"></script>`, {
    headers: { "content-security-policy": `script-src 'self' ${cdn} 'wasm-unsafe-eval'; connect-src 'self' ${cdn}` },
  });

test("With files on another host without CORS, diagnose() resolves, and a click shows the error message and the link", async ({
  visit,
  recordOf,
}) => {
  const prepare = async (page) => {
    recordOf(page).tolerate(CLOSED_HOST);
    await pageFrom(CLOSED_HOST)(page);
  };
  const page = await visit({ prepare });
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
});

test("With files on another host with CORS, the chat works and diagnose() reports no problem", async ({
  visit,
  recordOf,
}) => {
  const prepare = async (page) => {
    recordOf(page).tolerate(`a request to another origin: ${OPEN_HOST}`);
    await pageFrom(OPEN_HOST)(page);
  };
  const page = await visit({ prepare });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  assert.deepEqual(await failedChecks(page), []);
});

test("With a server that sends .mjs with a wrong type, diagnose() resolves", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    for (const text of ["Failed to load module script", "chat widget: ", "TrustedScriptURL", "trusted-types"])
      recordOf(page).tolerate(text);
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
  await recordOf(page).complainsOf("TrustedScriptURL", "require-trusted-types-for");
});
