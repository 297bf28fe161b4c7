// `ServerConnectorClient` against the service in test mode: each call, and the calls whose attempts fail.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { inspect } from "node:util";
import { stopAll } from "../../scripts/servers.mjs";
import { ConnectorError, ServerConnectorClient, SyncStoppedError } from "../../dist/server/index.mjs";
import { startSandbox, token } from "./fixture.mjs";

const QUICK = { initialMs: 1, maxMs: 5 };
let origin;
let sandbox;
let client;

before(async () => {
  ({ origin, sandbox } = await startSandbox());
  client = new ServerConnectorClient({ origin, token, backOff: QUICK });
});
beforeEach(() => sandbox.reset());
after(stopAll);

const item = (number, content = "Pots ship in two days.") => ({
  externalId: `page-${number}`,
  type: "page",
  path: `/page-${number}`,
  title: `Page ${number}`,
  content,
  // The page's own head has nothing, so that the service suggests one.
  data: { head: {} },
});

/** Posts JSON to the operator's side of the service. */
async function post(path, body) {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(origin + path, init);
  return response.status === 204 ? undefined : response.json();
}

/** Queues a job, and returns its id. */
const queueJob = async (job) => (await post("/sandbox/jobs", job)).id;

test("an activation returns a token, with which the site's status can be read", async () => {
  const activated = await ServerConnectorClient.activate(
    { origin, backOff: QUICK },
    { licenseCode: "SANDBOX-LICENSE", domain: "https://shop.example", platform: "node", siteName: "The shop" },
  );
  const other = new ServerConnectorClient({ origin, token: activated.token, backOff: QUICK });
  assert.equal((await other.getSiteStatus()).siteId, activated.siteId);
  assert.equal((await client.getSiteStatus()).siteId, activated.siteId);
});

test("the chat's config is returned in the requested locale", async () => {
  const { config, supportedLocales } = await client.getChatConfig("de-DE");
  assert.equal(config.enabled, true);
  assert.ok(supportedLocales.length > 0);
});

test("a conversation: a message, its reply, later messages, and presence", async () => {
  const visitor = { visitorId: "visitor-12345678", name: "Anna" };
  const sent = await client.sendMessage({ message: "How long does delivery take?", locale: "en-US", visitor });
  assert.equal(sent.message.role, "assistant");
  const { conversationId } = sent;
  await sandbox.operatorSays("Two days.");
  const all = await client.listMessages({ conversationId });
  assert.deepEqual(
    all.messages.map(({ role }) => role),
    ["visitor", "assistant", "operator"],
  );
  const later = await client.listMessages({ conversationId, after: sent.message.id });
  assert.deepEqual(
    later.messages.map(({ content }) => content),
    ["Two days."],
  );
  assert.equal((await client.getPresence(conversationId)).operatorOnline, false);
  await sandbox.operatorOnline(true);
  assert.equal((await client.getPresence()).operatorOnline, true);
});

test("events are sent in batches of 50, and the totals are returned", async () => {
  const event = { eventType: "page_view", visitorId: "visitor-12345678", path: "/" };
  assert.deepEqual(await client.track(event), { accepted: 1, rejected: 0, tracking: "enabled" });
  const many = Array.from({ length: 120 }, () => event);
  assert.deepEqual(await client.trackBatch(many), { accepted: 120, rejected: 0, tracking: "enabled" });
  assert.equal((await sandbox.arrived("POST", "/events")).length, 4);
});

test("no further batch is sent when tracking is off", async () => {
  await sandbox.setFaults({ trackingDisabled: true });
  const events = Array.from({ length: 120 }, () => ({ eventType: "page_view" }));
  assert.equal((await client.trackBatch(events)).tracking, "disabled");
  assert.equal((await sandbox.arrived("POST", "/events")).length, 1);
});

test("content of several pages is synchronised, and a stopped sync continues with its page", async () => {
  const items = Array.from({ length: 5 }, (_, number) => item(number));
  const pages = [];
  const run = { snapshotId: "snapshot-1", pageSize: 2, onProgress: ({ page }) => pages.push(page) };
  const total = await client.syncContentPages(items, run);
  assert.deepEqual(total, { page: 3, items: 5, accepted: 5, rejected: 0, removed: 0 });
  assert.deepEqual(pages, [1, 2, 3]);

  const run2 = { snapshotId: "snapshot-2", pageSize: 2 };
  async function* fewer() {
    yield* items.slice(0, 2);
    // The service fails for good from the second page on.
    await sandbox.setFaults({ only: "sync", status: 400 });
    yield* items.slice(2, 4);
  }
  // The first page is sent when the third item shows that it is full.
  const stopped = await client.syncContentPages(fewer(), run2).catch((error) => error);
  assert.ok(stopped instanceof SyncStoppedError && stopped instanceof ConnectorError, stopped);
  assert.deepEqual([stopped.snapshotId, stopped.page, stopped.status], ["snapshot-2", 1, 400]);
  await sandbox.clearFaults();
  const rest = await client.syncContentPages(items.slice(0, 4), { ...run2, firstPage: stopped.page });
  assert.deepEqual([rest.items, rest.removed], [4, 1]);
});

