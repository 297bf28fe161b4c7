// The tabs of one browser share a conversation, and one of them leads.

import assert from "node:assert/strict";
import { REFUSES, SEND, WASM, ask, delivered, hold, messages, openChat, part } from "./chat.mjs";
import { say, see, showsAll, visitHolding, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { FAST_POLLING } from "./sandbox.mjs";
import { QUESTION, nextPolls, openTab, pollerOf, replaceLeader, openConversationTabs } from "./tabs.mjs";

const LATER = "Can I book a workshop?";

const state = (page) => page.evaluate(() => window.chatWidget.state);

/** Ends a tab without a message to the others. */
async function crash(page) {
  const crashed = page.waitForEvent("crash");
  const session = await page.context().newCDPSession(page);
  // The crashed page cannot respond.
  session.send("Page.crash").catch(() => {});
  await crashed;
}

for (const [how, end] of [
  ["is closed", (page) => page.close()],
  ["crashes", crash],
]) {
  test(`When the leading tab ${how}, exactly one other tab polls`, async ({ visit, server, recordOf }) => {
    await server.setFaults(FAST_POLLING);
    const tabs = await openConversationTabs(visit, 3);
    const record = recordOf(tabs[0]);
    const leader = pollerOf(await nextPolls(record, 2), tabs);
    const next = await replaceLeader(record, leader, end);
    assert.equal(pollerOf(await nextPolls(record, 3), tabs), next);

    const follower = tabs.find((page) => page !== leader && page !== next);
    await server.operatorSays("Anna here.");
    await part(follower, "message-operator").waitFor();
  });
}

test("A message sent in one tab, and its reply, appear in the others at once", async ({ visit, server }) => {
  const tabs = [await openTab(visit)];
  while (tabs.length < 3) tabs.push(await openTab(visit, { beside: tabs[0] }));
  for (const [index, from] of tabs.entries()) {
    const text = `${QUESTION} ${index}`;
    const posts = await Promise.all(tabs.map((page) => hold(page, SEND)));
    await say(from, text);
    // The service has not received it yet.
    await Promise.race(posts.map(({ requested }) => requested));
    for (const page of tabs) {
      await part(page, "message-visitor").nth(index).getByText(text).waitFor();
      assert.equal((await messages(page)).filter((line) => line.includes(text)).length, 1);
    }
    for (const post of posts) post.release();
    for (const page of tabs) {
      await part(page, "message-assistant")
        .nth(index + 1)
        .waitFor();
      await delivered(page);
      await page.unroute(SEND);
    }
  }
  const visitorMessages = (await server.messages()).filter((line) => line.startsWith("visitor: "));
  assert.deepEqual(
    visitorMessages,
    tabs.map((_, index) => `visitor: ${QUESTION} ${index}`),
  );
  for (const page of tabs) await showsAll(page, server);
  // An attempt whose response took too long may have been repeated.
  const keys = (await server.sends()).map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, tabs.length);
});

test("A draft stays in its tab", async ({ visit, server }) => {
  const one = await openTab(visit);
  const other = await openTab(visit, { beside: one });
  await part(one, "input").fill("Between you and me");
  await ask(other, QUESTION);
  await showsAll(one, server);
  assert.equal(await part(one, "input").inputValue(), "Between you and me");
  assert.equal(await part(other, "input").inputValue(), "");
});

const badge = (page, count) => part(page, "badge").getByText(`${count}`, { exact: true }).waitFor();
const noBadge = (page) => part(page, "badge").waitFor({ state: "detached" });

test("Messages in an open window of a hidden tab are unread until the tab is visible", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const tabs = await openConversationTabs(visit, 2);
  await part(tabs[1], "close").click();
  await see(tabs[0], "hidden");
  await server.operatorSays("Anna here.");
  await badge(tabs[1], 1);
  await part(tabs[0], "message-operator").waitFor();
  assert.equal((await state(tabs[0])).unread, 1);
  await see(tabs[0], "visible");
  await noBadge(tabs[1]);
});

test("Tabs of different customers share nothing", async ({ visit, server }) => {
  const anna = await openTab(visit, { prepare: withOptions('data-customer-id="anna"') });
  const bert = await openTab(visit, { beside: anna, prepare: withOptions('data-customer-id="bert"') });
  await ask(anna, QUESTION);
  await ask(bert, LATER);
  assert.equal((await server.conversations()).length, 2);
  for (const [page, text] of [
    [anna, QUESTION],
    [bert, LATER],
  ]) {
    const shown = await messages(page);
    assert.equal(shown.length, 3);
    assert.equal(shown[1], `visitor: ${text}`);
  }
});

test("A tab whose storage is blocked receives the conversation from another tab", async ({ visit, server }) => {
  const prepare = (page) => page.addInitScript(REFUSES["is blocked"]);
  const one = await openTab(visit, { prepare });
  await ask(one, QUESTION);
  const other = await openTab(visit, { prepare, beside: one });
  await showsAll(other, server);
  await ask(other, LATER);
  await showsAll(one, server);
  // The conversation lasts as long as one tab is open.
  await one.reload();
  await openChat(one);
  await showsAll(one, server);
  await ask(one, "Are the mugs dishwasher safe?");
  await showsAll(other, server);
  assert.equal((await server.messages()).length, 6);
});

test("A tab whose module loads late shows messages from another tab", async ({ visit, server }) => {
  const one = await openTab(visit);
  const [other, wasm] = await visitHolding(visit, WASM, { beside: one });
  await wasm.requested;
  await ask(one, QUESTION);
  wasm.release();
  await openChat(other);
  await showsAll(other, server);
});
