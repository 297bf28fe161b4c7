// What the README tells a site's owner and a front-end developer to write, written on a page and tried.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, eventually, openChat, part } from "./chat.mjs";
import { test } from "./harness.mjs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const snippet = (language) => readme.match(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``))[1];

/** Replaces the shop's first page by one with this body, under the shop's own policy. */
const pageOf = (body) => async (page) => {
  await page.route((url) => url.pathname === "/", async (route) => {
    const shop = await route.fetch();
    await route.fulfill({ response: shop, body: `<!doctype html><html lang="en"><title>Shop</title><body>${body}</body></html>` });
  });
};

/** A page with a module of its own. */
const pageWith = (code) => async (page) => {
  await pageOf('<script type="module" src="/chat-widget/page.mjs"></script>')(page);
  await page.route("**/chat-widget/page.mjs", (route) => route.fulfill({ contentType: "text/javascript", body: code }));
};

test("The README's line puts the chat on a page", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(snippet("html")) });
  await openChat(page);
  await ask(page, "How long does delivery take?");
});

test("The README's import mounts a widget, opens it, and counts in the page's title", async ({ visit, server }) => {
  await server.trouble({ presence: { suggestedMessageIntervalMs: 1000, suggestedPresenceIntervalMs: 3000 } });
  const code = snippet("ts").replace('"@site-connector/chat-widget"', '"/chat-widget/chat-widget.mjs"');
  const page = await visit({ prepare: pageWith(`${code}\nwindow.widget = widget;`) });
  await part(page, "input").waitFor();
  await ask(page, "How long does delivery take?");
  await page.evaluate(() => window.widget.close());
  await server.operatorSays("Hello");
  await eventually(async () => assert.equal(await page.title(), "(1) Shop"));
});

test("A widget that the page keeps no reference to stays on the page", async ({ visit }) => {
  const code = 'import { ChatWidget } from "/chat-widget/chat-widget.mjs"; await ChatWidget.mount({ proxy: "/connector" });';
  const page = await visit({ prepare: pageWith(code) });
  await part(page, "launcher").waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await openChat(page);
  await ask(page, "How long does delivery take?");
});
