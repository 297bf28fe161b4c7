// The Leptos application of `examples/leptos-ssr/`, which its own server renders, built by `node scripts/example.mjs`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { firstLine, start } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";
import { ask, eventually, focused, part } from "./chat.mjs";
import { launch, startDemo } from "./demo.mjs";

const SERVER = "target/leptos/debug/leptos-ssr-shop";

let demo, browser, server, site;

before(async () => {
  demo = await startDemo();
  browser = await launch();
  server = start(SERVER, ["target/leptos-ssr-shop", demo.sandbox], { CONNECTOR_TOKEN: demo.token }, root);
  site = await firstLine(server);
});

after(async () => {
  server?.child.kill();
  await browser?.close();
  await demo?.stop();
});

/** Opens the page and collects its errors. */
async function visit(options) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  await page.goto(site);
  return { page, errors };
}

test("The server renders the page with an empty element for the chat", async () => {
  const { page, errors } = await visit({ javaScriptEnabled: false });
  assert.equal(await page.locator("h1").textContent(), "Clay & Co.");
  assert.equal(await page.locator("chat-widget").innerHTML(), "");
  assert.deepEqual(errors, []);
});

test("The browser hydrates the page, and a visitor gets a reply", async () => {
  const { page, errors } = await visit();
  await part(page, "launcher").waitFor();
  await page.locator("#ask").click();
  await eventually(async () => assert.equal(await focused(page), "input"));
  await ask(page, "How long does delivery take?");
  assert.equal(await page.locator("chat-widget").count(), 1, "hydrated, not rendered twice");
  assert.deepEqual(errors, []);
});

test("The server renders many pages at the same time", async () => {
  const pages = await Promise.all(Array.from({ length: 50 }, async () => (await fetch(site)).text()));
  assert.equal(new Set(pages).size, 1);
});
