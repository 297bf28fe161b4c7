// The harness of the console's end-to-end tests: a team, a browser, and consoles that must not show an error.

import assert from "node:assert/strict";
import { after, before, test as nodeTest } from "node:test";
import { launch } from "./demo.mjs";
import { openConsole, startTeam } from "./team.mjs";

/** The team and the browser of the file, from its first test on. */
export let team;
export let browser;

const limits = {};
/** The consoles of the test that runs. */
const consoles = [];

/**
 * Starts a browser and a team with these operators for the tests of the file, and then calls `fill()`. A test ends
 * after `testTimeoutMs`, a wait in a console after `waitTimeoutMs`. Other options are those of `startTeam`.
 */
export function withTeam({ names, fill, testTimeoutMs = 90_000, waitTimeoutMs = 30_000, ...options } = {}) {
  Object.assign(limits, { testTimeoutMs, waitTimeoutMs });
  before(async () => {
    [browser, team] = await Promise.all([launch(), startTeam(names, options)]);
    await fill?.();
  });
  after(async () => {
    await browser?.close();
    await team?.stop();
  });
}

/** Opens a console of the owner, another operator or nobody (`null`), as `openConsole` does, until the test ends. */
export async function open(path, operator = team.operators[0], { service = team, ...options } = {}) {
  const opened = await openConsole(browser, service, operator, path, options);
  consoles.push(opened);
  opened.context.setDefaultTimeout(limits.waitTimeoutMs);
  return opened;
}

/** Runs a test, and fails if a console that it has opened showed an error. */
export function test(sentence, body) {
  nodeTest(sentence, { timeout: limits.testTimeoutMs }, async (t) => {
    try {
      await body(t);
      for (const { errors } of consoles) assert.deepEqual(errors, []);
    } finally {
      for (const { close } of consoles.splice(0)) await close();
    }
  });
}
