// The tabs of one browser share a conversation, and one of them leads.

import assert from "node:assert/strict";
import { REFUSES, SEND, WASM, ask, delivered, eventually, hold, messages, openChat, part } from "./chat.mjs";
import { say, see, showsAll, stored } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";
import { QUESTION, FAST_POLLING, nextPolls, openTab, pollerOf, replaceLeader, openConversationTabs } from "./tabs.mjs";

const LATER = "Can I book a workshop?";
const NOTHING_SAID = [`assistant: ${WELCOME}`];

const state = (page) => page.evaluate(() => window.chatWidget.state);

/** Waits until the log shows these messages and no others. */
const shows = (page, expected) => eventually(async () => assert.deepEqual(await messages(page), expected));

test("One of several open tabs polls", async ({ visit, server, recordOf }) => {
  await server.setFaults(FAST_POLLING);
  const tabs = await openConversationTabs(visit, 4);
  // By then each follower has checked several times whether a tab leads.
  pollerOf(await nextPolls(recordOf(tabs[0]), 10), tabs);
});

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
  ["leaves the site", (page) => page.goto("about:blank")],
  ["crashes", crash],
]) {
  test(`When the leading tab ${how}, exactly one other tab polls within two seconds`, async ({
    visit,
    server,
    recordOf,
  }) => {
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

test("A hidden leader yields to a visible tab", async ({ visit, server, recordOf }) => {
  await server.setFaults(FAST_POLLING);
  const tabs = await openConversationTabs(visit, 2);
  const record = recordOf(tabs[0]);
  const leader = pollerOf(await nextPolls(record, 2), tabs);
  await replaceLeader(record, leader, () => see(leader, "hidden"));
  await see(leader, "visible");
  pollerOf(await nextPolls(record, 3), tabs);
});

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
  assert.equal((await server.sends()).length, tabs.length);
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

test("Messages written in two tabs at the same time have the same order in both", async ({ visit, server }) => {
  const one = await openTab(visit);
  const other = await openTab(visit, { beside: one });
  const write = (page, name) =>
    page.evaluate((name) => {
      // No word of the shop's, so that no answer has a list, whose markers are not part of the visible text.
      for (let index = 0; index < 5; index += 1) window.chatWidget.sendMessage(`${name}${index}`);
    }, name);
  await Promise.all([write(one, "First"), write(other, "Second")]);
  await eventually(async () => assert.equal((await server.messages()).length, 20));
  const visitorMessages = (await server.messages()).filter((line) => line.startsWith("visitor: "));
  assert.equal(new Set(visitorMessages).size, 10);
  for (const page of [one, other]) await showsAll(page, server);
});

const badge = (page, count) => part(page, "badge").getByText(`${count}`, { exact: true }).waitFor();
const noBadge = (page) => part(page, "badge").waitFor({ state: "detached" });

test("The unread count is shared by all tabs until one of them shows the messages", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const tabs = await openConversationTabs(visit, 2);
  for (const tab of tabs) await part(tab, "close").click();
  for (const tab of tabs) assert.equal((await state(tab)).unread, 0);
  await server.operatorSays("Anna here.");
  await Promise.all(tabs.map((tab) => badge(tab, 1)));
  for (const tab of tabs) assert.equal((await state(tab)).unread, 1);
  tabs.push(await visit({ beside: tabs[0] }));
  await badge(tabs[2], 1);

  await openChat(tabs[1]);
  await Promise.all(tabs.map(noBadge));
  for (const tab of tabs) assert.equal((await state(tab)).unread, 0);

  // An open window in a visible tab keeps the count at zero in all tabs.
  await server.operatorSays("Are you still there?");
  await part(tabs[1], "message-operator").nth(1).waitFor();
  await part(tabs[1], "close").click();
  await server.operatorSays("Bye, then.");
  await Promise.all(tabs.map((tab) => badge(tab, 1)));
});

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

test("reset() in one tab erases visitor and conversation in all tabs", async ({ visit, server }) => {
  const tabs = await openConversationTabs(visit, 3);
  for (const tab of tabs) await showsAll(tab, server);
  const { visitorId: before } = await state(tabs[0]);

  await tabs[1].evaluate(() => window.chatWidget.reset());
  for (const tab of tabs) await shows(tab, NOTHING_SAID);
  const { visitorId } = await state(tabs[1]);
  assert.notEqual(visitorId, before);
  for (const tab of tabs) {
    const { visitorId: here, conversationId, unread } = await state(tab);
    assert.deepEqual([here, conversationId ?? null, unread], [visitorId, null, 0]);
  }
  const kept = await stored(tabs[0]);
  assert.equal(kept["chat-widget:visitor"].visitorId, visitorId);
  assert.equal(kept["chat-widget:conversation"]?.conversationId ?? null, null);
  for (const text of [before, QUESTION]) assert.ok(!JSON.stringify(kept).includes(text), `${text} is not stored`);

  await ask(tabs[2], LATER);
  const conversations = await server.conversations();
  assert.equal(conversations.length, 2);
  const created = conversations.find(({ visitor }) => visitor.visitorId === visitorId);
  const now = [...NOTHING_SAID, ...created.messages.map(({ role, content }) => `${role}: ${content}`)];
  assert.equal(now.length, 3);
  for (const tab of tabs) await shows(tab, now);

  await tabs[0].reload();
  await openChat(tabs[0]);
  await shows(tabs[0], now);
});

/** Prepares a visit with a customer id that is read when a page loads. */
async function customers(page, customer) {
  const shop = { customer };
  await page.route("**/", async (route) => {
    const response = await route.fetch();
    const tag = shop.customer ? `data-customer-id="${shop.customer}" data-proxy=` : "data-proxy=";
    await route.fulfill({ response, body: (await response.text()).replace("data-proxy=", tag) });
  });
  return shop;
}

test("Another customer starts with an empty conversation, and the first one's is restored on return", async ({
  visit,
  server,
}) => {
  let shop;
  const page = await openTab(visit, { prepare: async (page) => (shop = await customers(page, "anna")) });
  const come = async (customer) => {
    shop.customer = customer;
    await page.reload();
    await openChat(page);
  };
  await ask(page, QUESTION);
  const ofAnna = await messages(page);
  const { visitorId: anna } = await state(page);

  await come("bert");
  await shows(page, NOTHING_SAID);
  const { visitorId: bert } = await state(page);
  assert.notEqual(bert, anna);
  await ask(page, LATER);
  const ofBert = await messages(page);
  assert.equal(ofBert.length, 3);

  // A visitor without a customer id has a separate conversation as well.
  await come(undefined);
  await shows(page, NOTHING_SAID);

  await come("anna");
  await shows(page, ofAnna);
  assert.equal((await state(page)).visitorId, anna);
  await ask(page, "Are the mugs dishwasher safe?");
  await come("bert");
  await shows(page, ofBert);

  const conversations = await server.conversations();
  const counts = Object.fromEntries(conversations.map(({ visitor, messages }) => [visitor.visitorId, messages.length]));
  assert.deepEqual(counts, { [anna]: 4, [bert]: 2 });
});

test("Tabs of different customers share nothing", async ({ visit, server }) => {
  const anna = await openTab(visit, { prepare: (page) => customers(page, "anna") });
  const bert = await openTab(visit, { beside: anna, prepare: (page) => customers(page, "bert") });
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

for (const [how, spoil] of Object.entries(REFUSES)) {
  const prepare = (page) => page.addInitScript(spoil);

  test(`Two tabs whose storage ${how} share a new conversation`, async ({ visit, server }) => {
    const one = await openTab(visit, { prepare });
    const other = await openTab(visit, { prepare, beside: one });
    await ask(one, QUESTION);
    await showsAll(other, server);
    await ask(other, LATER);
    for (const page of [one, other]) await showsAll(page, server);
    assert.equal((await server.messages()).length, 4);
    assert.equal((await state(one)).visitorId, (await state(other)).visitorId);
  });

  test(`A tab whose storage ${how} receives the conversation from another tab`, async ({ visit, server }) => {
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
}

test("A tab whose module loads late shows messages from another tab", async ({ visit, server }) => {
  const one = await openTab(visit);
  let wasm;
  const other = await visit({ beside: one, prepare: async (page) => (wasm = await hold(page, WASM)) });
  await wasm.requested;
  await ask(one, QUESTION);
  wasm.release();
  await openChat(other);
  await showsAll(other, server);
});
