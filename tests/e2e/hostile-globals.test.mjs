// Pages whose scripts have replaced built-in objects: a `fetch` that throws, members on every object.

import assert from "node:assert/strict";
import { ask, background, delivered, eventually, visitHolding } from "./chat.mjs";
import { openChat, part, ready, say, WASM, allFilesLoaded, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { optionTable } from "../../scripts/options.mjs";

const QUESTION = "How long does delivery take?";

/** Records the codes of error events. */
const recordErrors = (page) =>
  page.addInitScript(() => {
    window.codes = [];
    (window.chatWidget ||= []).push(["on", "error", ({ code }) => window.codes.push(code)]);
  });
const codes = (page) => page.evaluate(() => window.codes);

test("With a fetch that sometimes throws, every message arrives once, and the module does not crash", async ({
  visit,
  server,
  recordOf,
}) => {
  const prepare = async (page) => {
    // Without a prefetch, there is one request for each module.
    await withOptions('data-load="intent"')(page);
    await recordErrors(page);
    await page.addInitScript(() => {
      const real = window.fetch;
      let times = 0;
      window.failed = 0;
      window.fetch = (address, ...rest) => {
        times += 1;
        if (!String(address).includes("/connector/") || times % 3 !== 0) return real(address, ...rest);
        window.failed += 1;
        throw undefined;
      };
    });
  };
  const page = await visit({ prepare });
  await openChat(page);
  for (const number of [1, 2, 3, 4, 5, 6]) {
    await say(page, `${number}: ${QUESTION}`);
    await eventually(async () => assert.equal(await part(page, "message-visitor").count(), number));
    await delivered(page);
  }
  const received = (await server.conversation()).messages
    .filter(({ role }) => role === "visitor")
    .map(({ content }) => content);
  assert.deepEqual(
    received,
    [1, 2, 3, 4, 5, 6].map((number) => `${number}: ${QUESTION}`),
  );
  assert.ok((await page.evaluate(() => window.failed)) >= 3);
  assert.deepEqual(
    (await codes(page)).filter((code) => !["NETWORK", "TIMEOUT"].includes(code)),
    [],
  );
  // The module was never replaced.
  assert.equal(recordOf(page).of("/chat-widget/chat-widget.wasm").length, 1);
  await page.evaluate(() => window.chatWidget.diagnose());
});

const { ...table } = await optionTable();
/** The names of all options and their fields, and of all members of the option bags that the widget passes to the browser. */
const MEMBERS = {
  ...Object.fromEntries(Object.keys(table).map((name) => [name, "polluted"])),
  ...Object.fromEntries(
    "x y text after accent name email phone company wechat whatsapp country visitorId conversationId"
      .split(" ")
      .map((name) => [name, "polluted"]),
  ),
  ...Object.fromEntries(
    "host config inline stays settled prefix page idempotencyKey sourcePage timeout enabled widgetEnabled"
      .split(" ")
      .map((name) => [name, false]),
  ),
  ...Object.fromEntries(
    "once passive capture bubbles cancelable composed keepalive delegatesFocus serializable clonable childList subtree attributes"
      .split(" ")
      .map((name) => [name, true]),
  ),
  ...Object.fromEntries(
    "signal headers method body mode credentials cache redirect referrer referrerPolicy integrity priority duplex window attributeFilter slotAssignment detail value writable numeric style hour12 timeZone localeMatcher behavior block preventScroll"
      .split(" ")
      .map((name) => [name, "polluted"]),
  ),
};

/** Adds these members to every object of the page before any other script runs. */
const pollute = (page) =>
  page.addInitScript((members) => {
    for (const [name, value] of Object.entries(members)) {
      Object.defineProperty(Object.prototype, name, {
        __proto__: null,
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }, MEMBERS);

test("Members of Object.prototype that are named like options do not affect the script tag's chat", async ({
  visit,
  server,
  recordOf,
}) => {
  const prepare = async (page) => {
    await pollute(page);
    await withOptions(`data-offset='{"y":40}' data-greeting='{"text":"Any questions?"}' data-launcher=".ask"`)(page);
  };
  const page = await visit({ prepare });
  await allFilesLoaded(page);
  await page.evaluate(() => {
    const button = Object.assign(document.createElement("button"), { className: "ask", textContent: "Ask" });
    document.body.prepend(button);
  });
  await page.locator(".ask").click();
  await part(page, "input").waitFor();
  const sent = page.waitForRequest(/\/chat\/messages$/);
  await ask(page, QUESTION);
  const body = (await sent).postDataJSON();
  assert.deepEqual([body.locale, body.sourcePage, Object.keys(body.visitor)], ["en-US", "/", ["visitorId"]]);
  assert.equal((await sent).headers()["content-type"], "application/json");
  await page.evaluate(() => window.chatWidget.update({ theme: "rose" }));
  await page.mouse.move(1, 1);
  await page.evaluate(() => window.chatWidget.track("quiz_done", { answers: [1] }));
  await eventually(async () =>
    assert.deepEqual(
      (await server.events()).find(({ eventType }) => eventType === "quiz_done")?.eventData.answers,
      [1],
    ),
  );
  const { checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
  assert.equal((await server.messages()).length, 2);
  assert.ok(recordOf(page).of("/chat-widget/themes/rose.mjs").length > 0);
  await page.evaluate(() => window.chatWidget.destroy());
});

test("Members of Object.prototype do not affect the loader's launcher, an element or a client without a window", async ({
  visit,
  server,
}) => {
  const [page, wasm] = await visitHolding(visit, WASM, { prepare: pollute });
  await wasm.requested;
  assert.equal(await background(page, "launcher"), "rgb(9, 116, 119)");
  const { x, y, width } = await part(page, "launcher").boundingBox();
  assert.deepEqual([x + width, y + width], [1004, 700]);
  wasm.release();
  await openChat(page);
  await ask(page, QUESTION);
  const id = await page.evaluate(async () => {
    window.chatWidget.destroy();
    await import("/chat-widget/element.mjs");
    const element = document.createElement("chat-widget");
    element.setAttribute("proxy", "/connector");
    element.toggleAttribute("inline", true);
    document.body.append(element);
    await (await element.ready).ready;
    const { BrowserWidgetClient } = await import("/chat-widget/client.mjs");
    const client = new BrowserWidgetClient({ proxy: "/connector" });
    return (await client.sendMessage("Two")).conversationId;
  });
  assert.equal((await server.conversation()).id, id, "the same visitor's conversation");
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
});

test("The chat works on a page with frozen prototypes", async ({ visit }) => {
  const freeze = () =>
    [Object, Array, Function, Promise, EventTarget, Response, Headers].forEach((one) => Object.freeze(one.prototype));
  const page = await visit({ prepare: (page) => page.addInitScript(freeze) });
  await ready(page);
  await openChat(page);
  await ask(page, QUESTION);
});
