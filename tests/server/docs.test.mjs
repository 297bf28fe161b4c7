// The JavaScript of docs/server.md, in front of the service in test mode.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { connectorProxy, ServerConnectorClient, toNodeHandler } from "../../dist/server/index.mjs";
import { stopAll } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";
import { snippet } from "../docs-snippets.mjs";
import { startSandbox, token } from "./fixture.mjs";

/** A folder inside of the package, where a module can import the package by its name. */
const folder = join(root, "target", `server-docs-${process.pid}`);
let origin;

before(async () => {
  mkdirSync(folder, { recursive: true });
  ({ origin } = await startSandbox());
  process.env.SITE_TOKEN = token;
});
after(async () => {
  rmSync(folder, { recursive: true });
  await stopAll();
});

let count = 0;
/** Imports a snippet as a module, with this service and further replacements. */
async function run(code, replacements = {}) {
  const all = { "https://service.example": origin, ...replacements };
  for (const [from, to] of Object.entries(all)) {
    assert.ok(code.includes(from), from);
    code = code.replace(from, to);
  }
  const file = join(folder, `snippet-${(count += 1)}.mjs`);
  writeFileSync(file, code);
  return import(pathToFileURL(file).href);
}

/** Asserts that a proxy answers a GET and a POST, and no other path. `send` takes a path and the options of `fetch`. */
async function assertServes(send) {
  assert.equal((await (await send("/connector/chat/config")).json()).data.config.enabled, true);
  const body = JSON.stringify({ events: [{ eventType: "page_view" }] });
  const headers = { "Content-Type": "application/json", "Idempotency-Key": `docs-${crypto.randomUUID()}` };
  const tracked = await send("/connector/events", { method: "POST", headers, body });
  assert.equal((await tracked.json()).data.accepted, 1);
  assert.equal((await send("/connector/site/status")).status, 404);
}

/** Asserts that a server is a proxy, and stops it. */
async function assertServer(server) {
  if (!server.listening) await once(server, "listening");
  const site = `http://127.0.0.1:${server.address().port}`;
  await assertServes((path, init) => fetch(site + path, init));
  await new Promise((closed) => server.close(closed).closeAllConnections());
}

const asRequest = (path, init) => new Request(`https://shop.example${path}`, init);

test("the proxy in Node's http serves", async () => {
  const code = `${snippet("docs/server.md", "Serve the proxy in Node: js")}export { server };`;
  const { server } = await run(code, { "listen(3000": "listen(0" });
  await assertServer(server);
});

test("the proxy in Express serves beside the widget's files, and takes bodies that `express.json()` refuses", async () => {
  const code = `${snippet("docs/server.md", "Serve the proxy in Node: js 2")}export { server };`;
  const { server } = await run(code, { "listen(3000": "listen(0", '"dist"': JSON.stringify(join(root, "dist")) });
  if (!server.listening) await once(server, "listening");
  const site = `http://127.0.0.1:${server.address().port}`;
  const loader = await fetch(`${site}/chat-widget/chat-widget.js`);
  assert.match(loader.headers.get("content-type"), /javascript/);
  // The service cuts titles.
  const event = { eventType: "page_view", title: "x".repeat(15_000) };
  const headers = { "Content-Type": "application/json", "Idempotency-Key": `docs-${crypto.randomUUID()}` };
  const body = JSON.stringify({ events: Array.from({ length: 10 }, () => event) });
  assert.ok(body.length > 100 * 1024);
  const tracked = await fetch(`${site}/connector/events`, { method: "POST", headers, body });
  assert.equal((await tracked.json()).data.accepted, 10);
  await assertServer(server);
});

test("the proxy proves the user of the session", async () => {
  process.env.VISITOR_SECRET = "x".repeat(47);
  const { proxy } = await run(snippet("docs/server.md", "Prove who a signed-in visitor is: js"));
  await assertServes((path, init) => proxy(asRequest(path, init)));
  const node = { session: { user: { number: 4711, name: "Ada", email: "ada@shop.example" } } };
  const response = await proxy(asRequest("/connector/chat/presence"), { node });
  // The service in test mode has no such secret.
  assert.equal((await response.json()).error.code, "INVALID_VISITOR_TOKEN");
});

