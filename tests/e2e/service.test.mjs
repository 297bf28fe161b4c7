// A page with one line of HTML uses the service directly: the widget's files and the proxy paths, from another origin.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, delivered, errorsOf, eventually, isInView, messages, openChat, part, say } from "./chat.mjs";
import { launch } from "./demo.mjs";
import { servePage, startService } from "./service.mjs";
import { startTeam } from "./team.mjs";

let service;
let browser;
let shop;
/** Returns the HTML of the page. */
let content = () => service.scriptTag;

before(async () => {
  [browser, shop] = await Promise.all([launch(), servePage(() => content())]);
  service = await startTeam(["Maren", "Noor"], { origins: [shop.origin] });
});

after(async () => {
  await browser?.close();
  await Promise.all([service?.stop(), shop?.stop()]);
});

/** Opens a page as a new visitor. Returns it with the errors that its console showed. */
async function visit(origin = shop.origin) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const errors = errorsOf(page);
  await page.goto(origin);
  return { page, errors, close: () => context.close() };
}

test("A visitor of a page on another origin asks, and sees the answer", { timeout: 60_000 }, async () => {
  const { page, errors, close } = await visit();
  assert.notEqual(new URL(service.address).host, new URL(shop.origin).host);
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const answer = part(page, "message-assistant").last();
  await isInView(answer);
  assert.deepEqual(errors, []);
  await close();
});

test("A page whose code has no options has those of the site, and its own win", { timeout: 60_000 }, async () => {
  const [owner] = service.operators;
  const set = (widgetOptions) => owner.call("PATCH", `sites/${service.site.id}`, { widgetOptions });
  await set({
    theme: "custom",
    themeTokens: { accent: "#6b2fb3" },
    position: "start",
    suggestedQuestions: ["Do you ship to Norway?"],
    operatorName: "Maren's team",
  });
  const { page, errors, close } = await visit();
  const launcher = part(page, "launcher");
  const colour = () => launcher.evaluate((button) => getComputedStyle(button).backgroundColor);
  const isOnTheLeft = async () => assert.ok((await launcher.boundingBox()).x < 200);
  await launcher.waitFor();
  await openChat(page);
  await part(page, "suggestion").getByText("Do you ship to Norway?").waitFor();
  await page.mouse.move(600, 10);
  await eventually(async () => assert.equal(await colour(), "rgb(107, 47, 179)"));
  await isOnTheLeft();

  // On the next page they are there before the config, which comes late.
  let deliver;
  const held = new Promise((resolve) => (deliver = resolve));
  const config = /\/chat\/config/;
  await page.route(config, (route) => held.then(() => route.continue()));
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await launcher.waitFor();
  await isOnTheLeft();
  deliver();
  await page.unrouteAll({ behavior: "ignoreErrors" });

  // The page's own code wins, for each option on its own.
  content = () => service.scriptTag.replace("<script ", '<script data-position="end" ');
  await page.reload();
  await openChat(page);
  assert.ok((await launcher.boundingBox()).x > 200);
  await part(page, "suggestion").getByText("Do you ship to Norway?").waitFor();

  // Nothing stays of options that the site has taken back.
  content = () => service.scriptTag;
  await set({});
  for (const _ of ["the config of before", "the new one"]) {
    await page.reload();
    await openChat(page);
  }
  assert.ok((await launcher.boundingBox()).x > 200);
  assert.equal(await part(page, "suggestion").count(), 0);
  assert.deepEqual(errors, []);
  await close();
});

test("An operator answers by the admin API, and the visitor sees it", { timeout: 60_000 }, async () => {
  const { page, errors, close } = await visit();
  await openChat(page);
  await ask(page, "Can I talk to a real person?");
  const { conversations } = await service.operators[0].call("GET", "conversations?status=waiting");
  const asking = conversations.filter(({ lead }) => lead.needsHandoff);
  assert.equal(asking.length, 1);
  assert.equal(asking[0].siteId, service.site.id);
  const path = `conversations/${asking[0].id}/messages`;
  for (const text of Array(2).fill("Maren here. **Yes**, you can."))
    await service.operators[0].call("POST", path, { text }, { "Idempotency-Key": "answer-1" });
  const answer = part(page, "message-operator");
  await answer.waitFor({ timeout: 30_000 });
  assert.match(await answer.innerText(), /Maren here\. Yes, you can\./);
  await isInView(answer);
  // The conversation goes on after a reload.
  await page.reload();
  await openChat(page);
  await answer.waitFor();
  assert.equal(await answer.count(), 1);
  await say(page, "Thank you");
  await delivered(page);
  await eventually(async () => assert.ok((await messages(page)).some((line) => line.endsWith("Thank you"))));
  assert.deepEqual(errors, []);
  await close();
});

