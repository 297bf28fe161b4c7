// The conformance suite of the contract, through our libraries in front of the service in test mode: through both proxies as
// a visitor's browser calls them, and through the client for Node.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { programOf } from "../../scripts/native.mjs";
import { tee } from "../../scripts/test-output.mjs";
import { folder, stopAll } from "../../scripts/servers.mjs";
import { ServerConnectorClient } from "../../dist/server/index.mjs";
import { proxies, token } from "../hostile/proxies.mjs";
import { startSandbox } from "./fixture.mjs";
import { startGateway, throughClient, throughProxy } from "./gateway.mjs";

after(stopAll);

const tokenFile = join(folder, "token");
writeFileSync(tokenFile, token);

/** Runs the suite against the API at `origin`. Returns its output and whether it has succeeded. */
function conformance(origin) {
  const env = { CONFORMANCE_ORIGIN: origin, CONFORMANCE_TOKEN_FILE: tokenFile, CONFORMANCE_JOBS: "1" };
  return tee(programOf("crates/connector", "conformance"), [], env, () => {});
}

/** More than the suite claims. */
const JOBS = 40;

/** Starts the service, with jobs to claim. Returns its origin. */
async function startService() {
  const { origin } = await startSandbox(token);
  const headers = { "Content-Type": "application/json" };
  for (let job = 0; job < JOBS; job += 1) {
    const payload = { path: `/article-${job}`, locale: "en-US", content: "<p>Text</p>" };
    const body = JSON.stringify({ type: "publish_article", title: "An article", payload });
    await fetch(`${origin}/sandbox/jobs`, { method: "POST", headers, body });
  }
  return origin;
}

/** Runs the suite, and asserts that every sentence that can be checked holds, and that all of `expected` were called. */
async function conforms(origin, through, calls, expected) {
  const gateway = await startGateway({ origin, token, through });
  try {
    const { output, ok } = await conformance(gateway.origin);
    assert.ok(ok, output);
    const [, passed] = output.match(/(\d+) passed; 0 failed/) ?? [];
    assert.ok(Number(passed) > 50, output);
    assert.deepEqual([...calls].sort(), expected.sort());
  } finally {
    gateway.stop();
  }
}

describe("every sentence of the contract holds", { concurrency: true }, () => {
  for (const name of ["site-connector proxy", "connectorProxy in Node's http"])
    test(`through ${name}`, async () => {
      const origin = await startService();
      const { port } = await proxies[name]({ origin });
      const calls = new Set();
      const five = [
        "GET /chat/config",
        "GET /chat/messages",
        "GET /chat/presence",
        "POST /chat/messages",
        "POST /events",
      ];
      await conforms(origin, throughProxy(`http://127.0.0.1:${port}/connector`, calls), calls, five);
    });

  test("through ServerConnectorClient", async () => {
    const origin = await startService();
    const calls = new Set();
    // `track` is `trackBatch` of one event, and `syncContentPages` is `syncContent` for each page.
    const methods = Object.getOwnPropertyNames(ServerConnectorClient.prototype).filter(
      (name) => !["constructor", "track", "syncContentPages"].includes(name),
    );
    await conforms(origin, throughClient({ origin, token, calls }), calls, methods);
  });
});
