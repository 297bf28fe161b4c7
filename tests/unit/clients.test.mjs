// Holds `www/client.ts` to `tests/clients.json`, the table that all clients of the proxy share.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { importSource } from "../../scripts/options.mjs";
import { read } from "../docs-snippets.mjs";

const TABLE = JSON.parse(read("tests/clients.json"));
const { BrowserWidgetClient, ChatWidgetError } = await importSource("www/client.ts");
const REPLY = { conversationId: "c1", message: null };

const stored = new Map();
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, text) => void stored.set(key, text),
  removeItem: (key) => void stored.delete(key),
};
globalThis.location = new URL("https://shop.example/mugs");
globalThis.document = { title: "Mugs", referrer: "https://search.example/" };

/** The requests of the test, each with its address, key, body and cache mode. */
let requests = [];
/** The requested waits in milliseconds; each ends at once. */
let waits = [];
/** The next responses; the last one repeats. */
let responses = [];

const respond = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const success = (data) => () => respond(200, { ok: true, data });
const failure = (status, code, headers) => () =>
  respond(status, code === "INVALID_RESPONSE" ? "<html>" : { ok: false, error: { code, message: "" } }, headers);

globalThis.fetch = async (url, { headers, body, cache }) => {
  requests.push({ url, key: headers["Idempotency-Key"], token: headers["Visitor-Token"], body, cache });
  const next = responses.length > 1 ? responses.shift() : responses[0];
  return next();
};
const { setTimeout: realSetTimeout, AbortSignal: RealAbortSignal } = globalThis;
globalThis.setTimeout = (run, ms) => {
  waits.push(ms);
  return realSetTimeout(run, 0);
};
globalThis.AbortSignal = class extends RealAbortSignal {
  static timeout = () => new AbortController().signal;
};

beforeEach(() => {
  stored.clear();
  requests = [];
  waits = [];
});

const client = (options) => new BrowserWidgetClient({ proxy: "/connector", ...options });
const failed = (call) =>
  call.then(
    () => assert.fail("the call succeeded"),
    (error) => error,
  );

for (const { status, code, transient } of TABLE.transient) {
  test(`status ${status} with ${code} is ${transient ? "retried" : "final"}`, async () => {
    const thrown = new DOMException("", code === "TIMEOUT" ? "TimeoutError" : "NetworkError");
    responses = [status === 0 ? () => Promise.reject(thrown) : failure(status, code)];
    const error = await failed(client({ retries: 1 }).getChatConfig());
    assert.ok(error instanceof ChatWidgetError);
    assert.deepEqual([error.status, error.code, error.retryable], [status, code, transient]);
    assert.equal(requests.length, transient ? 2 : 1);
  });
}

for (const { header, ms } of TABLE.retryAfter) {
  test(`Retry-After ${JSON.stringify(header)} is ${ms ?? "no wait"}`, async () => {
    responses = [failure(429, "RATE_LIMITED", header === null ? {} : { "Retry-After": header })];
    const error = await failed(client({ retries: 0 }).getPresence());
    assert.equal(error.retryAfter, ms ?? undefined);
  });
}

for (const { failures, retryAfterMs, minMs, maxMs } of TABLE.backOff.cases) {
  test(`the wait after ${failures} failures, with Retry-After ${retryAfterMs} ms, is from ${minMs} to ${maxMs} ms`, async () => {
    const headers = retryAfterMs === null ? {} : { "Retry-After": `${retryAfterMs / 1000}` };
    responses = [failure(503, "UNAVAILABLE", headers)];
    for (const random of [0, 0.999]) {
      waits = [];
      Math.random = () => random;
      await failed(client({ retries: failures }).getChatConfig());
      const wait = waits.at(-1);
      assert.ok(wait >= minMs && wait <= maxMs, `${wait} ms`);
      if (random) assert.ok(wait > maxMs * 0.99, `${wait} ms uses the whole range`);
    }
  });
}

test("a message is retried with the same key and body, and the caller sees the reply", async () => {
  responses = [failure(502, "INVALID_RESPONSE"), failure(429, "RATE_LIMITED"), success(REPLY)];
  assert.deepEqual(await client().sendMessage("Hello"), REPLY);
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ key, body }) => key + body)).size, 1);
});

