// Tabs of a browser without `BroadcastChannel`, which communicate by `storage` events.

import assert from "node:assert/strict";
import { ask, delivered, eventually, part, say, see, showsAll, unsent } from "./chat.mjs";
import { test } from "./harness.mjs";
import { QUESTION, FAST_POLLING, nextPolls, openTab, pollerOf, replaceLeader, openConversationTabs } from "./tabs.mjs";

/** Init scripts that remove or break `BroadcastChannel`. */
const MISSING_CHANNELS = {
  "has no BroadcastChannel": () => delete window.BroadcastChannel,
  "refuses a BroadcastChannel": () => {
    window.BroadcastChannel = class {
      constructor() {
        throw new DOMException("Access is denied for this document.", "SecurityError");
      }
    };
  },
};

/** Returns a `visit` function for such a browser. */
const visitsOf = (visit, lack) => (options) => visit({ ...options, prepare: (page) => page.addInitScript(lack) });

for (const [lack, prepare] of Object.entries(MISSING_CHANNELS)) {
  test(`In a browser that ${lack}, a message and its reply appear in the other tab, and the storage keeps no tab message`, async ({
    visit,
    server,
  }) => {
    const visits = visitsOf(visit, prepare);
    const one = await openTab(visits);
    const other = await openTab(visits, { beside: one });
    // The leader sends the other tab's message.
    for (const [from, to, text] of [
      [one, other, QUESTION],
      [other, one, "Can I book a workshop?"],
    ]) {
      await say(from, text);
      await part(to, "message-visitor").getByText(text).waitFor();
      await Promise.all([one, other].map(delivered));
      for (const page of [one, other]) await showsAll(page, server);
    }
    assert.equal((await server.sends()).length, 2);
    assert.equal(await unsent(one), 0);
    const keys = await one.evaluate(() => Object.keys(localStorage));
    assert.deepEqual(
      keys.filter((key) => key.endsWith(":tabs")),
      [],
    );
  });
}

test("Without BroadcastChannel one tab polls, and another takes over when it is closed", async ({
  visit,
  server,
  recordOf,
}) => {
  await server.setFaults(FAST_POLLING);
  const tabs = await openConversationTabs(visitsOf(visit, MISSING_CHANNELS["has no BroadcastChannel"]), 3);
  const record = recordOf(tabs[0]);
  const leader = pollerOf(await nextPolls(record, 8), tabs);
  const next = await replaceLeader(record, leader, (page) => page.close());
  const left = tabs.filter((page) => page !== leader);
  assert.equal(pollerOf(await nextPolls(record, 4), left), next);
  await server.operatorSays("Anna here.");
  await Promise.all(left.map((page) => part(page, "message-operator").waitFor()));
});

test("Without BroadcastChannel reading in one tab clears unread in all, and reset() resets all", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const [one, other] = await openConversationTabs(visitsOf(visit, MISSING_CHANNELS["has no BroadcastChannel"]), 2);
  for (const page of [one, other]) await part(page, "close").click();
  await server.operatorSays("Anna here.");
  for (const page of [one, other]) await part(page, "badge").waitFor();
  await part(one, "launcher").click();
  await part(other, "badge").waitFor({ state: "detached" });
  await other.evaluate(() => window.chatWidget.reset());
  await eventually(async () => assert.equal(await part(one, "message-visitor").count(), 0));
  const ids = await Promise.all([one, other].map((page) => page.evaluate(() => window.chatWidget.state.visitorId)));
  assert.equal(ids[0], ids[1]);
});

test("Without BroadcastChannel and without consent no tab message is written to storage", async ({ visit }) => {
  const writes = () => {
    delete window.BroadcastChannel;
    window.written = [];
    Storage.prototype.setItem = (key) => void window.written.push(key);
  };
  const prepare = async (page) => {
    await page.addInitScript(writes);
    await page.route("**/", async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replace("data-proxy=", 'data-consent="required" data-proxy='),
      });
    });
  };
  const page = await openTab((options) => visit({ ...options, prepare }));
  await ask(page, QUESTION);
  await see(page, "hidden");
  assert.deepEqual(await page.evaluate(() => window.written), []);
});
