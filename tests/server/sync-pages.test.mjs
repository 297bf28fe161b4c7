// Incremental syncs with a real service: what changed is pushed, and what is gone is removed once all was read.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fileJournal } from "../../dist/server/files.mjs";
import { ServerConnectorClient, syncPages } from "../../dist/server/index.mjs";
import { folder, stopAll } from "../../scripts/servers.mjs";
import { startService } from "../connectors/service.mjs";
import { startService as startStandIn, success, token } from "./fixture.mjs";

let service;
before(async () => {
  service = await startService();
});
after(stopAll);

let count = 0;
/** Returns a function that syncs items of a site, and the journal's folder. All of a test have names of their own. */
function startSite() {
  count += 1;
  const place = join(folder, `sync-${count}`);
  const journal = fileJournal(place);
  const client = new ServerConnectorClient({ origin: service.origin, token: service.token });
  const prefix = `site-${count}-`;
  const page = (number, title = `Page ${number}`) => ({
    externalId: `${prefix}${number}`,
    type: "page",
    path: `/${prefix}${number}`,
    title,
  });
  return {
    place,
    page,
    pages: (length) => Array.from({ length }, (_, number) => page(number)),
    sync: (items, options) => syncPages(items, { client, journal, ...options }),
    /** Returns the titles that the service has. */
    async titles() {
      const { content } = await service.site();
      return content.filter(({ externalId }) => externalId.startsWith(prefix)).map(({ title }) => title);
    },
  };
}

test("a sync pushes all pages, and only changed ones afterwards", async () => {
  const { page, pages, sync, titles } = startSite();
  const nothing = { removed: 0, rejected: 0, skipped: [] };
  assert.deepEqual(await sync(pages(130)), { items: 130, pushed: 130, ...nothing });
  assert.equal((await titles()).length, 130);
  assert.deepEqual(await sync(pages(130)), { items: 130, pushed: 0, ...nothing });
  const changed = [...pages(129), page(129, "Changed"), page(130)];
  assert.deepEqual(await sync(changed), { items: 131, pushed: 2, ...nothing });
  assert.ok((await titles()).includes("Changed"));
  assert.deepEqual(await sync(changed.slice(5)), { items: 126, pushed: 0, ...nothing, removed: 5 });
  assert.equal((await titles()).length, 126);
});

test("a sync that is killed after any page goes on where it was", async () => {
  const { place } = startSite();
  const program = fileURLToPath(new URL("site/sync.mjs", import.meta.url));
  const environment = { ORIGIN: service.origin, TOKEN: service.token, PLACE: place, COUNT: "100" };
  const run = (given) =>
    promisify(execFile)(process.execPath, [program], { env: { ...process.env, ...environment, ...given } });
  const journal = fileJournal(place);
  /** Ends the lock of the killed run, as its time does. */
  const endLock = async () => {
    for (const key of await journal.list("sync-lock/")) await journal.set(key, JSON.stringify({ owner: "", until: 0 }));
  };
  // Each run pushes one page more, which is recorded.
  for (let page = 0; page < 4; page += 1) {
    await assert.rejects(run({ STOP_AFTER: "1" }), { signal: "SIGKILL" });
    await endLock();
  }
  const { stdout } = await run({});
  assert.equal(JSON.parse(stdout).pushed, 20);
  const { content } = await service.site();
  assert.equal(content.filter(({ path }) => path.startsWith("/page-")).length, 100);
});

test("an iteration that fails makes the sync fail, and removes nothing", async () => {
  const { pages, sync, titles } = startSite();
  await sync(pages(20));
  async function* broken() {
    yield* pages(10);
    throw new Error("the database is away");
  }
  await assert.rejects(sync(broken()), /the database is away/);
  assert.equal((await titles()).length, 20);
  assert.equal((await sync(pages(20))).pushed, 0);
});

