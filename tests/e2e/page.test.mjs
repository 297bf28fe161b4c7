// The widget leaves the page's policy, globals and elements unchanged, and the token never reaches it.

import assert from "node:assert/strict";
import { ask, eventually, openChat, part } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageWith } from "./pages.mjs";

/** The policy that the widget must work under. */
const POLICY = {
  "default-src": "'none'",
  "script-src": "'self' 'wasm-unsafe-eval'",
  "style-src": "'self'",
  "connect-src": "'self'",
  "img-src": "'self'",
  "require-trusted-types-for": "'script'",
};

/** A visit from the first click to a reload. */
async function wholeVisit(page, server) {
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await server.operatorSays("Anna here.");
  await part(page, "message-operator").waitFor();
  await server.setFaults({ only: "send", status: 402, times: 1 });
  await part(page, "input").fill("Two mugs, please");
  await part(page, "send").click();
  await part(page, "message-failed").waitFor();
  await part(page, "retry").click();
  await part(page, "composer").waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await openChat(page);
  await part(page, "message-operator").waitFor();
}

test("A full visit works under the strictest policy and sends requests to the site only", async ({
  visit,
  server,
  recordOf,
}) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit();
  // A page that has just started to load cannot be reloaded.
  await page.waitForLoadState();
  const answer = await page.reload();
  const sent = (await answer.allHeaders())["content-security-policy"];
  const policy = Object.fromEntries(sent.split(/;\s*/).map((directive) => directive.split(/ (.*)/)));
  for (const [name, value] of Object.entries(POLICY)) assert.equal(policy[name], value, name);

  await wholeVisit(page, server);
  assert.deepEqual(recordOf(page).complaints, []);
  const requests = new Set(
    recordOf(page)
      .paths()
      .filter((request) => /connector|chat-widget/.test(request)),
  );
  requests.delete("POST /connector/events");
  assert.deepEqual([...requests].sort(), [
    "GET /chat-widget/chat-widget.js",
    "GET /chat-widget/chat-widget.mjs",
    "GET /chat-widget/chat-widget.wasm",
    "GET /chat-widget/companion.mjs",
    "GET /chat-widget/deferred.wasm",
    "GET /chat-widget/element.mjs",
    "GET /chat-widget/page-listeners.mjs",
    "GET /chat-widget/recover.mjs",
    "GET /chat-widget/styles.mjs",
    "GET /chat-widget/themes/teal.mjs",
    "GET /chat-widget/waiting.mjs",
    "GET /connector/chat/config",
    "GET /connector/chat/messages",
    "GET /connector/chat/presence",
    "POST /connector/chat/messages",
  ]);
});

test("No response or request contains the token", async ({ visit, recordOf, site, service }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await page.clock.runFor(5000);
  const record = recordOf(page);
  await eventually(async () => {
    await record.settle();
    const read = new Set(record.read.map((url) => new URL(url).pathname));
    for (const path of ["/", "/chat-widget/chat-widget.wasm", "/connector/chat/config", "/connector/chat/messages"]) {
      assert.ok(read.has(path), path);
    }
    for (const path of ["/connector/chat/presence", "/connector/events"]) assert.ok(read.has(path), path);
  });
  assert.deepEqual(record.unread, [], "every response was read");
  assert.deepEqual(record.complaints, []);
  // The service accepts this token, so it is the one that could leak.
  const config = `${service.origin}/api/connector/v1/chat/config`;
  assert.equal((await fetch(config)).status, 401);
  assert.equal((await fetch(config, { headers: { Authorization: `Bearer ${service.token}` } })).status, 200);
  assert.equal((await fetch(`${site}/connector/chat/config`)).status, 200);
});

