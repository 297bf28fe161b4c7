// Pages from the back-forward cache.

import assert from "node:assert/strict";
import { ask, delivered, eventually, openChat, part, say, showsAll } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";
const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1 } };

/** Opens a page with an open window in a browser with a back-forward cache. */
async function opened(visit) {
  const page = await visit({ backForwardCache: true, prepare: recordPageShows });
  await openChat(page);
  return page;
}

/** Records for each `pageshow` whether the page came from the back-forward cache. */
const recordPageShows = (page) =>
  page.addInitScript(() => addEventListener("pageshow", ({ persisted }) => (window.shows ||= []).push(persisted)));

/** Goes back, and asserts that the page came from the back-forward cache. */
async function goBack(page) {
  await page.goBack({ waitUntil: "commit" });
  await eventually(async () => {
    const { shows, reasons } = await page.evaluate(() => ({
      shows: window.shows,
      reasons: performance.getEntriesByType("navigation")[0].notRestoredReasons?.reasons,
    }));
    assert.deepEqual(shows, [false, true], JSON.stringify(reasons));
  });
}

for (const windowState of ["open", "closed"]) {
  test(`Back restores a page whose window was ${windowState}, and shows messages that arrived meanwhile`, async ({
    visit,
    server,
    site,
  }) => {
    await server.setFaults(FAST_POLLING);
    const page = await opened(visit);
    await ask(page, QUESTION);
    if (windowState === "closed") await part(page, "close").click();
    await page.goto(`${site}/help.html`);
    await openChat(page);
    await ask(page, "Can I book a workshop?");
    await server.operatorSays("Anna here.");
    await part(page, "message-operator").waitFor();

    await goBack(page);
    if (windowState === "closed") await part(page, "launcher").click();
    await showsAll(page, server);
    assert.equal(await page.evaluate(() => window.chatWidget.state.unread), 0);
    // The chat works as before.
    await server.operatorSays("Are you still there?");
    await part(page, "message-operator").nth(1).waitFor();
    await ask(page, "Are the mugs dishwasher safe?");
    await showsAll(page, server);
    assert.equal((await server.sends()).length, 3);
  });
}

test("Leaving a page during a send and going back delivers the message once", async ({ visit, server, site }) => {
  await server.setFaults({ ai: "slow", slowMs: 1000 });
  const page = await opened(visit);
  await say(page, QUESTION);
  await eventually(async () => assert.equal((await server.conversation()).messages.length, 1));
  await page.goto(`${site}/help.html`);
  await openChat(page);
  await delivered(page);
  await showsAll(page, server);
  await goBack(page);
  await delivered(page);
  await showsAll(page, server);
  assert.equal((await server.messages()).length, 2);
});
