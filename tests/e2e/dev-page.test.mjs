// The development page of `www/dev/`, built by `node scripts/dev-page.mjs` as `trunk serve` builds it.

import assert from "node:assert/strict";
import { ask, openChat, part } from "./chat.mjs";
import { servePages, test } from "./harness.mjs";

servePages("target/dev-page");

test("The development page shows the launcher, and the chat works", async ({ visit, server }) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  assert.equal((await server.messages()).length, 2);
});

test("The development page takes its theme from the URL", async ({ visit }) => {
  const page = await visit({ path: "/?theme=rose" });
  const colour = () => part(page, "launcher").evaluate((launcher) => getComputedStyle(launcher).backgroundColor);
  const rose = await colour();
  const teal = await visit();
  const other = await part(teal, "launcher").evaluate((launcher) => getComputedStyle(launcher).backgroundColor);
  assert.notEqual(rose, other);
});
