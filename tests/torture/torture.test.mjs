// Ten accidents on each database, and a disk that is full for a while: nothing that was acknowledged is lost or doubled.
// `npm run torture:service` runs hundreds.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { buildConnector } from "../../scripts/connector.mjs";
import { createUnlimitedSite } from "../../scripts/torture/admin.mjs";
import { Client } from "../../scripts/torture/client.mjs";
import { Ledger } from "../../scripts/torture/ledger.mjs";
import { createNodes } from "../../scripts/torture/nodes.mjs";
import { loadTool, serviceBinary } from "../../scripts/torture/programs.mjs";
import { onFullDisk, onPostgres, onSqlite } from "../../scripts/torture/scenarios.mjs";
import { readDatabase } from "../../scripts/torture/stored.mjs";

const seed = Number(process.env.TORTURE_SEED ?? 16);
const FULL_DISK = ["fullDisk", "killOnFullDisk", "killTasks", "killTasksOnFullDisk"];
let programs;

before(() => {
  buildConnector();
  programs = { binary: serviceBinary(false), tool: loadTool(false) };
});

/** Checks that accidents of each kind happened while something was acknowledged, and broke nothing. */
function assertIntact({ happened, sent, found, counts, broken }, kinds) {
  assert.deepEqual(Object.keys(happened).sort(), kinds.sort(), `seed ${seed}`);
  assert.deepEqual(broken, [], `seed ${seed}`);
  assert.deepEqual({ missing: found.missing, doubled: found.doubled }, { missing: 0, doubled: 0 });
  assert.ok(sent.messages > 0 && sent.batches > 0 && sent.jobs > 0, JSON.stringify(sent));
  assert.ok(counts.retried > 0, JSON.stringify(counts));
}

// Otherwise the checks report items without a job as soon as a run, on a fast machine or a busy one, syncs more than 100.
test("The site of a run has a job for each page, also for more than a new site publishes in an hour", async () => {
  const { binary, tool } = programs;
  const folder = mkdtempSync(join(tmpdir(), "chat-widget-torture-"));
  const database = join(folder, "service.db");
  const [node] = await createNodes({ binary, database, folder });
  try {
    await node.start();
    const { token } = createUnlimitedSite(node, { tool, database });
    const ledger = new Ledger();
    const client = new Client({ urls: [node.url], token, address: "10.250.0.1", random: () => 0.5, ledger });
    for (let page = 1; page <= 5; page += 1) {
      const items = Array.from({ length: 50 }, (_, index) => ({
        externalId: `page-${page}-${index}`,
        type: "page",
        path: `/page-${page}/${index}`,
        title: `Page ${index}`,
        content: "<p>The text of a page.</p>",
        data: { head: { title: `Page ${index}`, description: "The description of a page." } },
      }));
      await client.post("/content/sync", `content-sync-${page}`, { snapshotId: "one", page, items });
    }
    client.close();
    assert.deepEqual(ledger.refusals, []);
    const stored = readDatabase(tool, database);
    assert.deepEqual({ items: stored.items.length, jobs: stored.jobs.length }, { items: 250, jobs: 250 });
  } finally {
    await node.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("Nothing acknowledged is lost or doubled by ten kills on SQLite", async () => {
  assertIntact(await onSqlite({ ...programs, seed, kills: 10 }), ["kill", "closeLog", "killTasks"]);
});

test("Nothing acknowledged is lost or doubled by ten kills of nodes and crashes of PostgreSQL", async () => {
  const kinds = ["killOneNode", "killBothNodes", "killTasks", "closeLog", "crashServer"];
  assertIntact(await onPostgres({ ...programs, seed, kills: 10 }), kinds);
});

test("Nothing acknowledged is lost or doubled by a disk that is full for a while", async () => {
  assertIntact(await onFullDisk({ ...programs, seed, kills: 4 }), FULL_DISK);
});

test("Nothing acknowledged is lost or doubled by a limit of the size of files", async () => {
  assertIntact(await onFullDisk({ ...programs, seed, kills: 4, mount: false }), FULL_DISK);
});