test("The record notices violations, log messages and requests to other origins", async ({
  visit,
  recordOf,
  service,
}) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  const record = recordOf(page);
  await page.evaluate(() => {
    const picture = new Image();
    picture.src = "https://elsewhere.example/pixel.png";
    document.body.append(picture);
    console.error("something is wrong");
    queueMicrotask(() => {
      throw new Error("nobody catches this");
    });
  });
  await page.evaluate(() => (document.body.innerHTML = "<b>")).catch(() => {});
  await page.evaluate(async () => {
    const answer = await fetch("/connector/site/status", { headers: { Authorization: "Bearer x" } });
    await answer.text();
  });
  await eventually(async () => {
    await record.settle();
    for (const expected of [
      /policy: img-src https:\/\/elsewhere\.example/,
      /policy: require-trusted-types-for/,
      /console error: something is wrong/,
      /page error: .*nobody catches this/,
      /an unexpected request: \/connector\/site\/status/,
      /a token in the request to .*site\/status/,
    ]) {
      assert.ok(
        record.complaints.some((complaint) => expected.test(complaint)),
        `${expected}`,
      );
    }
  });
  await page.goto(service.origin);
  const elsewhere = (complaint) => complaint.startsWith("a request to another origin");
  await eventually(() => assert.ok(record.complaints.some(elsewhere)));
  await page.close();
  await record.settle();
  record.takeComplaints();
});

test("The record notices the token in every part of a request and of a response", async ({
  visit,
  recordOf,
  service: { token },
}) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  const record = recordOf(page);
  await page.route("**/connector/chat/presence?*", (route) =>
    route.fulfill(
      route.request().url().endsWith("header") ? { headers: { "X-Kept": token } } : { body: `{"kept":"${token}"}` },
    ),
  );
  const places = {
    "the request to .*config\\?address": [`config?address=${token}`],
    "the request to .*config\\?header": ["config?header", { headers: { "X-Kept": token } }],
    "the request to .*messages\\?body": ["messages?body", { method: "POST", body: token }],
    "the answer to .*presence\\?header": ["presence?header"],
    "the answer to .*presence\\?body": ["presence?body"],
  };
  for (const [path, options] of Object.values(places)) {
    await page.evaluate(
      ([url, init]) => fetch(url, init).then((answer) => answer.text()),
      [`/connector/chat/${path}`, options],
    );
  }
  await record.settle();
  const complaints = record.takeComplaints();
  for (const place of Object.keys(places)) {
    assert.ok(
      complaints.some((complaint) => new RegExp(`^a token in ${place}`).test(complaint)),
      place,
    );
  }
  assert.equal(complaints.length, Object.keys(places).length, complaints.join("\n"));
});

test("The widget adds one element and one global to the page, and no style", async ({ visit, server }) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const look = (page) =>
    page.evaluate(() => ({
      globals: Object.getOwnPropertyNames(window).filter((name) => Number.isNaN(Number(name))),
      inHead: document.head.childElementCount,
      inBody: [...document.body.children].map(({ localName }) => localName),
      sheets: document.styleSheets.length + document.adoptedStyleSheets.length,
      attributes: [document.documentElement, document.body].map(({ attributes }) => attributes.length),
      styles: ["body", "h1", "p", "a", "button, .button"].map((selector) => {
        const { font, color, margin, padding, display } = getComputedStyle(document.querySelector(selector));
        return { font, color, margin, padding, display };
      }),
    }));
  const bare = await visit({ prepare: (page) => page.route("**/chat-widget/**", (route) => route.abort("failed")) });
  await bare.waitForLoadState("load");
  const without = await look(bare);

  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const added = await look(page);
  assert.deepEqual(
    added.globals.filter((name) => !without.globals.includes(name)),
    ["chatWidget"],
  );
  assert.deepEqual(added.inBody, [...without.inBody, "chat-widget"]);
  for (const name of ["inHead", "sheets", "attributes", "styles"]) assert.deepEqual(added[name], without[name], name);
});

test("A widget without a reference to it is not garbage-collected", async ({ visit }) => {
  const code =
    'import { ChatWidget } from "/chat-widget/chat-widget.mjs"; await ChatWidget.mount({ proxy: "/connector" });';
  const page = await visit({ prepare: pageWith(code) });
  await part(page, "launcher").waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await openChat(page);
  await ask(page, "How long does delivery take?");
});