test("A visitor sees who writes, and who is writing", { timeout: 90_000 }, async () => {
  const { page, errors, close } = await visit();
  await openChat(page);
  await ask(page, "I want to talk to a person about lids");
  const { conversations } = await service.operators[0].call("GET", "conversations?status=waiting&q=lids");
  const path = `conversations/${conversations[0].id}`;
  const [maren, noor] = service.operators;
  const typing = part(page, "typing");
  await eventually(async () => {
    await maren.call("POST", `${path}/typing`, {});
    assert.match(await typing.innerText({ timeout: 1000 }), /Maren\s+is writing/);
  }, 30_000);
  await isInView(typing);
  await maren.call("POST", `${path}/messages`, { text: "Which lid do you mean?" });
  const written = part(page, "message-operator");
  await written.waitFor({ timeout: 30_000 });
  await eventually(async () => assert.equal(await typing.count(), 0));
  assert.match(await written.innerText(), /^M\s+Maren|^Maren/);
  await eventually(async () => assert.match(await part(page, "header").innerText(), /Maren/));
  await noor.call("POST", `${path}/messages`, { text: "The blue one is back in stock." });
  await eventually(async () => assert.match(await written.last().innerText(), /Noor/), 30_000);
  const joined = await part(page, "joined").allInnerTexts();
  assert.deepEqual(
    joined.map((line) => line.match(/Maren|Noor/)?.[0]),
    ["Maren", "Noor"],
  );
  await page.reload();
  await openChat(page);
  await eventually(async () => assert.match(await written.first().innerText(), /Maren/));
  assert.match(await written.last().innerText(), /Noor/);
  assert.deepEqual(errors, []);
  await close();
});

test("A page of an origin that is not allowed cannot use the chat", { timeout: 60_000 }, async () => {
  const stranger = await servePage(() => service.scriptTag);
  const { page, close } = await visit(stranger.origin);
  const read = await page.evaluate(async (url) => {
    const response = await fetch(url).catch((error) => error);
    return response instanceof Error ? "refused" : response.status;
  }, `${service.address}/connector/${service.site.id}/chat/config`);
  assert.equal(read, "refused");
  await close();
  await stranger.stop();
});

test("The widget's files are readable from any origin, and others of the service are not", async () => {
  const loader = await fetch(`${service.address}/chat-widget/chat-widget.js`);
  assert.equal(loader.status, 200);
  assert.equal(loader.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(loader.headers.get("access-control-allow-origin"), "*");
  assert.equal(loader.headers.get("cross-origin-resource-policy"), "cross-origin");
  const module = await fetch(`${service.address}/chat-widget/chat-widget.wasm`);
  assert.equal(module.headers.get("content-type"), "application/wasm");
  for (const path of [
    "nothing.js",
    "../service.db",
    "%2e%2e/service.db",
    "..%2fservice.db",
    ".built",
    "%2Ebuilt",
    "",
  ]) {
    const response = await fetch(`${service.address}/chat-widget/${path}`);
    assert.equal(response.status, 404, path);
    assert.doesNotMatch(await response.text(), /</, path);
  }
  const page = await fetch(`${service.address}/console/`);
  assert.equal(page.headers.get("access-control-allow-origin"), null);
});

test("Without the widget's folder, its files are 404 with what to do", async () => {
  const bare = await startService({ widget: "/nonexistent/widget" });
  const response = await fetch(`${bare.address}/chat-widget/chat-widget.js`);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /--widget-dir/);
  await bare.stop();
});
