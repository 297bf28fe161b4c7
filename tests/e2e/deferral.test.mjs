// A long `Retry-After`: the visitor sees the wait, and can send at once.

import assert from "node:assert/strict";
import { SEND, ask, delivered, eventually, messages, openChat, part, say, showsAll, unsent } from "./chat.mjs";
import { test } from "./harness.mjs";
import { openTab } from "./tabs.mjs";

const QUESTION = "Do you deliver abroad?";
const HOURS = { only: "send", status: 429, retryAfter: 7200 };

/** Waits until the newest message shows that it is retried later. */
const deferred = (page) =>
  part(page, "message-visitor").last().getByText("Not sent yet. We will try again later.").waitFor();
const tryNow = (page) => part(page, "retry").getByText("Try now");

/** Returns the sent texts, the number of their keys, and the statuses of all attempts. */
async function attempts(server) {
  const sends = await server.sends();
  return [new Set(sends.map(({ idempotencyKey }) => idempotencyKey)).size, sends.map(({ status }) => status)];
}

test("A Retry-After of hours is shown at once, and sending now repeats the same request", async ({ visit, server }) => {
  await server.setFaults({ ...HOURS, times: 2 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await deferred(page);
  assert.equal(await part(page, "wait").count(), 0);
  assert.deepEqual(await attempts(server), [1, [429]]);

  // The service may send `Retry-After` again.
  await tryNow(page).click();
  await eventually(async () => assert.deepEqual(await attempts(server), [1, [429, 429]]));
  await deferred(page);
  await tryNow(page).click();
  await delivered(page);
  assert.deepEqual(await attempts(server), [1, [429, 429, 200]]);
  await showsAll(page, server);
  assert.equal(await unsent(page), 0);
  assert.equal(await part(page, "retry").count(), 0);
});

test("Offline the banner replaces the offer to send now, which is back once online", async ({ visit, server }) => {
  await server.setFaults({ ...HOURS, times: 1 });
  const page = await openTab(visit);
  await say(page, QUESTION);
  await deferred(page);
  await page.context().setOffline(true);
  await part(page, "message-visitor").getByText("Waiting to send").waitFor();
  assert.equal(await part(page, "retry").count(), 0);
  await page.context().setOffline(false);
  await deferred(page);
  await tryNow(page).click();
  await delivered(page);
});

/** Values of `Retry-After`: those without a visible wait, and long ones. */
const VALUES = {
  "none, or a short one": ["0", "-7200", "Infinity", "NaN", "soon, please", "Thu, 01 Jan 1970 00:00:00 GMT"],
  "bounded and shown": ["7200", " 7200 ", "7200.5", "1e308", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"],
};

for (const [wait, values] of Object.entries(VALUES)) {
  test(`The wait of a Retry-After of ${values.join(" or ")} is ${wait}`, async ({ visit, server }) => {
    const page = await visit();
    await openChat(page);
    await ask(page, "Hello");
    for (const [index, value] of values.entries()) {
      let refused = false;
      await page.route(SEND, async (route) => {
        if (refused) return route.continue();
        refused = true;
        return route.fulfill({ status: 503, headers: { "Retry-After": value }, json: { ok: false } });
      });
      const text = `Message ${index}`;
      await say(page, text);
      if (wait === "bounded and shown") {
        await deferred(page);
        await tryNow(page).click();
      }
      await part(page, "message-visitor").last().getByText(text, { exact: true }).waitFor();
      await delivered(page);
      assert.ok(refused, value);
      assert.equal((await messages(page)).filter((line) => line === `visitor: ${text}`).length, 1, value);
      await page.unroute(SEND);
    }
    assert.equal((await server.sends()).length, 1 + values.length);
  });
}
