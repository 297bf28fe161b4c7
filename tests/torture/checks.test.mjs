// The checks of a torture run find what is broken on purpose, and nothing in a service that keeps its promises.

import assert from "node:assert/strict";
import { test } from "node:test";
import { torture } from "../../scripts/torture/run.mjs";
import { FAULTS, StandIn } from "./stand-in.mjs";

/** Loads a stand-in for a moment, and returns the problems that the checks report. */
async function problems(fault) {
  const service = new StandIn(fault);
  const url = await service.start();
  const read = () => service.read();
  const load = { visitors: 8, thinkMs: 2 };
  const outcome = await torture({
    urls: [url],
    token: "t",
    seed: 7,
    kills: 3,
    accidents: [async function none() {}],
    read,
    load,
  });
  service.stop();
  return { outcome, names: new Set(outcome.broken.map(({ problem }) => problem)) };
}

test("A service that keeps its promises has no problem", async () => {
  const { outcome } = await problems(null);
  assert.deepEqual(outcome.broken, []);
  const { sent, found } = outcome;
  assert.ok(sent.messages > 50 && sent.batches > 20 && sent.jobs > 3, JSON.stringify(sent));
  assert.deepEqual({ missing: found.missing, doubled: found.doubled }, { missing: 0, doubled: 0 });
});

for (const [fault, problem] of Object.entries(FAULTS)) {
  test(`The checks report it: ${problem}`, async () => {
    const { names } = await problems(fault);
    assert.ok(names.has(problem), `reported: ${[...names].join("; ")}`);
  });
}