test("published overlays are listed", async () => {
  await client.syncContent({ snapshotId: "snapshot-3", page: 1, complete: true, items: [item(1), item(2)] });
  await post("/sandbox/overlays", {});
  const { overlays } = await client.listSeoOverlays({ path: "/page-1" });
  assert.deepEqual(
    overlays.map(({ path }) => path),
    ["/page-1"],
  );
  assert.deepEqual(await client.listSeoOverlays({ path: "/none" }), { overlays: [] });
});

test("a job is claimed, and its result reported once", async () => {
  assert.equal((await client.claimNextJob()).job, null);
  const id = await queueJob({ type: "publish_article", title: "News", payload: { path: "/news" } });
  const { job } = await client.claimNextJob();
  assert.deepEqual([job.id, job.type, job.payload.path], [id, "publish_article", "/news"]);
  const { claimToken } = job;
  const done = { ok: true, claimToken, result: { url: "https://shop.example/news" } };
  assert.equal((await client.completeJob(id, done)).status, "succeeded");
  assert.equal((await client.completeJob(id, done)).status, "succeeded");
  const lost = await client.completeJob(id, { ...done, claimToken: "another" }).catch((error) => error);
  assert.equal(lost.isJobLost, true, inspect(lost));
});

/** Makes every call of the contract, in its order, with a client that repeats transient failures, and checks the results. */
async function everyCall(backOff) {
  const activation = { licenseCode: "SANDBOX-LICENSE", domain: "https://shop.example", siteName: "The shop" };
  const activated = await ServerConnectorClient.activate({ origin, backOff }, activation);
  const client = new ServerConnectorClient({ origin, token: activated.token, backOff });
  assert.equal((await client.getSiteStatus()).siteName, "The shop");
  assert.equal((await client.getChatConfig("en-GB")).config.enabled, true);
  const { conversationId, userMessageId } = await client.sendMessage({ message: "How much is a mug?" });
  const count = async (after) => (await client.listMessages({ conversationId, after })).messages.length;
  assert.deepEqual([await count(), await count(userMessageId)], [2, 1]);
  assert.equal((await client.getPresence(conversationId)).shouldPollMessages, true);
  const events = Array.from({ length: 120 }, (_, number) => ({ eventType: "page_view", path: `/${number}` }));
  assert.equal((await client.track(events[0])).accepted, 1);
  assert.equal((await client.trackBatch(events)).accepted, 120);
  const items = Array.from({ length: 25 }, (_, number) => item(number));
  const { page, accepted } = await client.syncContentPages(items, { snapshotId: "all", pageSize: 10 });
  assert.deepEqual([page, accepted], [3, 25]);
  await post("/sandbox/overlays", {});
  assert.equal((await client.listSeoOverlays()).overlays.length, 25);
  // Publishing has queued a job.
  const { job } = await client.claimNextJob();
  const { status } = await client.completeJob(job.id, { ok: true, claimToken: job.claimToken, result: {} });
  assert.equal(status, "succeeded");
}

for (const [seed, status] of [503, 429, 500].entries()) {
  test(`every call succeeds once despite lost responses, lost requests and failures with ${status}`, async () => {
    await sandbox.setFaults({ status, rate: 0.3, loseAnswers: 0.2, dropRequests: 0.1, seed: seed + 1 });
    await everyCall({ ...QUICK, attempts: 20 });
    assert.equal((await sandbox.messages()).length, 2, "one message was sent");
    assert.equal((await sandbox.events()).length, 121);
    assert.ok((await sandbox.arrived("POST", "/events")).length > 4, "some of the four requests were repeated");
  });
}

test("a message whose response is lost is repeated with its key and body, and stored once", async () => {
  await sandbox.setFaults({ only: "send", loseAnswers: 2 });
  const { conversationId } = await client.sendMessage({ message: "Hello" }, { messageId: "m1" });
  const attempts = await sandbox.arrived("POST", "/chat/messages");
  assert.deepEqual(
    attempts.map(({ idempotencyKey }) => idempotencyKey),
    Array(3).fill("chat-anonymous-m1"),
  );
  assert.equal((await client.listMessages({ conversationId })).messages.length, 2);
});

test("a claim whose response is lost is found again", async () => {
  const id = await queueJob({ type: "sync_content" });
  await sandbox.setFaults({ only: "claim", loseAnswers: 1 });
  assert.equal((await client.claimNextJob()).job.id, id);
});

test("a busy service is asked again, and a refusal is not", async () => {
  await sandbox.setFaults({ only: "config", status: 503, times: 3 });
  await client.getChatConfig();
  assert.equal((await sandbox.arrived("GET", "/chat/config")).length, 4);
  await sandbox.setFaults({ only: "presence", status: 400 });
  const refused = await client.getPresence().catch((error) => error);
  assert.deepEqual([refused.kind, refused.status, refused.retryable], ["refused", 400, false]);
  assert.equal((await sandbox.arrived("GET", "/chat/presence")).length, 1);
});

test("a wrong token is refused with advice, and no error or client shows a token", async () => {
  const secret = "wrong-token-of-a-test";
  const wrong = new ServerConnectorClient({ origin, token: secret, backOff: QUICK });
  const error = await wrong.getSiteStatus().catch((error) => error);
  assert.deepEqual([error.kind, error.code, error.status], ["refused", "INVALID_TOKEN", 401]);
  assert.match(error.message, /check the token/);
  assert.doesNotMatch(inspect([error, wrong], { depth: 9, showHidden: true }), new RegExp(secret));
});
