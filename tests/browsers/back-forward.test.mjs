// A page that is left and come back to is the page that it was: the browser keeps it, as it keeps it without the widget.

import assert from "node:assert/strict";
import { eventually, whole } from "../e2e/chat.mjs";
import { test } from "./harness.mjs";

/** As often as the widget lets itself be told: whenever a page is left, something is being asked for. */
const QUICK = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };
const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

/** Waits until no file of the widget is on its way: Firefox keeps no page that waits for one. */
async function settled(tab) {
  await whole(tab);
  await tab.evaluate(() => customElements.whenDefined("chat-widget").then(() => {}));
}

/** Goes back to the page before, which must have been kept. */
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
  await tab.shop.asked;
  await tab.goto("/help.html");
  await whole(tab);
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
    await server.trouble(QUICK);
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
