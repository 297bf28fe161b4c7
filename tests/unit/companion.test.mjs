// Holds `www/companion.ts` to the bytes of `tests/clients.json`, which the session writes as well.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { importSource } from "../../scripts/options.mjs";
import { read } from "../docs-snippets.mjs";

const { tracking: TABLE } = JSON.parse(read("tests/clients.json"));
const { default: accompany } = await importSource("www/companion.ts");
const OPTIONS = {
  proxy: "/connector",
  customerId: TABLE.customerId,
  visitor: JSON.stringify({ visitorId: TABLE.visitorId }),
};
const NAME = /^chat-widget:(\w+):([0-9a-f]{16})@ann$/;

const stored = new Map();
/** The requests of the test, and the response to each. */
let requests = [];
let respond;

globalThis.localStorage = new Proxy(
  {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, text) => void stored.set(key, text),
    removeItem: (key) => void stored.delete(key),
  },
  {
    ownKeys: () => [...stored.keys()],
    getOwnPropertyDescriptor: (_, key) => ({ value: stored.get(key), enumerable: true, configurable: true }),
  },
);
const { path, url, title, referrer, now } = TABLE.page;
globalThis.location = { origin: "https://shop.example", pathname: path, search: "", href: url };
globalThis.fetch = async (url, init) => {
  requests.push({ url, ...init });
  return respond();
};

const success = (data) => () => new Response(JSON.stringify({ ok: true, data }), { status: 200 });
const failure = (status, headers) => () =>
  new Response(JSON.stringify({ ok: false, error: { code: "X" } }), { status, headers });

/** Returns the stored values of a kind as pairs of name and text. */
const valuesOf = (kind) =>
  [...stored].flatMap(([key, text]) => {
    const [, found, name] = NAME.exec(key) ?? [];
    return found === kind ? [[name, text]] : [];
  });

/** Lets the time of collecting events pass, and what follows. */
async function collect() {
  mock.timers.tick(3000);
  await new Promise((resolve) => setImmediate(resolve));
}

const click = (label) => {
  const target = { closest: () => ({ dataset: { chatCta: label } }) };
  document.dispatchEvent(Object.defineProperty(new Event("click"), "target", { value: target }));
};

beforeEach(() => {
  stored.clear();
  requests = [];
  respond = success({ accepted: 1, rejected: 0, tracking: "enabled" });
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: new Date(now) });
  globalThis.window = Object.assign(new EventTarget(), { navigation: new EventTarget() });
  globalThis.document = Object.assign(new EventTarget(), { title, referrer, hidden: false });
});

test("events, their batch and disabled tracking are stored as the session stores them", async () => {
  accompany(OPTIONS);
  click(TABLE.events[1].given.label);
  const expected = TABLE.events.map((event) => event.stored);
  assert.deepEqual(
    valuesOf("event").map(([, text]) => text),
    expected,
  );
  assert.equal(stored.get("chat-widget:visitor@ann"), JSON.stringify({ v: 2, visitorId: TABLE.visitorId }));

  let frozen;
  respond = () => {
    [frozen] = valuesOf("batch");
    return success({ tracking: "disabled" })();
  };
  await collect();
  const [{ url, body, headers }] = requests;
  const [name, text] = frozen;
  assert.equal(text, TABLE.batch.replace("{name}", name), "stored before it is sent");
  assert.deepEqual(
    [url, body, headers["Idempotency-Key"]],
    ["https://shop.example/connector/events", JSON.parse(text).body, `events-${name}`],
  );
  const until = Date.now() + TABLE.offForMs;
  assert.equal(stored.get("chat-widget:tracking@ann"), TABLE.off.replace("{time}", until));
  assert.deepEqual([...valuesOf("event"), ...valuesOf("batch")], []);
  click("Later");
  assert.deepEqual(valuesOf("event"), []);
});

test("a batch has at most 50 events and 60 KiB", async () => {
  accompany(OPTIONS);
  for (let count = 1; count < 60; count += 1) click(`Click ${count}`);
  await collect();
  const counts = requests.map(({ body }) => JSON.parse(body).events.length);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    60,
  );
  assert.ok(Math.max(...counts) <= 50, String(counts));
  for (const { body } of requests) assert.ok(Buffer.byteLength(body) <= 60 * 1024);
});