test("an item that cannot be pushed is skipped and reported, and what the service has of it stays", async () => {
  const { page, pages, sync, titles } = startSite();
  await sync(pages(8));
  const circle = page(3);
  circle.data = { circle };
  const items = [
    ...pages(3),
    circle,
    { ...page(4), content: "x".repeat(2 ** 20) },
    page(5),
    page(5, "Twice"),
    page(6, "Six"),
  ];
  const { skipped, ...result } = await sync(items);
  assert.deepEqual(result, { items: 8, pushed: 1, removed: 1, rejected: 0 });
  assert.deepEqual(
    skipped.map(({ index, externalId }) => [index, externalId]),
    [3, 4, 6].map((index) => [index, items[index].externalId]),
  );
  assert.match(skipped[0].reason, /cannot be written as JSON/);
  assert.deepEqual((await titles()).sort(), ["Page 0", "Page 1", "Page 2", "Page 3", "Page 4", "Page 5", "Six"]);
  // Any of the known items may be the one without a name.
  const nameless = await sync([null, { externalId: 7, type: "page" }, ...pages(2)]);
  assert.equal(nameless.removed, 0);
  assert.deepEqual(
    nameless.skipped.map(({ reason }) => reason),
    ["it is not an object", "invalid externalId: expected a text of 1 to 500 characters"],
  );
  assert.equal((await titles()).length, 7);
});

test("a sync that would remove many items fails, unless it is allowed", async () => {
  const { pages, sync, titles } = startSite();
  await sync(pages(50));
  await assert.rejects(sync([]), { name: "JobFailure", message: /would remove 50 of 50 items/ });
  await assert.rejects(sync(pages(30)), /would remove 20 of 50 items/);
  await assert.rejects(sync(pages(30), { allowRemovals: 19 }), /would remove 20 of 50 items/);
  assert.equal((await titles()).length, 50);
  assert.equal((await sync(pages(30), { allowRemovals: 20 })).removed, 20);
  assert.equal((await titles()).length, 30);
});

test("of two syncs at once, one works", async () => {
  const { pages, sync, titles } = startSite();
  const results = await Promise.allSettled([sync(pages(120)), sync(pages(120)), sync(pages(120))]);
  const failed = results.filter(({ status }) => status === "rejected");
  assert.deepEqual(
    failed.map(({ reason }) => reason.message),
    ["Another sync is at work.", "Another sync is at work."],
  );
  assert.equal((await titles()).length, 120);
});

test("an aborted sync removes nothing", async () => {
  const { pages, sync, titles } = startSite();
  await sync(pages(20));
  await assert.rejects(sync(pages(15), { signal: AbortSignal.abort(new Error("stop")) }), /stop/);
  assert.equal((await titles()).length, 20);
});

test("the record does not grow with each change", async () => {
  const { place, page, pages, sync } = startSite();
  for (let change = 0; change < 30; change += 1) await sync([...pages(10), page(10, `Change ${change}`)]);
  const segments = readdirSync(place).filter((name) => name.startsWith("sync%2F"));
  assert.ok(segments.length < 20, `${segments.length}`);
  assert.equal((await sync([...pages(10), page(10, "Change 29")])).pushed, 0);
});

test("a damaged record is pushed again", async () => {
  const { place, pages, sync } = startSite();
  await sync(pages(5));
  const journal = fileJournal(place);
  for (const key of await journal.list("sync/")) await journal.set(key, "{");
  assert.equal((await sync(pages(5))).pushed, 5);
});

test("items that the service has refused are pushed again", async () => {
  const standIn = await startStandIn();
  standIn.answer = success({ accepted: 1, rejected: 1 });
  const client = new ServerConnectorClient({ origin: standIn.origin, token, siteId: "shop" });
  const { place, pages } = startSite();
  const journal = fileJournal(place);
  for (let run = 0; run < 2; run += 1)
    assert.deepEqual(await syncPages(pages(2), { client, journal }), {
      items: 2,
      pushed: 2,
      removed: 0,
      rejected: 1,
      skipped: [],
    });
  standIn.stop();
});

test("a snapshot removes what other programs have pushed, unless that is too much", async () => {
  service = await startService();
  const { page, pages, sync } = startSite();
  const client = new ServerConnectorClient({ origin: service.origin, token: service.token });
  await client.syncContentPages([{ ...page("other"), externalId: "other" }], { snapshotId: "other", complete: false });
  const before = (await service.site()).contentItems;
  await sync(pages(before + 20), { isSnapshot: true });
  assert.equal((await service.site()).contentItems, before + 20);
  await assert.rejects(sync(pages(3), { isSnapshot: true }), /would remove/);
  assert.equal((await service.site()).contentItems, before + 20);
});
