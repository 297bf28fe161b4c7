// Ten accidents on each database, and a disk that is full for a while: nothing that was acknowledged is lost or doubled.
// `npm run torture:service` runs hundreds.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { buildConnector } from "../../scripts/connector.mjs";
import { loadTool, serviceBinary } from "../../scripts/torture/programs.mjs";
import { onFullDisk, onPostgres, onSqlite } from "../../scripts/torture/scenarios.mjs";

const seed = Number(process.env.TORTURE_SEED ?? 16);
let programs;

before(() => {
  buildConnector();
  programs = { binary: serviceBinary(false), tool: loadTool(false) };
});

/** Checks that accidents happened while something was acknowledged, and broke nothing. */
function assertIntact({ sent, found, counts, broken }) {
  assert.deepEqual(broken, [], `seed ${seed}`);
  assert.deepEqual({ missing: found.missing, doubled: found.doubled }, { missing: 0, doubled: 0 });
  assert.ok(sent.messages > 0 && sent.batches > 0 && sent.jobs > 0, JSON.stringify(sent));
  assert.ok(counts.retried > 0, JSON.stringify(counts));
}

test("Nothing acknowledged is lost or doubled by ten kills on SQLite", async () => {
  assertIntact(await onSqlite({ ...programs, seed, kills: 10 }));
});

test("Nothing acknowledged is lost or doubled by ten kills of nodes and crashes of PostgreSQL", async () => {
  assertIntact(await onPostgres({ ...programs, seed, kills: 10 }));
});

test("Nothing acknowledged is lost or doubled by a disk that is full for a while", async () => {
  assertIntact(await onFullDisk({ ...programs, seed, kills: 4 }));
});

test("Nothing acknowledged is lost or doubled by a limit of the size of files", async () => {
  assertIntact(await onFullDisk({ ...programs, seed, kills: 4, mount: false }));
});