test("the handler in Fastify gets the raw request of its scope's routes", async () => {
  const handle = toNodeHandler(connectorProxy({ origin, token }));
  const routes = [];
  const types = [];
  const scope = {
    removeAllContentTypeParsers: () => types.splice(0),
    addContentTypeParser: (type, parse) => types.push([type, parse]),
    all: (path, route) => routes.push([path, route]),
  };
  const code = snippet("docs/server.md", "Serve the proxy in Node: js 3");
  new Function("app", "handle", code)({ register: (plugin) => plugin(scope) }, handle);
  const [[type, parse]] = types;
  assert.equal(type, "*");
  parse({}, {}, (error, body) => assert.deepEqual([error, body], [null, undefined]));
  const [[path, route]] = routes;
  assert.equal(path, "/connector/*");
  const server = createServer((raw, response) => route({ raw }, { raw: response, hijack: () => {} }));
  await assertServer(server.listen(0, "127.0.0.1"));
});

test("the proxy as a function serves in Hono, Deno and Bun, and knows the client", async () => {
  const code = snippet("docs/server.md", "Serve the proxy from a function: js");
  const rated = connectorProxy({ origin, token, clientRate: { perMinute: 1, burst: 4 } });
  const clients = [];
  const proxy = (request, context) => (clients.push(context.client), rated(request, context));
  let hono;
  let deno;
  let bun;
  new Function("app", "getConnInfo", "Deno", "Bun", "proxy", code)(
    { all: (path, handle) => (assert.equal(path, "/connector/*"), (hono = handle)) },
    () => ({ remote: { address: "192.0.2.1" } }),
    { serve: (handle) => (deno = handle) },
    { serve: ({ fetch }) => (bun = fetch) },
    proxy,
  );
  await assertServes((...call) => hono({ req: { raw: asRequest(...call) } }));
  await assertServes((...call) => deno(asRequest(...call), { remoteAddr: { hostname: "192.0.2.2" } }));
  await assertServes((...call) => bun(asRequest(...call), { requestIP: () => ({ address: "192.0.2.3" }) }));
  assert.deepEqual([...new Set(clients)], ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
});

test("the route of Next can be imported without the token, and serves", async () => {
  delete process.env.SITE_TOKEN;
  const { GET, POST } = await run(snippet("docs/server.md", "Serve the proxy from a function: js 2"));
  process.env.SITE_TOKEN = token;
  await assertServes((path, init) => (init ? POST : GET)(asRequest(path, init)));
});

test("the worker serves", async () => {
  const { default: worker } = await run(snippet("docs/server.md", "Serve the proxy from a function: js 3"));
  await assertServes((path, init) => worker.fetch(asRequest(path, init), { SITE_TOKEN: token }));
});

test("the client reads the status, sends a message and synchronises content", async () => {
  const lines = [];
  const code = `export default async (console) => {${snippet("docs/server.md", "Call the API from JavaScript: js").replace(/^import.*$/m, "")}}`;
  const imported = 'import { ServerConnectorClient } from "@site-connector/chat-widget/server";';
  const { default: example } = await run(`${imported}\n${code}`);
  await example({ log: (line) => lines.push(line) });
  assert.match(lines[0], / is active$/);
  assert.ok(lines[1].length > 0);
  assert.equal(lines[2], "1 pages accepted");
});

test("the example of a job reports a success and a failure", async () => {
  const client = new ServerConnectorClient({ origin, token });
  const code = `${snippet("docs/server.md", "Call the API from JavaScript: js 2")}export { runNextJob };`;
  const { runNextJob } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const headers = { "Content-Type": "application/json" };
  for (const title of ["good", "bad"]) {
    const body = JSON.stringify({ type: "publish_article", title, maxAttempts: 1 });
    await fetch(`${origin}/sandbox/jobs`, { method: "POST", headers, body });
  }
  const publish = async ({ title }) => {
    if (title === "bad") throw new Error("the disk is full");
    return { url: "https://shop.example/good" };
  };
  assert.deepEqual(
    [await runNextJob(client, publish), await runNextJob(client, publish), await runNextJob(client, publish)],
    [true, true, false],
  );
  const { jobs } = await (await fetch(`${origin}/sandbox/site`)).json();
  assert.deepEqual(
    jobs.map(({ title, status }) => [title, status]),
    [
      ["good", "succeeded"],
      ["bad", "failed"],
    ],
  );
});
