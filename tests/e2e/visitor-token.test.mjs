// The option `visitorToken`, on pages that use the service directly: one conversation on every device, nothing after signing
// out, and a token that expires.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { snippet } from "../docs-snippets.mjs";
import { ask, delivered, eventually, messages, openChat, part, ready, say, shopWith } from "./chat.mjs";
import { closeQuietly } from "./context.mjs";
import { launch } from "./demo.mjs";
import { servePage } from "./service.mjs";
import { startTeam } from "./team.mjs";

let browser;
let shop;
let service;
let secret;
const contexts = [];

before(async () => {
  [browser, shop] = await Promise.all([launch(), servePage(() => "")]);
  service = await startTeam(["Maren"], { origins: [shop.origin] });
  ({ secret } = await service.operators[0].call("POST", `sites/${service.site.id}/visitor-secret/rotate`));
});

after(async () => {
  await browser?.close();
  await Promise.all([service?.stop(), shop?.stop()]);
});

afterEach(async () => {
  for (const context of contexts.splice(0)) await closeQuietly(context);
});

/** Signs a token, as the shop's server does. */
function tokenOf(sub, seconds = 600) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub, exp: Math.floor(Date.now() / 1000) + seconds, email: `${sub}@shop.example` };
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** The shop's page, on which somebody is signed in, or nobody. */
function html(token) {
  const [, src, proxy] = service.scriptTag.match(/src="([^"]+)" data-proxy="([^"]+)"/);
  const tag = snippet("docs/frontend.md", "Prove who is signed in: html")
    .replace("/chat-widget/chat-widget.js", src)
    .replace("/connector", proxy)
    .replace("eyJhbGciOi…", token ?? "");
  return `<!doctype html><html lang="en"><title>A shop</title>${tag}</html>`;
}

/** Opens the shop on another device. `shows(token)` changes who is signed in on the next page. */
async function device(token) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" });
  contexts.push(context);
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  let current = token;
  const sent = [];
  page.on("request", (request) => {
    if (request.method() === "OPTIONS" || !request.url().includes("/chat/messages")) return;
    sent.push({
      token: request.headers()["visitor-token"],
      body: request.postData(),
      key: request.headers()["idempotency-key"],
    });
  });
  await shopWith(() => html(current))(page);
  await page.goto(shop.origin);
  return { page, sent, shows: (other) => (current = other) };
}

const stored = (page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
const isEmpty = (page) => eventually(async () => assert.deepEqual(await messages(page), []));

test("A visitor who signs in sees one conversation on every device, and after signing out nobody sees it", async () => {
  const token = tokenOf("crm-ada");
  const first = await device(token);
  await openChat(first.page);
  await ask(first.page, "Where is my order?");
  const { checks } = await first.page.evaluate(() => window.chatWidget.diagnose());
  const secrets = [token, token.split(".")[1], token.split(".")[2]];
  for (const text of [await stored(first.page), JSON.stringify(checks)])
    for (const part of secrets) assert.ok(!text.includes(part), "the token is stored and shown nowhere");

  const second = await device(token);
  await openChat(second.page);
  await eventually(async () => assert.equal((await messages(second.page))[0], "visitor: Where is my order?"));
  await part(second.page, "input").fill("A draft");

  // On the page, without a reload.
  await second.page.evaluate(() => window.chatWidget.update({ visitorToken: null }));
  await isEmpty(second.page);
  assert.equal(await part(second.page, "input").inputValue(), "");
  assert.doesNotMatch(await stored(second.page), /crm-ada|conv_|A draft/);

  // By the next page, which does not know who has been there.
  first.shows(undefined);
  await first.page.reload();
  await openChat(first.page);
  await isEmpty(first.page);
  await eventually(async () => assert.doesNotMatch(await stored(first.page), /crm-ada|conv_/));
  first.shows(tokenOf("crm-bob"));
  await first.page.reload();
  await openChat(first.page);
  await ask(first.page, "Do you ship?");
  assert.equal((await messages(first.page)).filter((line) => line.startsWith("visitor")).length, 1);
  // A page that cannot say who is signed in now may mean another person.
  await first.page.evaluate(() =>
    window.chatWidget.update({ visitorToken: () => Promise.reject(new Error("no session")) }),
  );
  await isEmpty(first.page);
  const conversations = await service.operators[0].call("GET", "conversations");
  const visitors = conversations.conversations.map(({ visitor }) => visitor.visitorId).sort();
  assert.deepEqual(visitors, ["verified:crm-ada", "verified:crm-bob"]);
});

test("The function of the docs is called again for a token that has expired, and without one the chat goes on", async () => {
  const { page, sent } = await device(tokenOf("crm-cleo", -3600));
  let answer = () => ({ body: tokenOf("crm-cleo") });
  let calls = 0;
  await page.route("**/visitor-token", (route) => {
    calls += 1;
    return route.fulfill(answer());
  });
  await ready(page);
  await openChat(page);
  // The text of the attribute cannot be renewed.
  await ask(page, "Do you ship?");
  assert.ok(sent[0].token, "for the conversation of another device");
  const asked = sent.filter(({ body }) => body?.includes("Do you ship?"));
  assert.equal(asked.at(-1).token, undefined);
  assert.equal(new Set(asked.map(({ body, key }) => body + key)).size, 1);

  answer = () => ({ body: tokenOf("crm-cleo", -3600) });
  const code = snippet("docs/frontend.md", "Prove who is signed in: js");
  await page.evaluate((code) => new Function(code)(), code);
  await eventually(() => assert.equal(calls, 1));
  answer = () => ({ body: tokenOf("crm-cleo") });
  await say(page, "And to Norway?");
  await delivered(page);
  assert.equal(calls, 2, "once for the refused token, whatever number of requests had it");
  const attempts = sent.filter(({ body }) => body?.includes("Norway"));
  assert.ok(attempts.at(-1).token);
  assert.equal(new Set(attempts.map(({ body, key }) => body + key)).size, 1);

  // Nobody is signed in any more.
  answer = () => ({ status: 401, body: "" });
  await page.evaluate((code) => new Function(code)(), code);
  await isEmpty(page);
});
