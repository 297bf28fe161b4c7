// Addresses that look like the link of an e-mail with a reply.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventually, shopWith } from "./chat.mjs";
import { closeQuietly } from "./context.mjs";
import { launch } from "./demo.mjs";
import { servePage } from "./service.mjs";
import { startTeam } from "./team.mjs";

let browser;
let shop;
let service;
const contexts = [];

before(async () => {
  [browser, shop] = await Promise.all([launch(), servePage(() => "")]);
  service = await startTeam(["Maren"], { origins: [shop.origin] });
});

after(async () => {
  await browser?.close();
  await Promise.all([service?.stop(), shop?.stop()]);
});

afterEach(async () => {
  for (const context of contexts.splice(0)) await closeQuietly(context);
});

/** Opens an address of the shop in a browser of its own. Returns its page. */
async function openElsewhere(address) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" });
  contexts.push(context);
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  await shopWith(() => `<!doctype html><html lang="en"><title>A shop</title>${service.scriptTag}</html>`)(page);
  await page.goto(address);
  return { page };
}

test("A link that opens nothing leaves the address and the chat as they are", async () => {
  const { page } = await openElsewhere(`${shop.origin}/#chat-widget-mail=mail.forged`);
  await eventually(() => assert.equal(new URL(page.url()).hash, ""));
  await eventually(async () => assert.ok(await page.locator("[part~=composer]").isVisible()));
  const { page: other } = await openElsewhere(`${shop.origin}/#send-mail=1`);
  await eventually(async () => assert.ok(await other.locator("[part~=launcher]").isVisible()));
  assert.equal(new URL(other.url()).hash, "#send-mail=1");
});