test("a message that failed for good is repeated with its key and its body", async () => {
  const sender = client({ retries: 0 });
  responses = [failure(503, "UNAVAILABLE"), success(REPLY), success(REPLY)];
  const { idempotencyKey } = await failed(sender.sendMessage("One"));
  await sender.sendMessage("Two");
  await sender.sendMessage("One", { idempotencyKey });
  assert.equal(requests[0].body, requests[2].body);
  assert.equal(requests[0].key, requests[2].key);
});

test("only a request for the config may be answered from a cache", async () => {
  responses = [success({ conversationId: "c1", messages: [] })];
  const caller = client({ proxy: "https://shop.example/connector" });
  await caller.getChatConfig();
  await caller.sendMessage("Hello");
  await caller.listMessages();
  await caller.getPresence();
  await caller.track({ eventType: "page_view" });
  assert.deepEqual(
    requests.map(({ url, cache }) => [new URL(url).pathname, cache]),
    [
      ["/connector/chat/config", "default"],
      ["/connector/chat/messages", "no-store"],
      ["/connector/chat/messages", "no-store"],
      ["/connector/chat/presence", "no-store"],
      ["/connector/events", "no-store"],
    ],
  );
});

for (const { eventType, conversationId, given, sent } of TABLE.events.eventData) {
  test(`${eventType} with ${JSON.stringify(given)} in ${conversationId ?? "no conversation"} sends ${JSON.stringify(sent)}`, async () => {
    if (conversationId) stored.set("chat-widget:conversation", JSON.stringify({ conversationId }));
    responses = [success({ accepted: 1, rejected: 0 })];
    await client({ customerId: "" }).track({ eventType, ...(given && { eventData: given }) });
    const [event] = JSON.parse(requests[0].body).events;
    assert.deepEqual(event.eventData ?? null, sent);
  });
}

test("an event has the fields of the table, and its channel", async () => {
  responses = [success({ accepted: 1, rejected: 0 })];
  await client({ customerId: "ann" }).track({ eventType: "page_view" });
  const [event] = JSON.parse(requests[0].body).events;
  assert.deepEqual(Object.keys(event).sort(), TABLE.events.fields);
  assert.equal(event.channel, TABLE.events.channel);
});

test("a request has at most as many events as the table says", async () => {
  responses = [success({ accepted: 50, rejected: 0 })];
  const { maxPerRequest } = TABLE.events;
  await client().trackBatch(Array.from({ length: maxPerRequest + 1 }, () => ({ eventType: "page_view" })));
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).events.length),
    [maxPerRequest, 1],
  );
});

for (const [customerId, column] of [
  [undefined, "key"],
  ["ann", "customerKey"],
]) {
  test(`the keys in storage of customer ${customerId} have the names, version and fields of the table`, async () => {
    responses = [success(REPLY)];
    await client({ customerId }).sendMessage("Hello");
    const rows = TABLE.storage.keys.filter(({ name }) => name !== "config");
    assert.deepEqual([...stored.keys()].sort(), rows.map((row) => row[column]).sort());
    for (const row of rows) {
      const value = JSON.parse(stored.get(row[column]));
      assert.deepEqual(Object.keys(value).sort(), row.fields);
      assert.equal(value.v, TABLE.storage.version);
    }
  });
}

test("the loader stores the config with the key, version and fields of the table", () => {
  const { key, fields } = TABLE.storage.keys.find(({ name }) => name === "config");
  const source = read("www/loader/config.ts");
  assert.ok(source.includes(`"${key}"`));
  assert.ok(source.includes(`JSON.stringify({ v: ${TABLE.storage.version}, data })`));
  assert.deepEqual(fields, ["data", "v"]);
});

test("a visitor id is a UUIDv4, and a stored one is kept if it is a valid header value", () => {
  const { created, kept, replaced, maxLength } = TABLE.storage.visitorId;
  const pattern = new RegExp(created);
  assert.match(client().visitorId, pattern);
  const store = (visitorId) => stored.set("chat-widget:visitor", JSON.stringify({ v: 2, visitorId }));
  for (const id of [...kept, "v".repeat(maxLength)]) {
    store(id);
    assert.equal(client().visitorId, id);
  }
  for (const id of [...replaced, "v".repeat(maxLength + 1)]) {
    store(id);
    assert.match(client().visitorId, pattern);
  }
});

