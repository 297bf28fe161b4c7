// Tabs of a browser without `BroadcastChannel`, which communicate by `storage` events.

import assert from "node:assert/strict";
import { ask, delivered, part, say, see, showsAll, unsent, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { QUESTION, openTab } from "./tabs.mjs";

test("Without BroadcastChannel, a message and its reply appear in the other tab, and the storage keeps no tab message", async ({
  visit,
  server,
}) => {
  const prepare = (page) => page.addInitScript(() => delete window.BroadcastChannel);
  const visits = (options) => visit({ ...options, prepare });
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

test("Without BroadcastChannel and without consent no tab message is written to storage", async ({ visit }) => {
  const writes = () => {
    delete window.BroadcastChannel;
    window.written = [];
    Storage.prototype.setItem = (key) => void window.written.push(key);
  };
  const prepare = async (page) => {
    await page.addInitScript(writes);
    await withOptions('data-consent="required"')(page);
  };
  const page = await openTab((options) => visit({ ...options, prepare }));
  await ask(page, QUESTION);
  await see(page, "hidden");
  assert.deepEqual(await page.evaluate(() => window.written), []);
});
