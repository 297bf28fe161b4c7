// The tabs of one browser share a conversation.

import assert from "node:assert/strict";
import { FAST_POLLING } from "../e2e/sandbox.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

/** Without BroadcastChannel, the tabs communicate by `storage` events. */
const WAYS = { "": {}, ", without BroadcastChannel": { first: () => delete window.BroadcastChannel } };

for (const [how, options] of Object.entries(WAYS)) {
  test(`A message sent in one tab and an operator's reply appear in both tabs${how}`, async ({ visit, server }) => {
    await server.setFaults(FAST_POLLING);
    const one = await visit(options);
    await one.openChat();
    const other = await visit({ beside: one });
    await other.openChat();
    await one.ask(QUESTION);
    await other.showsAll(server);
    await other.ask(LATER);
    await one.showsAll(server);
    await server.operatorSays("Anna here.");
    for (const tab of [one, other]) {
      await tab.has("message-operator", 1);
      await tab.showsAll(server);
    }
    const visitorMessages = (await server.messages()).filter((line) => line.startsWith("visitor: "));
    assert.deepEqual(visitorMessages, [`visitor: ${QUESTION}`, `visitor: ${LATER}`]);
  });
}
