// `ServerConnectorClient` against a service that is slow, wrong or hostile.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ConnectorError, ServerConnectorClient } from "../../dist/server/index.mjs";
import { failure, inTurn, respond, startService, success } from "./fixture.mjs";

let service;
beforeEach(async () => void (service = await startService()));
afterEach(() => service.stop());

/** Creates a client that records its waits instead of sleeping. */
function impatient(options = {}) {
  const waits = [];
  const sleep = async (ms) => void waits.push(ms);
  const client = new ServerConnectorClient({ origin: service.origin, token: "t", random: () => 1, sleep, ...options });
  return { client, waits };
}

const errorOf = (promise) =>
  promise.then(
    (value) => assert.fail(`expected an error, got ${JSON.stringify(value)}`),
    (error) => {
      assert.ok(error instanceof ConnectorError, error);
      return error;
    },
  );

test("the waits between four attempts double, and every attempt sends the same bytes and key", async () => {
  service.answer = failure(503, "UNAVAILABLE");
  const { client, waits } = impatient();
  const error = await errorOf(client.sendMessage({ message: "Grüße", visitor: { visitorId: "v1" } }));
  assert.deepEqual(waits, [500, 1000, 2000]);
  const attempts = service.requests.map(({ headers, body }) => [headers["idempotency-key"], body]);
  assert.deepEqual(attempts, Array(4).fill([error.idempotencyKey, '{"message":"Grüße","visitor":{"visitorId":"v1"}}']));
  assert.match(error.idempotencyKey, /^chat-v1-[0-9a-f]{32}$/);
  assert.deepEqual([error.code, error.status, error.requestId, error.retryable], ["UNAVAILABLE", 503, "req_1", true]);
});

test("no wait is longer than the maximum", async () => {
  service.answer = failure(500, "INTERNAL_ERROR");
  const { client, waits } = impatient({ backOff: { attempts: 9 } });
  await errorOf(client.getSiteStatus());
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
});

test("Retry-After is waited for, in seconds or until a date", async () => {
  const soon = new Date(Date.now() + 10_000).toUTCString();
  service.answer = inTurn(
    failure(429, "RATE_LIMITED", { "Retry-After": "7" }),
    failure(503, "UNAVAILABLE", { "Retry-After": soon }),
    success({ siteId: "s" }),
  );
  const { client, waits } = impatient();
  assert.deepEqual(await client.getSiteStatus(), { siteId: "s" });
  assert.equal(waits[0], 7500);
  assert.ok(waits[1] > 8_000 && waits[1] <= 10_500, `${waits[1]} ms`);
});

test("a Retry-After of more than a minute is returned to the caller", async () => {
  service.answer = failure(429, "RATE_LIMITED", { "Retry-After": "61" });
  const { client, waits } = impatient();
  const error = await errorOf(client.getSiteStatus());
  assert.deepEqual([error.retryAfterMs, error.retryable, waits], [61_000, true, []]);
});

test("a Retry-After that makes no sense is bounded or ignored", async () => {
  const { client } = impatient();
  for (const [value, expected] of [
    ["9".repeat(300), 86_400_000],
    ["+5", undefined],
    ["-5", undefined],
    ["soon", undefined],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
  ]) {
    service.answer = failure(429, "RATE_LIMITED", { "Retry-After": value });
    assert.equal((await errorOf(client.getSiteStatus())).retryAfterMs, expected, value);
  }
});

test("a conflict is repeated only with Retry-After, and never if the key was used with another body", async () => {
  const { client, waits } = impatient();
  for (const [code, headers, expected] of [
    ["RESOURCE_CONFLICT", { "Retry-After": "1" }, 3],
    ["RESOURCE_CONFLICT", {}, 0],
    ["IDEMPOTENCY_CONFLICT", { "Retry-After": "1" }, 0],
  ]) {
    waits.length = 0;
    service.answer = failure(409, code, headers);
    await errorOf(client.claimNextJob());
    assert.equal(waits.length, expected, code);
  }
});

test("an attempt without a response in time is repeated, then fails as a timeout", async () => {
  service.answer = () => {};
  const { client, waits } = impatient({ timeoutMs: 50 });
  const error = await errorOf(client.getSiteStatus());
  assert.deepEqual([error.kind, error.retryable, waits.length], ["timeout", true, 3]);
});

