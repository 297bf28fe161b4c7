// A page with `<base href>` of another host, which must get no request of the chat.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after } from "node:test";
import { ask, eventually, openChat, part, say, WASM } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const QUESTION = "How long does delivery take?";

/** A host that records its requests and allows every origin. */
const seen = [];
const other = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.writeHead(200, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*",
    "Content-Type": "application/json",
  });
  response.end('{"ok":true,"data":{"config":{"enabled":true,"widgetEnabled":true}}}');
});
await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
after(() => new Promise((closed) => other.close(closed).closeAllConnections()));
const OTHER = `http://127.0.0.1:${other.address().port}`;

/** Prepares a visit: a page whose base is the other host, under a policy that allows requests to it. */
const pageWithBase = (body) => {
  const headers = { "content-security-policy": `script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${OTHER}` };
  return pageOf(body, { head: `<base href="${OTHER}/">`, headers });
};

/** Returns the script tag with an absolute URL, as a page with a base needs it. */
const tagOf = (site, attributes) => `<script async src="${site}/chat-widget/chat-widget.js" ${attributes}></script>`;

test('With data-proxy="connector" and a <base> of another host, every request goes to the page\'s origin', async ({
  visit,
  site,
  server,
  recordOf,
}) => {
  seen.length = 0;
  const page = await visit({ clock: true, prepare: pageWithBase(tagOf(site, 'data-proxy="connector"')) });
  await openChat(page);
  await ask(page, QUESTION);
  await page.evaluate(() => window.chatWidget.track("quiz_done"));
  // Events wait for others for three seconds.
  await page.clock.fastForward(3_500);
  await eventually(async () => assert.ok((await server.events()).some(({ eventType }) => eventType === "quiz_done")));
  const { ok, checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
  assert.ok(ok);
  // The event of leaving the page goes to the page's origin as well.
  await page.evaluate(() => window.chatWidget.track("left"));
  await page.goto("about:blank");
  await eventually(async () => assert.ok((await server.events()).some(({ eventType }) => eventType === "left")));
  assert.deepEqual(seen, []);
  assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
  assert.ok(recordOf(page).of("/connector/chat/messages", "POST").length > 0);
});

test("The element, mount() and the client ignore a <base> of another host", async ({ visit, site, server }) => {
  seen.length = 0;
  const page = await visit({ prepare: pageWithBase("<p>Shop</p>") });
  await page.evaluate(async (site) => {
    const { ChatWidget } = await import(`${site}/chat-widget/chat-widget.mjs`);
    const { BrowserWidgetClient } = await import(`${site}/chat-widget/client.mjs`);
    await import(`${site}/chat-widget/element.mjs`);
    const element = Object.assign(document.createElement("chat-widget"), { proxy: "/connector" });
    element.toggleAttribute("inline", true);
    document.body.append(element);
    const widget = await ChatWidget.mount({ proxy: "connector" });
    widget.sendMessage("One");
    const client = new BrowserWidgetClient({ proxy: "/connector", customerId: "ann" });
    await client.sendMessage("Two", { locale: "en_US" });
    await client.trackBatch([{ eventType: "quiz_done" }]);
    await new BrowserWidgetClient({ proxy: "connector/" }).getChatConfig("not a locale");
  }, site);
  const visitorTexts = async () =>
    (await server.conversations()).flatMap(({ messages }) => messages.map(({ content }) => content));
  await eventually(async () => assert.ok((await visitorTexts()).includes("One")));
  assert.ok((await visitorTexts()).includes("Two"));
  await part(page, "input").first().waitFor();
  assert.deepEqual(seen, []);
});

test("A proxy with an absolute URL of another origin is used, and diagnose() reports it", async ({
  visit,
  site,
  recordOf,
}) => {
  seen.length = 0;
  const page = await visit({ prepare: pageWithBase(tagOf(site, `data-proxy="${OTHER}/connector"`)) });
  // Attempts to send go on until the test ends.
  recordOf(page).tolerate(OTHER);
  await part(page, "launcher").waitFor();
  await eventually(() =>
    assert.ok(
      seen.some((line) => line.startsWith("GET /connector/chat/config?locale=")),
      seen.join(),
    ),
  );
  const { checks } = await page.evaluate(() => window.chatWidget.diagnose());
  const proxy = checks.find(({ name }) => name === "proxy");
  assert.ok(proxy.ok);
  assert.match(proxy.message, new RegExp(`The page is on another origin, and what visitors write goes to ${OTHER}`));
  await openChat(page);
  await say(page, QUESTION);
  await eventually(() =>
    assert.ok(
      seen.some((line) => line === "OPTIONS /connector/chat/messages" || line === "POST /connector/chat/messages"),
    ),
  );
});

test("With a <base> of another host, the load error and diagnose() send it no request", async ({
  visit,
  site,
  recordOf,
}) => {
  seen.length = 0;
  const prepare = async (page) => {
    recordOf(page).tolerate("chat widget: the module did not load");
    await page.route(WASM, (route) => route.fulfill({ status: 404 }));
    await pageWithBase(tagOf(site, 'data-proxy="/connector"'))(page);
  };
  const page = await visit({ prepare });
  await part(page, "launcher").click();
  await part(page, "notice").waitFor();
  assert.equal((await page.evaluate(() => window.chatWidget.diagnose())).ok, false);
  assert.deepEqual(seen, []);
});