test("idempotency keys have the form and the length of the table", async () => {
  const { minLength, maxLength, maxVisitorIdLength, message, events } = TABLE.idempotencyKey;
  for (const visitorId of ["v0123456", undefined, "v".repeat(TABLE.storage.visitorId.maxLength)]) {
    requests = [];
    stored.clear();
    if (visitorId) stored.set("chat-widget:visitor", JSON.stringify({ v: 2, visitorId }));
    const caller = client();
    responses = [success(REPLY)];
    await caller.sendMessage("Hello");
    responses = [success({ accepted: 1, rejected: 0 })];
    await caller.track({ eventType: "page_view" });
    [message, events].forEach((pattern, index) => {
      const { key } = requests[index];
      assert.match(key, new RegExp(pattern.replace("{visitorId}", caller.visitorId.slice(0, maxVisitorIdLength))));
      assert.ok(key.length >= minLength && key.length <= maxLength, key);
    });
  }
});

test("A visitor's token goes with every call but the config, and is fetched again after it was refused, once", async () => {
  const refused = failure(401, "INVALID_VISITOR_TOKEN");
  let fetched = 0;
  const visitorToken = async () => `token-${(fetched += 1)}`;
  const client = new BrowserWidgetClient({ proxy: "/connector", visitorToken, retries: 0 });
  responses = [success({}), refused, success(REPLY), success({}), refused];
  await client.getChatConfig();
  await client.sendMessage("Hello");
  await client.getPresence();
  assert.deepEqual(
    requests.map(({ token }) => token),
    [undefined, "token-1", "token-2", "token-2"],
  );
  const [, first, second] = requests;
  assert.deepEqual([first.key, first.body], [second.key, second.body]);
  await assert.rejects(client.getPresence(), { code: "INVALID_VISITOR_TOKEN" });
  assert.deepEqual([requests.length, fetched], [6, 3]);
  assert.deepEqual(waits, []);
});

test("A token that is a text, or that the page cannot get, is not fetched again", async () => {
  responses = [failure(401, "INVALID_VISITOR_TOKEN")];
  const fixed = new BrowserWidgetClient({ proxy: "/connector", visitorToken: "fixed" });
  await assert.rejects(fixed.getPresence(), { code: "INVALID_VISITOR_TOKEN" });
  assert.deepEqual(
    requests.map(({ token }) => token),
    ["fixed"],
  );
  const failing = new BrowserWidgetClient({
    proxy: "/connector",
    visitorToken: () => Promise.reject(new Error("signed out")),
    retries: 1,
  });
  await assert.rejects(failing.getPresence(), { code: "NETWORK" });
  assert.equal(requests.length, 1, "nothing is sent without the proof");
});

test("A verified visitor continues the conversation of another device", async () => {
  responses = [success({ conversationId: "c9", messages: [] })];
  const unverified = new BrowserWidgetClient({ proxy: "/connector", visitorToken: () => null });
  assert.deepEqual(await unverified.listMessages(), { messages: [] });
  assert.equal(requests.length, 0);
  const client = new BrowserWidgetClient({ proxy: "/connector", visitorToken: () => "token" });
  await client.listMessages();
  assert.equal(requests[0].url.endsWith("/connector/chat/messages"), true);
  assert.equal(client.conversationId, "c9");
});

test("A conversation of a person who has signed out, or of another one, is not continued", async () => {
  const tokenOf = (sub) => `x.${btoa(JSON.stringify({ sub })).replaceAll("=", "")}.x`;
  let token = tokenOf("ada");
  const client = new BrowserWidgetClient({ proxy: "/connector", visitorToken: () => token, retries: 0 });
  responses = [success({ ...REPLY, conversationId: "c-ada" }), failure(401, "INVALID_VISITOR_TOKEN"), success({})];
  await client.sendMessage("Hello");
  assert.equal(client.conversationId, "c-ada");
  assert.ok(stored.has("chat-widget:conversation@verified:ada"));
  token = tokenOf("bob");
  await client.getPresence();
  assert.equal(client.conversationId, undefined);
  assert.deepEqual(
    [...stored.keys()].filter((key) => key.includes("ada")),
    [],
  );
  const other = new BrowserWidgetClient({ proxy: "/connector" });
  assert.equal(other.conversationId, undefined);
});
