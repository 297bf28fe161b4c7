// The widget does not keep a page out of the back-forward cache.

import assert from "node:assert/strict";
import { allFilesLoaded, eventually, ready } from "../e2e/chat.mjs";
import { test } from "./harness.mjs";

/** The shortest polling intervals that the widget accepts, so that a request is pending whenever a page is left. */
const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };
const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

/** Waits until no file of the widget is loading: Firefox caches no page with a pending request. */
async function settled(tab) {
  await allFilesLoaded(tab);
  await tab.evaluate(() => customElements.whenDefined("chat-widget").then(() => {}));
}

/** Goes back, and asserts that the page came from the back-forward cache. */
async function goBack(tab) {
  await tab.back();
  await eventually(async () => assert.deepEqual(await tab.evaluate(() => window.notes.shows), [false, true]));
}

test("Back restores a page whose chat was never opened, and the chat works", async ({ visit, server }) => {
  const tab = await visit();
  await settled(tab);
  await tab.goto("/help.html");
  await settled(tab);
  await goBack(tab);
  await tab.openChat();
  await tab.ask(QUESTION);
  await tab.showsAll(server);
});

test("Leaving a page while a widget file loads raises no error event, and the chat works after going back", async ({
  visit,
  server,
}) => {
  const tab = await visit({ held: "/chat-widget/element.mjs" });
  await ready(tab);
  await tab.shop.requested;
  await tab.goto("/help.html");
  await allFilesLoaded(tab);
  await tab.back();
  // Firefox's driver does not always wait for the page.
  await eventually(async () => assert.equal(await tab.evaluate(() => location.pathname), "/"));
  tab.shop.release();
  await tab.openChat();
  await tab.ask(QUESTION);
  await tab.showsAll(server);
});

for (const windowState of ["open", "closed"]) {
  test(`Back restores a page whose window was ${windowState}, and its conversation continues`, async ({
    visit,
    server,
  }) => {
    await server.setFaults(FAST_POLLING);
    const tab = await visit();
    await tab.openChat();
    await tab.ask(QUESTION);
    if (windowState === "closed") await tab.click("close");
    await tab.goto("/help.html");
    await (windowState === "closed" ? tab.openChat() : tab.stayedOpen());
    await tab.ask(LATER);
    await server.operatorSays("Anna here.");
    await tab.has("message-operator", 1);

    await goBack(tab);
    if (windowState === "closed") await tab.openChat();
    await tab.showsAll(server);
    await server.operatorSays("Are you still there?");
    await tab.has("message-operator", 2);
    await tab.ask("Are the mugs dishwasher safe?");
    await tab.showsAll(server);
    assert.equal((await server.sends()).length, 3);
  });
}