test("a body that stops in the middle fails as a timeout", async () => {
  service.answer = (_request, response) => response.writeHead(200, { "Content-Length": 100 }).write("{");
  const { client } = impatient({ timeoutMs: 50, backOff: { attempts: 1 } });
  assert.equal((await errorOf(client.getSiteStatus())).kind, "timeout");
});

test("a service that cannot be reached is reported with the reason", async () => {
  service.stop();
  const { client, waits } = impatient();
  const error = await errorOf(client.getSiteStatus());
  assert.deepEqual([error.kind, waits.length], ["unreachable", 3]);
  assert.match(error.message, /cannot reach the service: .*ECONNREFUSED/);
});

test("a response without an envelope is an error that names the origin", async () => {
  const { client, waits } = impatient();
  for (const answer of [
    (_request, response) => response.end("<h1>Hello</h1>"),
    (_request, response) => respond(response, 200, { data: {} }),
    (_request, response) => response.writeHead(302, { Location: "https://elsewhere.example/" }).end(),
    (_request, response) => respond(response, 404, [1, 2]),
  ]) {
    service.answer = answer;
    const error = await errorOf(client.getSiteStatus());
    assert.equal(error.kind, "invalid_response");
    assert.match(error.message, /check the service's origin/);
  }
  assert.deepEqual(waits, []);
});

test("data that a caller cannot use is an error", async () => {
  const { client } = impatient();
  const calls = [
    [null, () => client.getSiteStatus(), "data must be an object"],
    [{}, () => client.sendMessage({ message: "Hi" }), "conversationId is missing"],
    [{ messages: 7 }, () => client.listMessages({ conversationId: "c" }), "messages must be an array"],
    [{ job: { id: "j" } }, () => client.claimNextJob(), "job.claimToken is missing"],
    [{ job: 1 }, () => client.completeJob("j", { ok: true, claimToken: "c" }), "job must be an object"],
    [{}, () => client.listSeoOverlays(), "overlays must be an array"],
  ];
  for (const [data, call, problem] of calls) {
    service.answer = success(data);
    const error = await errorOf(call());
    assert.deepEqual([error.kind, error.message], ["invalid_response", `invalid response: ${problem}`]);
  }
});

test("at most the limit of a response is read", async () => {
  let isClosed;
  const closed = new Promise((resolve) => (isClosed = resolve));
  service.answer = (request, response) => {
    response.writeHead(200);
    const part = Buffer.alloc(65_536, 32);
    const more = () => {
      while (response.write(part));
    };
    response.on("drain", more).on("close", isClosed);
    more();
  };
  const { client } = impatient({ answerLimit: 100_000 });
  assert.match((await errorOf(client.getSiteStatus())).message, /expected at most 100000 bytes/);
  await closed;
});

test("a declared size over the limit is refused before the body arrives", async () => {
  service.answer = (_request, response) => response.writeHead(200, { "Content-Length": 10_000_000_000 }).flushHeaders();
  const error = await errorOf(impatient({ timeoutMs: 10_000, backOff: { attempts: 1 } }).client.getSiteStatus());
  assert.deepEqual([error.kind, error.status], ["invalid_response", 200]);
  assert.match(error.message, /expected at most 8388608 bytes/);
});

test("a compressed response is refused, as it could be larger than its declared size", async () => {
  const body = gzipSync(JSON.stringify({ ok: true, data: { siteId: "site_1" } }));
  service.answer = (_request, response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(body);
  const error = await errorOf(impatient().client.getSiteStatus());
  assert.deepEqual([error.kind, error.status], ["invalid_response", 200]);
  assert.match(error.message, /expected a body without compression/);
  assert.equal(service.requests[0].headers["accept-encoding"], "identity");
});

test("the caller's signal ends a call, also between two attempts", async () => {
  const controller = new AbortController();
  service.answer = () => controller.abort();
  const client = new ServerConnectorClient({
    origin: service.origin,
    token: "t",
    backOff: { initialMs: 1e9, maxMs: 1e9 },
  });
  assert.equal((await errorOf(client.getSiteStatus({ signal: controller.signal }))).kind, "aborted");

  const later = new AbortController();
  service.answer = (request, response) => {
    failure(503, "UNAVAILABLE")(request, response);
    response.on("close", () => setImmediate(() => later.abort()));
  };
  assert.equal((await errorOf(client.getSiteStatus({ signal: later.signal }))).kind, "aborted");
});

test("the service's text is escaped and truncated", async () => {
  const message = `\u001b[2J\u202e${"x".repeat(100_000)}`;
  service.answer = (_request, response) =>
    respond(response, 400, { ok: false, error: { code: "A\nB", message }, requestId: "r" });
  const { client } = impatient();
  const error = await errorOf(client.getSiteStatus());
  assert.match(error.message, /^the service refused: 400 A\\u\{a\}B: \\u\{1b\}\[2J\\u\{202e\}x+… \(request r\)$/);
  assert.ok(error.message.length < 2000);
});

test("a job's id stays within its segment of the path, and a key within its limits", async () => {
  service.answer = success({ job: { id: "j" } });
  const { client } = impatient();
  await client.completeJob("../a b?c#d", { ok: false, claimToken: "müller", error: "no" });
  const [{ url, headers }] = service.requests;
  assert.equal(url, "/api/connector/v1/site/jobs/%2E%2E%2Fa%20b%3Fc%23d/complete");
  assert.match(headers["idempotency-key"], /^job-complete-\.\.\/ab\?c#d-mller-[0-9a-f]{32}$/);
});

test("the site's id is read once for the keys of a content sync, and again after a failure", async () => {
  const receipt = success({ accepted: 1 });
  service.answer = (request, response) =>
    (request.url.endsWith("/site/status") ? success({ siteId: "s1" }) : receipt)(request, response);
  const { client } = impatient({ backOff: { attempts: 1 } });
  const page = (number) => ({ snapshotId: "snap", page: number, items: [{ externalId: "1", type: "page" }] });
  const statusFails = service.answer;
  service.answer = failure(500, "INTERNAL_ERROR");
  await errorOf(client.syncContent(page(1)));
  service.answer = statusFails;
  await client.syncContent(page(1));
  await client.syncContent(page(2));
  assert.deepEqual(
    service.requests.map(({ url, headers }) => headers["idempotency-key"] ?? url.split("/v1")[1]),
    ["/site/status", "/site/status", "content-sync-s1-snap-1", "content-sync-s1-snap-2"],
  );
});

test("pages are split by bytes as well as by number, and an empty site completes its snapshot", async () => {
  service.answer = success({});
  const { client } = impatient({ siteId: "s" });
  const items = Array.from({ length: 3 }, (_, n) => ({
    externalId: `${n}`,
    type: "page",
    content: "x".repeat(600_000),
  }));
  await client.syncContentPages(items, { snapshotId: "big" });
  await client.syncContentPages([], { snapshotId: "none" });
  await client.syncContentPages([], { snapshotId: "part", complete: false });
  assert.deepEqual(
    service.requests
      .map(({ body }) => JSON.parse(body))
      .map(({ page, complete, items }) => [page, complete, items.length]),
    [
      [1, false, 1],
      [2, false, 1],
      [3, true, 1],
      [1, true, 0],
    ],
  );
});

test("a body that is no JSON is reported before anything is sent", async () => {
  const { client } = impatient();
  const item = { externalId: "1", type: "page", title: "A", data: { price: 1n } };
  for (const call of [
    client.track({ eventType: "view", visitorId: "v1", eventData: { price: 1n } }),
    client.syncContentPages([item], { snapshotId: "s1" }),
  ]) {
    const error = await errorOf(call);
    assert.deepEqual([error.kind, error.retryable], ["setup", false]);
    assert.match(error.message, /invalid body: .*BigInt/);
  }
  assert.deepEqual(service.requests, []);
});

test("an invalid origin or token is reported when the client is created, without the token", () => {
  const problem = (options) => {
    try {
      new ServerConnectorClient({ origin: "https://service.example", token: "t", ...options });
    } catch (error) {
      return `${error.kind}: ${error.message}`;
    }
  };
  assert.equal(problem({}), undefined);
  assert.match(problem({ origin: "service.example" }), /^setup: .*such as https:\/\/service\.example/);
  assert.match(problem({ origin: "https://service.example/api/connector/v1" }), /leave \/api\/connector\/v1 out/);
  assert.match(problem({ origin: "https://me:secret@service.example" }), /without path/);
  assert.equal(problem({ token: "secret\n" }).includes("secret"), false);
  assert.match(problem({ token: undefined }), /the site token is missing/);
  assert.match(problem({ timeoutMs: 0 }), /invalid timeoutMs: expected a number from 1/);
  assert.match(problem({ backOff: { attempts: 0 } }), /invalid backOff.attempts/);
  assert.equal(problem({ timeoutMs: undefined, backOff: { attempts: undefined } }), undefined);
});
