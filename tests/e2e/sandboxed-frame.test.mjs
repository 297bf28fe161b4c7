// A page in a sandboxed frame without an origin: storage throws, and every request is cross-origin.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { eventually } from "./chat.mjs";
import { test } from "./harness.mjs";
import { FAST_POLLING } from "./sandbox.mjs";
import { QUESTION } from "./tabs.mjs";

/** The headers that allow pages of all origins, including a sandboxed frame. */
const ALLOWED = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "GET, POST",
  "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key",
  "Access-Control-Expose-Headers": "Retry-After",
};
const PAGES = {
  "/": '<!doctype html><title>Shop</title><iframe sandbox="allow-scripts" src="/frame.html" width="480" height="700"></iframe>',
  "/frame.html": `<!doctype html><html lang="en"><title>Frame</title><body><script src="/errors.js"></script>
    <script async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script></body></html>`,
};
/** Records the error events in the frame's page. */
const RECORD_ERRORS = `
  window.errors = [];
  window.escaped = [];
  (window.chatWidget ||= []).push(["on", "error", (detail) => errors.push(detail)]);
  addEventListener("error", ({ message }) => escaped.push(message));
  addEventListener("unhandledrejection", ({ reason }) => escaped.push(String(reason)));
`;

/** Serves the shop's files and its proxy, each with or without CORS headers. */
async function serveFrames(site, { files, proxy }) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, site);
    if (PAGES[pathname]) return response.writeHead(200, { "Content-Type": "text/html" }).end(PAGES[pathname]);
    if (pathname === "/errors.js")
      return response.writeHead(200, { "Content-Type": "text/javascript" }).end(RECORD_ERRORS);
    const allowed = (pathname.startsWith("/connector/") ? proxy : files) ? ALLOWED : {};
    if (request.method === "OPTIONS") return response.writeHead(204, allowed).end();
    const body = request.method === "POST" ? Buffer.concat(await request.toArray()) : undefined;
    const named = ["content-type", "idempotency-key"].filter((name) => name in request.headers);
    const headers = Object.fromEntries(named.map((name) => [name, request.headers[name]]));
    const answer = await fetch(new URL(request.url, site), { method: request.method, headers, body });
    const type = answer.headers.get("Content-Type") ?? "text/plain";
    response
      .writeHead(answer.status, { "Content-Type": type, ...allowed })
      .end(Buffer.from(await answer.arrayBuffer()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { address: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close().closeAllConnections() };
}

/** Runs a test in the frame, with a server that allows other origins to read its `files` or its `proxy`. */
function testInFrame(sentence, allowed, body) {
  test(sentence, async (fixture) => {
    const page = await fixture.visit();
    const served = await serveFrames(fixture.site, allowed);
    // The page has another origin than the shop, and the browser logs blocked requests.
    fixture.recordOf(page).tolerate(served.address);
    try {
      await page.goto(served.address);
      const frame = page.frames().find((frame) => frame.url().endsWith("/frame.html"));
      const part = (name) => frame.locator(`[part~="${name}"]`);
      assert.equal(await frame.evaluate(() => origin), "null");
      await body({ ...fixture, frame, part });
      assert.deepEqual(await frame.evaluate(() => window.escaped), [], "no error escapes");
    } finally {
      served.stop();
    }
  });
}

async function opens(part) {
  await part("launcher").click();
  await part("input").waitFor();
}

async function says(part, text) {
  await part("input").fill(text);
  await part("input").press("Enter");
}

testInFrame(
  "The chat works in a frame with an opaque origin, until the page is closed",
  { files: true, proxy: true },
  async ({ frame, part, server }) => {
    await server.setFaults(FAST_POLLING);
    await opens(part);
    await says(part, QUESTION);
    await part("message-assistant").getByText("We pack on weekdays").waitFor();
    await part("message-visitor").getByText("Delivered").waitFor();
    assert.equal((await server.sends()).length, 1);
    await server.operatorSays("Anna here.");
    await part("message-operator").waitFor();
    assert.deepEqual(await frame.evaluate(() => window.errors), []);
  },
);

testInFrame(
  "With a proxy without CORS, a message from a sandboxed frame fails and the error event says why",
  { files: true, proxy: false },
  async ({ frame, part, server }) => {
    await opens(part);
    await says(part, QUESTION);
    await part("message-failed").waitFor({ timeout: 30_000 });
    const errors = await frame.evaluate(() => window.errors);
    assert.ok(
      errors.every(({ code }) => code === "NETWORK"),
      JSON.stringify(errors),
    );
    assert.match(errors.at(-1).message, /no connection to the proxy, or none for this origin/);
    assert.deepEqual(await server.conversations(), []);
  },
);

testInFrame(
  "With files without CORS, each load in a sandboxed frame emits an error that says why",
  { files: false, proxy: false },
  async ({ frame, part }) => {
    const errors = () => frame.evaluate(() => window.errors);
    await eventually(async () => assert.equal((await errors()).length, 1));
    const [{ code, message }] = await errors();
    assert.equal(code, "NOT_LOADED");
    assert.match(message, /chat-widget\.mjs: this frame has no origin of its own$/);
    await part("launcher").click();
    await eventually(async () => assert.ok((await errors()).length > 1));
    await eventually(async () => assert.equal(await part("launcher").getAttribute("aria-busy"), null));
  },
);