test("a page that is left sends its latest events, and leaves a large one to the next page", async () => {
  accompany(OPTIONS);
  click("€".repeat(30_000));
  click("small");
  document.hidden = true;
  document.dispatchEvent(new Event("visibilitychange"));
  await collect();
  const sizes = requests.map(({ body, keepalive }) => [JSON.parse(body).events.length, keepalive]);
  assert.deepEqual(sizes[0], [1, true], "the latest events of the page that is left");
  assert.equal(valuesOf("batch").length, 2, "the others stay for the next page");
});

for (const [status, code] of [
  [500, "kept"],
  [429, "kept"],
  [409, "kept"],
  [200, "removed"],
  [400, "removed"],
  [404, "removed"],
]) {
  test(`a batch is ${code} after the status ${status}`, async () => {
    if (status !== 200) respond = failure(status);
    accompany(OPTIONS);
    await collect();
    assert.equal(requests.length, 1);
    assert.equal(valuesOf("batch").length, code === "kept" ? 1 : 0);
  });
}

test("after a failure nothing is sent before Retry-After is over, and the batch keeps its key", async () => {
  respond = failure(429, { "Retry-After": "60" });
  accompany(OPTIONS);
  await collect();
  click("Soon");
  await collect();
  assert.equal(requests.length, 1);
  mock.timers.tick(60_000);
  respond = success({});
  click("Later");
  await collect();
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).events.length),
    [1, 1, 2],
  );
  const keys = requests.map(({ headers }) => headers["Idempotency-Key"]);
  assert.ok(keys.slice(1).includes(keys[0]));
  assert.deepEqual(valuesOf("batch"), []);
});

test("batches that cannot be delivered do not grow without limit", async () => {
  respond = failure(500);
  for (let page = 0; page < 40; page += 1) {
    const companion = accompany(OPTIONS);
    await collect();
    companion.end();
  }
  const { length } = valuesOf("batch");
  assert.ok(length >= 20 && length <= 21, String(length));
});

test("another customer's batches and loose events of other tabs are left alone", async () => {
  const others = {
    "chat-widget:batch:0123456789abcdef": JSON.stringify({ v: 2, key: "events-other", body: '{"events":[]}' }),
    "chat-widget:batch:0123456789abcdef@joann": JSON.stringify({ v: 2, key: "events-joann", body: '{"events":[]}' }),
    "chat-widget:event:0123456789abcdef@ann": JSON.stringify({ eventType: "page_view" }),
  };
  for (const [key, text] of Object.entries(others)) stored.set(key, text);
  accompany(OPTIONS);
  await collect();
  assert.equal(requests.length, 1);
  for (const [key, text] of Object.entries(others)) assert.equal(stored.get(key), text, key);
});

test("an event that a session has taken over is not sent", async () => {
  accompany(OPTIONS);
  const [[name]] = valuesOf("event");
  stored.delete(`chat-widget:event:${name}@ann`);
  await collect();
  assert.deepEqual(requests, []);
});

test("a widget gets what follows, and nothing is sent any more", async () => {
  const companion = accompany(OPTIONS);
  const tracked = [];
  assert.deepEqual(
    { ...companion.pass((type, data) => tracked.push([type, data])) },
    {},
    "storage has refused nothing",
  );
  click("Buy");
  await collect();
  assert.deepEqual([tracked, requests], [[["cta_clicked", { label: "Buy" }]], []]);
  companion.pass();
  click("Again");
  await collect();
  assert.equal(requests.length, 1, "the widget could not start");
  companion.end();
  click("Never");
  assert.equal(tracked.length, 1);
  assert.deepEqual(valuesOf("event"), []);
});

test("events prove the visitor, and are sent without the proof once the service has refused it", async () => {
  accompany({ ...OPTIONS, visitorToken: "a.b.c" });
  respond = () => new Response('{"ok":false,"error":{"code":"INVALID_VISITOR_TOKEN"}}', { status: 401 });
  await collect();
  respond = success({ accepted: 1, rejected: 0, tracking: "enabled" });
  click("Later");
  await collect();
  assert.deepEqual(
    requests.map(({ headers }) => headers["Visitor-Token"]),
    ["a.b.c", undefined, undefined],
  );
  assert.equal(requests[0].body, requests[1].body);
  assert.deepEqual([...valuesOf("event"), ...valuesOf("batch")], []);
  for (const text of stored.values()) assert.ok(!text.includes("a.b.c"), text);
});
