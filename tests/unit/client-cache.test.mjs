// The cache mode of each request of `www/client.ts`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "../../scripts/options.mjs";

const { BrowserWidgetClient } = await importSource("www/client.ts");

test("only a request for the config may be answered from a cache", async () => {
  const modes = [];
  globalThis.fetch = async (url, { cache }) => {
    modes.push([new URL(url).pathname, cache]);
    return new Response(JSON.stringify({ ok: true, data: { conversationId: "c1", messages: [] } }));
  };
  const client = new BrowserWidgetClient({ proxy: "https://shop.example/connector" });
  await client.getChatConfig();
  await client.sendMessage("Hello");
  await client.listMessages();
  await client.getPresence();
  await client.track({ eventType: "page_view" });
  assert.deepEqual(modes, [
    ["/connector/chat/config", "default"],
    ["/connector/chat/messages", "no-store"],
    ["/connector/chat/messages", "no-store"],
    ["/connector/chat/presence", "no-store"],
    ["/connector/events", "no-store"],
  ]);
});
