// The script tag under a strict policy: with the hash of its file, and with a nonce.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { TAG, ask, openChat, part, shopWith } from "./chat.mjs";
import { test } from "./harness.mjs";

const SNIPPET = readFileSync(fileURLToPath(new URL("../../dist/snippet.html", import.meta.url)), "utf8").trim();
/** Prepares a visit of the shop with another script tag, and another policy if given. */
const shopWithTag = (tag, policy) =>
  shopWith((html) => html.replace(TAG, () => tag), policy && { "content-security-policy": policy });

test("The script tag that the build writes, with the file's hash, loads the chat", async ({ visit }) => {
  const page = await visit({ prepare: shopWithTag(SNIPPET) });
  await openChat(page);
  await ask(page, "How long does delivery take?");
});

test("A file that does not match the hash does not run", async ({ visit, recordOf }) => {
  const page = await visit({
    prepare: async (page) => {
      recordOf(page).tolerate("integrity");
      await shopWithTag(SNIPPET)(page);
      await page.route("**/chat-widget.js", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: `${await response.text()}\nwindow.ran = true;` });
      });
    },
  });
  await page.waitForLoadState("load");
  assert.deepEqual(await page.evaluate(() => [window.ran, window.chatWidget]), [undefined, undefined]);
});

test("A script tag with a nonce loads the other files under 'strict-dynamic'", async ({ visit, recordOf }) => {
  const policy =
    "default-src 'none'; script-src 'nonce-kiln' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self'; " +
    "connect-src 'self'; img-src 'self'; require-trusted-types-for 'script'";
  const tag = '<script nonce="kiln" async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script>';
  const page = await visit({ prepare: shopWithTag(tag, policy) });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await part(page, "message-assistant").nth(1).waitFor();
  assert.deepEqual(recordOf(page).complaints, []);
});
