// Every event has two names, with a colon and with a hyphen, and bubbles through the page under both.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, eventually, openChat, part, ready, say, WASM, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const NAMES = ["ready", "open", "close", "message", "unread", "presence", "lead", "theme", "error", "destroy"];
const MANIFEST = JSON.parse(readFileSync(new URL("../../dist/custom-elements.json", import.meta.url), "utf8"));

/** Records each event of the widget that reaches the document. */
const recordEvents = (page) =>
  page.addInitScript((names) => {
    window.recorded = [];
    for (const name of names) {
      for (const mark of ":-") {
        document.addEventListener(`chat-widget${mark}${name}`, ({ type, detail, bubbles, composed, target }) => {
          window.recorded.push({
            name,
            type,
            detail,
            crossesRoots: bubbles && composed,
            from: target.localName ?? "document",
          });
        });
      }
    }
  }, NAMES);
const recordedEvents = (page) => page.evaluate(() => window.recorded);

test("Each event bubbles once under each of its names, with the same detail", async ({ visit, server }) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit({ prepare: recordEvents });
  await ready(page);
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await eventually(async () => assert.ok((await recordedEvents(page)).some(({ name }) => name === "presence")));
  await part(page, "close").click();
  await server.operatorSays("Anna here.");
  await part(page, "badge").waitFor();
  await page.evaluate(() => window.chatWidget.setTheme("rose"));
  await server.setFaults({ only: "send", status: 402 });
  await openChat(page);
  await say(page, "And to Norway?");
  await part(page, "message-failed").waitFor();
  await page.evaluate(() => window.chatWidget.destroy());
  const events = await recordedEvents(page);
  for (const name of NAMES) {
    const of = (mark) => events.filter(({ type }) => type === `chat-widget${mark}${name}`).map(({ detail }) => detail);
    assert.ok(of(":").length > 0, name);
    assert.deepEqual(of("-"), of(":"), name);
  }
  assert.deepEqual(
    [...new Set(events.map(({ crossesRoots, from }) => `${from} ${crossesRoots}`))],
    ["chat-widget true"],
  );
  const claimed = MANIFEST.modules[0].declarations[0].events.map(({ name }) => name);
  assert.deepEqual([...new Set(events.map(({ type }) => type))].sort(), claimed.sort());
});

test("A failed module load emits error under both names, with and without a click", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    recordOf(page).tolerate("chat widget: the module did not load");
    await recordEvents(page);
    await page.route(WASM, (route) => route.fulfill({ status: 404 }));
    await withOptions('data-load="eager"')(page);
  };
  const page = await visit({ prepare });
  await eventually(async () => assert.equal((await recordedEvents(page)).length, 2));
  await part(page, "launcher").click();
  await part(page, "notice").waitFor();
  const names = (await recordedEvents(page)).map(({ type, from }) => `${type} from ${from}`);
  const pair = (from) => [`chat-widget:error from ${from}`, `chat-widget-error from ${from}`];
  assert.deepEqual(names.slice(0, 2), pair("document"));
  // Pointer, focus and click caused one attempt each.
  for (let attempt = 2; attempt < names.length; attempt += 2)
    assert.deepEqual(names.slice(attempt, attempt + 2), pair("chat-widget"));
  assert.ok(names.length > 2);
});

test("An element that cannot be mounted emits error under both names", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    recordOf(page).tolerate("chat widget: the option proxy");
    await recordEvents(page);
    await pageOf(
      '<chat-widget proxy="//shop.example/connector"></chat-widget><script type="module" src="/chat-widget/element.mjs"></script>',
    )(page);
  };
  const page = await visit({ prepare });
  await eventually(async () =>
    assert.deepEqual(
      (await recordedEvents(page)).map(({ type }) => type),
      ["chat-widget:error", "chat-widget-error"],
    ),
  );
});
