// The conversation after a reload, and on pages without storage.

import assert from "node:assert/strict";
import { REFUSES, ask, eventually, messages, openChat, part, showsAll } from "./chat.mjs";
import { test } from "./harness.mjs";
import { FAST_POLLING, WELCOME } from "./sandbox.mjs";

test("A reload restores the conversation in order without duplicates", async ({ visit, server, recordOf }) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await ask(page, "Are the mugs dishwasher safe?");
  await server.operatorSays("Anna here. Can I help?");
  await part(page, "message-operator").waitFor();
  const before = await messages(page);
  assert.deepEqual(before, [`assistant: ${WELCOME}`, ...(await server.messages())]);

  await page.reload();
  await openChat(page);
  await eventually(async () => assert.deepEqual(await messages(page), before));

  // Repeated reads add no duplicates.
  const reads = () => recordOf(page).of("/connector/chat/messages", "GET").length;
  const soFar = reads();
  await eventually(() => assert.ok(reads() >= soFar + 3));
  assert.deepEqual(await messages(page), before);

  await ask(page, "Do you sell gift vouchers?");
  assert.equal((await server.conversation()).messages.length, 7);
  await showsAll(page, server);
});

test("The conversation continues on another page of the site", async ({ visit, server, site }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await page.goto(`${site}/help.html`);
  await openChat(page);
  await showsAll(page, server);
  await ask(page, "Can I book a workshop?");
  assert.equal((await server.conversation()).messages.length, 4);
});

for (const [how, prepare] of Object.entries(REFUSES)) {
  test(`The chat works on a page whose storage ${how}`, async ({ visit, server }) => {
    const page = await visit({ prepare: (page) => page.addInitScript(prepare) });
    await openChat(page);
    await ask(page, "How long does delivery take?");
    await ask(page, "Can I book a workshop?");
    assert.equal((await server.conversation()).messages.length, 4);
    await showsAll(page, server);
  });
}
