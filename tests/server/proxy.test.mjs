// `connectorProxy`, from `Request` to `Response`, and in Node's servers. tests/hostile/ attacks it over raw sockets.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { after, afterEach, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import express from "express";
import { stopAll } from "../../scripts/servers.mjs";
import { connectorProxy, toNodeHandler } from "../../dist/server/index.mjs";
import { read } from "../docs-snippets.mjs";
import { command, failure, startSandbox, startService, token } from "./fixture.mjs";

const SITE = "https://shop.example";
let service;
beforeEach(async () => void (service = await startService()));
afterEach(() => service.stop());
after(stopAll);

const make = (options) => connectorProxy({ origin: service.origin, token, log: () => {}, ...options });
const get = (path, headers) => new Request(SITE + path, { headers });
const post = (path, body = "{}", headers = {}) =>
  new Request(SITE + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
    duplex: "half",
  });

/** Listens with a handler, and returns its address. The server stops after the test. */
async function listen(t, handler) {
  const server = createServer(handler);
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${server.address().port}`;
}

test("every sentence of `site-connector check` holds in Node's http, in front of the service", async (t) => {
  const { origin } = await startSandbox();
  const site = await listen(t, toNodeHandler(connectorProxy({ origin, token })));
  const { stdout } = await promisify(execFile)(command, ["check", `${site}/connector`]);
  const [, count] = read("docs/server.md").match(/each of (\d+) checks/);
  assert.match(stdout, new RegExp(`^All ${count} checks hold`, "m"));
});

test("a call is forwarded with the token and three headers of the visitor, and nothing else", async () => {
  const forwarded = { "Idempotency-Key": "key-12345", "Accept-Language": "de", "Visitor-Token": "a.b.c" };
  const headers = { ...forwarded, Cookie: "a=b", Authorization: "Bearer x" };
  const response = await make()(post("/connector/events?a=%20b", '{"events":[]}', headers));
  assert.equal(response.status, 200);
  const [{ method, url, headers: sent, body }] = service.requests;
  assert.deepEqual([method, url, body], ["POST", "/api/connector/v1/events?a=%20b", '{"events":[]}']);
  const { authorization, "idempotency-key": key, "accept-language": language, "visitor-token": visitor, cookie } = sent;
  assert.deepEqual([key, language, visitor], Object.values(forwarded));
  assert.deepEqual([authorization, cookie], [`Bearer ${token}`, undefined]);
});

test("the server proves who is signed in, and the token that a page sent is dropped", async () => {
  const visitorSecret = `svs_${"x".repeat(43)}`;
  const users = new Map([["session=1", { id: "crm-4711", name: "Ada Lovelace", email: "ada@shop.example" }]]);
  const visitor = async (request, { client }) => client && users.get(request.headers.get("Cookie"));
  const proxy = make({ visitor, visitorSecret });
  const tokenOf = async (cookie, path = "/connector/chat/presence") => {
    await proxy(get(path, { Cookie: cookie, "Visitor-Token": "from.the.page" }), { client: "192.0.2.1" });
    return service.requests.at(-1).headers["visitor-token"];
  };
  const [header, claims, signature] = (await tokenOf("session=1")).split(".");
  const parse = (part) => JSON.parse(Buffer.from(part, "base64url"));
  assert.deepEqual(parse(header), { alg: "HS256", typ: "JWT" });
  const { exp, ...proved } = parse(claims);
  assert.deepEqual(proved, { sub: "crm-4711", name: "Ada Lovelace", email: "ada@shop.example" });
  assert.ok(Math.abs(exp - Date.now() / 1000 - 300) < 60);
  const expected = createHmac("sha256", visitorSecret).update(`${header}.${claims}`).digest("base64url");
  assert.equal(signature, expected);
  assert.equal(await tokenOf("session=2"), undefined);
  assert.equal(await tokenOf("session=1", "/connector/chat/config"), undefined);
});

test("in Node, the server's own request says who is signed in", async (t) => {
  const visitor = (_request, { node }) => node.user;
  const proxy = toNodeHandler(make({ visitor, visitorSecret: "x".repeat(47) }));
  const site = await listen(t, (request, response) => {
    request.user = { id: "crm-4711" };
    return proxy(request, response);
  });
  await fetch(`${site}/connector/chat/presence`);
  const [, claims] = service.requests[0].headers["visitor-token"].split(".");
  assert.equal(JSON.parse(Buffer.from(claims, "base64url")).sub, "crm-4711");
});

test("a server that cannot say who is signed in proves nobody", async () => {
  const lines = [];
  const visitorSecret = "x".repeat(47);
  const visitor = () => {
    throw new Error("the session of ada@shop.example");
  };
  const proxy = make({ visitor, visitorSecret, log: (line) => lines.push(line) });
  assert.equal((await proxy(post("/connector/events"))).status, 502);
  assert.equal(service.requests.length, 0);
  assert.deepEqual(lines.length, 1);
  assert.doesNotMatch(lines[0], /ada/);
  for (const options of [
    { visitor },
    { visitorSecret },
    { visitor: "ada", visitorSecret },
    { visitor, visitorSecret: "short" },
  ])
    assert.throws(() => make(options), { kind: "setup" });
});

test("a visitor's token that the service refuses is not logged as one of the site", async () => {
  const lines = [];
  const proxy = make({ log: (line) => lines.push(line) });
  service.answer = failure(401, "INVALID_VISITOR_TOKEN");
  assert.equal((await proxy(get("/connector/chat/presence", { "Visitor-Token": "a.b.c" }))).status, 401);
  service.answer = failure(401, "UNAUTHORIZED");
  await proxy(get("/connector/chat/presence"));
  assert.match(lines[0], /visitor secret/);
  assert.match(lines[1], /site token/);
});

test("the proxy's own errors are failure envelopes with a request id and the headers of every response", async () => {
  const proxy = make({ messageBodyLimit: 10 });
  const large = "x".repeat(11);
  for (const [request, status, code, message, header] of [
    [get("/connector/site/status"), 404, "NOT_FOUND", "This path does not exist."],
    [get("/chat/config"), 404, "NOT_FOUND", "This path does not exist."],
    [get("/connectors/chat/config"), 404, "NOT_FOUND", "This path does not exist."],
    [get("/connector/events"), 405, "METHOD_NOT_ALLOWED", "This path supports POST only.", ["Allow", "POST"]],
    [
      new Request(`${SITE}/connector/chat/messages`, { method: "DELETE" }),
      405,
      "METHOD_NOT_ALLOWED",
      "This path supports GET, POST only.",
      ["Allow", "GET, POST"],
    ],
    [
      post("/connector/events", "{}", { "Content-Type": "text/plain" }),
      415,
      "INVALID_REQUEST",
      "Content-Type must be application/json.",
    ],
    [post("/connector/chat/messages", large), 413, "INVALID_REQUEST", "The body may have at most 10 bytes."],
  ]) {
    const response = await proxy(request);
    const { requestId, ...envelope } = await response.json();
    assert.deepEqual([response.status, envelope], [status, { ok: false, error: { code, message } }]);
    assert.match(requestId, /^proxy_[0-9a-f]{32}$/);
    assert.equal(response.headers.get("X-Request-Id"), requestId);
    assert.equal(response.headers.get("Cache-Control"), "no-store");
    assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
    assert.match(response.headers.get("Content-Security-Policy"), /^default-src 'none'/);
    if (header) assert.equal(response.headers.get(header[0]), header[1]);
  }
  assert.equal(service.requests.length, 0);
});

test("a service that is slow or away is a 504 or 502, logged at most once a minute and without the token", async () => {
  const lines = [];
  service.answer = () => {};
  const proxy = make({ timeoutMs: 50, log: (line) => lines.push(line) });
  assert.equal((await proxy(get("/connector/chat/config"))).status, 504);
  service.stop();
  assert.equal((await proxy(get("/connector/chat/config"))).status, 502);
  assert.deepEqual(lines, ["the service did not answer within 50 ms"]);
});

test("a refusal of the whole site is returned, and logged", async () => {
  const lines = [];
  service.answer = failure(401, "INVALID_TOKEN");
  const response = await make({ log: (line) => lines.push(line) })(get("/connector/chat/config"));
  assert.deepEqual([response.status, (await response.json()).error.code], [401, "INVALID_TOKEN"]);
  assert.deepEqual(lines, ["the service refuses requests with 401: the site token is missing or invalid"]);
});

test("the log says of a 402 what its code says", async () => {
  for (const [code, reason] of [
    ["INSUFFICIENT_QUOTA", "the account's quota is exhausted"],
    ["STORAGE_FULL", "the site has stored as much as it may"],
    ["SEATS", "the account has used up a limit"],
  ]) {
    const lines = [];
    service.answer = failure(402, code);
    await make({ log: (line) => lines.push(line) })(get("/connector/chat/config"));
    assert.deepEqual(lines, [`the service refuses requests with 402: ${reason}`]);
  }
});

test("a body that does not arrive in time is a 408", async () => {
  const endless = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
  const response = await make({ timeoutMs: 50 })(post("/connector/events", endless));
  assert.deepEqual([response.status, service.requests.length], [408, 0]);
});

test("a visitor who leaves ends the request to the service", async () => {
  const controller = new AbortController();
  const ended = new Promise((resolve) => {
    service.answer = (_request, response) => {
      response.on("close", resolve);
      controller.abort();
    };
  });
  const lines = [];
  const proxy = make({ log: (line) => lines.push(line) });
  await proxy(new Request(`${SITE}/connector/chat/config`, { signal: controller.signal }));
  await ended;
  assert.deepEqual(lines, []);
});

test("each client has a rate limit, and is told when to come back", async () => {
  const proxy = make({ clientRate: { perMinute: 60, burst: 2 } });
  const status = async (client) => (await proxy(get("/connector/chat/config"), { client })).status;
  assert.deepEqual([await status("192.0.2.1"), await status("192.0.2.1")], [200, 200]);
  const refused = await proxy(get("/connector/chat/config"), { client: "192.0.2.1" });
  assert.deepEqual([refused.status, refused.headers.get("Retry-After")], [429, "1"]);
  assert.equal((await refused.json()).error.code, "RATE_LIMITED");
  assert.equal(await status("192.0.2.2"), 200, "another client");
  assert.equal(await status("::ffff:192.0.2.1"), 429, "the same client over IPv6");
});

test("the addresses of an IPv6 network are one client", async () => {
  const proxy = make({ clientRate: { perMinute: 1, burst: 1 } });
  const status = async (client) => (await proxy(get("/connector/chat/config"), { client })).status;
  assert.equal(await status("2001:db8::1"), 200);
  assert.equal(await status("2001:db8:0:0:ffff::2"), 429);
  assert.equal(await status("2001:db8:0:1::1"), 200);
  assert.equal(await status("::1"), 200);
});

test("X-Forwarded-For counts from trusted hops only, and not what a client wrote into it", async () => {
  const proxy = make({ clientRate: { perMinute: 1, burst: 1 }, trustedHops: ["10.0.0.0/8", "::1"] });
  const status = async (client, forwarded) =>
    (await proxy(get("/connector/chat/config", { "X-Forwarded-For": forwarded }), { client })).status;
  assert.equal(await status("10.0.0.1", "198.51.100.7"), 200);
  assert.equal(await status("::1", "1.2.3.4, 198.51.100.7, 10.0.0.2"), 429, "the last that is not a hop");
  assert.equal(await status("10.0.0.1", "198.51.100.7:4711"), 429, "with a port");
  assert.equal(await status("192.0.2.1", "203.0.113.1"), 200, "not a hop");
  assert.equal(await status("192.0.2.1", "203.0.113.2"), 429, "not a hop");
  assert.equal(await status("10.0.0.9", "nonsense"), 200, "not written by a hop");
  assert.equal(await status("10.0.0.1", "[2001:db8::1]:4711"), 200);
  assert.equal(await status("10.0.0.1", "2001:db8::2"), 429);
});

test("a web server of the site's own that is not trusted is logged once", async () => {
  const lines = [];
  const forwarded = { "X-Forwarded-For": "198.51.100.7" };
  const proxy = make({ log: (line) => lines.push(line), trustedHops: ["10.0.0.1"] });
  for (const client of ["192.0.2.1", "10.0.0.1", "127.0.0.1", "fe80::1"])
    await proxy(get("/connector/chat/config", forwarded), { client });
  assert.equal(lines.length, 1);
  assert.match(lines[0], /^X-Forwarded-For comes from 127\.0\.0\.1, which is not a trusted hop/);
});

test("without an address or with `clientRate: null`, no client is limited", async () => {
  for (const [options, context] of [
    [{ clientRate: { perMinute: 1, burst: 1 } }, undefined],
    [{ clientRate: null }, { client: "192.0.2.1" }],
  ]) {
    const proxy = make(options);
    for (let n = 0; n < 3; n += 1) assert.equal((await proxy(get("/connector/chat/config"), context)).status, 200);
  }
});

test("pages of allowed origins may read responses, and no others", async () => {
  const proxy = make({ allowedOrigins: ["https://www.shop.example/"] });
  const preflight = (origin) =>
    proxy(
      new Request(`${SITE}/connector/events`, {
        method: "OPTIONS",
        headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
      }),
    );
  const allowed = await preflight("https://www.shop.example");
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers.get("Access-Control-Allow-Origin"), "https://www.shop.example");
  assert.equal(
    allowed.headers.get("Access-Control-Allow-Headers"),
    "content-type,accept-language,idempotency-key,visitor-token",
  );
  assert.equal(allowed.headers.get("Access-Control-Allow-Credentials"), null);
  assert.equal((await preflight("https://evil.example")).headers.get("Access-Control-Allow-Origin"), null);
  const response = await proxy(get("/connector/chat/config", { Origin: "https://www.shop.example" }));
  assert.equal(response.headers.get("Access-Control-Allow-Origin"), "https://www.shop.example");
  assert.match(response.headers.get("Access-Control-Expose-Headers"), /retry-after/);
  assert.match(response.headers.get("Vary"), /^origin/);
  const none = await make()(new Request(`${SITE}/connector/events`, { method: "OPTIONS" }));
  assert.equal(none.status, 405);
});

test("an invalid setting is reported when the proxy is created", () => {
  for (const [options, expected] of [
    [{ origin: "service.example" }, /invalid origin/],
    [{ token: "a b" }, /invalid site token/],
    [{ prefix: "connector" }, /invalid prefix/],
    [{ prefix: "/connector/" }, /invalid prefix/],
    [{ prefix: "/a/../b" }, /invalid prefix/],
    [{ allowedOrigins: ["null"] }, /invalid allowed origin.*null/],
    [{ allowedOrigins: ["https://a.example/path"] }, /invalid allowed origin/],
    [{ trustedHops: ["10.0.0.0/33"] }, /invalid trusted hop/],
    [{ trustedHops: ["everyone"] }, /invalid trusted hop/],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, /invalid timeoutMs: expected a number from 1/],
    [{ timeoutMs: 0 }, /invalid timeoutMs/],
    [{ answerLimit: Number.NaN }, /invalid answerLimit/],
    [{ messageBodyLimit: -1 }, /invalid messageBodyLimit/],
    [{ clientRate: { perMinute: 0, burst: 1 } }, /invalid clientRate.perMinute/],
  ]) {
    assert.throws(() => make(options), { name: "ConnectorError", kind: "setup", message: expected });
  }
});

test("an option that is undefined has its default", async () => {
  const names = ["clientRate", "timeoutMs", "answerLimit", "messageBodyLimit", "trustedHops", "prefix", "fetch"];
  const proxy = make(Object.fromEntries(names.map((name) => [name, undefined])));
  assert.equal((await proxy(get("/connector/chat/config"), { client: "192.0.2.1" })).status, 200);
  assert.equal((await proxy(post("/connector/events", `"${"x".repeat(300 * 1024)}"`))).status, 413);
});

test("errors of the handler for Node have the headers of every response", async (t) => {
  const site = await listen(t, toNodeHandler(make({})));
  const { hostname, port } = new URL(site);
  for (const [method, path, status] of [
    ["GET", "/connector/./chat/config", 404],
    ["TRACE", "/connector/chat/config", 400],
    ["GET", "/connector/nope", 404],
  ]) {
    const response = await new Promise((resolve, reject) =>
      request({ hostname, port, method, path }, resolve).on("error", reject).end(),
    );
    response.resume();
    assert.equal(response.statusCode, status, path);
    assert.equal(response.headers["cache-control"], "no-store", path);
    assert.equal(response.headers["x-content-type-options"], "nosniff", path);
    assert.match(response.headers["content-security-policy"], /default-src 'none'/, path);
  }
});

test("as a middleware, requests outside of the prefix go on to the application", async (t) => {
  const app = express();
  app.use(toNodeHandler(make({ prefix: "/help/chat" })));
  app.get("/", (_request, response) => response.send("the shop"));
  const site = await listen(t, app);
  assert.equal(await (await fetch(site)).text(), "the shop");
  assert.equal((await fetch(`${site}/help/chat/chat/config`)).status, 200);
  assert.equal((await fetch(`${site}/help/chat/site/status`)).status, 404);
});

test("in Express, `trust proxy` decides which address a client has", async (t) => {
  const app = express();
  app.set("trust proxy", true);
  app.use("/connector", toNodeHandler(make({ clientRate: { perMinute: 1, burst: 1 } })));
  const site = await listen(t, app);
  const status = async (client) =>
    (await fetch(`${site}/connector/chat/config`, { headers: { "X-Forwarded-For": client } })).status;
  assert.deepEqual([await status("192.0.2.1"), await status("192.0.2.1"), await status("192.0.2.2")], [200, 429, 200]);
});

test("the handler serves HTTP/2 as well, and refuses a body that it has not read", async (t) => {
  const server = createHttp2Server(toNodeHandler(make()));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const session = connect(`http://127.0.0.1:${server.address().port}`);
  t.after(() => (session.destroy(), server.close()));
  const exchange = async (headers, body) => {
    const stream = session.request(headers);
    stream.end(body);
    const [head] = await once(stream, "response");
    stream.resume();
    await once(stream, "close");
    return head[":status"];
  };
  const post = { ":method": "POST", "content-type": "application/json" };
  assert.equal(await exchange({ ":path": "/connector/chat/config" }), 200);
  assert.equal(await exchange({ ...post, ":path": "/connector/events" }, "{}"), 200);
  assert.equal(
    await exchange({ ...post, ":path": "/connector/events", "content-length": 300_000 }, "x".repeat(300_000)),
    413,
  );
});

test("a POST is never repeated when the service fails", async () => {
  for (const status of [401, 408, 425, 429, 503]) {
    service.requests.length = 0;
    service.answer = failure(status, "ANY", { "Retry-After": "0" });
    assert.equal((await make()(post("/connector/chat/messages"))).status, status);
    assert.equal(service.requests.length, 1, `${status}`);
  }
});
