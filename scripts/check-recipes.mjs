// Runs the project's own proxy and the recipes of docs/recipes/ in their real servers in front of the sandbox, and checks
// each with `site-connector check`. A server that cannot be installed is reported, and fails the run if it was named.
//
//     cargo build -p chat-connector --features demo && node scripts/check-recipes.mjs [nginx Caddy …]

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { proxies, token } from "../tests/hostile/proxies.mjs";
import { firstLine, start, stopAll } from "./servers.mjs";
import { Advice, main, root } from "./setup.mjs";

const command = join(root, "target/debug/site-connector");

/** Runs `site-connector check` on a server, and returns its output and whether all checks passed. */
async function check(port) {
  const checking = promisify(execFile)(command, ["check", `http://127.0.0.1:${port}/connector`]);
  const { stdout, stderr, code } = await checking.catch((error) => error);
  const problems = stdout.split("\n").filter((line) => line.startsWith("FAILED"));
  const summary = code ? stderr.trim() : stdout.trim().split("\n").at(-1);
  return { summary: [summary, ...problems].join("\n  "), ok: !code };
}

await main(async () => {
  const needed = process.argv.slice(2);
  const unknown = needed.filter((name) => !(name in proxies));
  if (unknown.length > 0)
    throw new Advice(`${unknown.join(", ")}: expected some of ${Object.keys(proxies).join(", ")}`);
  const demo = start(command, ["demo", "--sandbox-only", "--json", "--port", "0", "--sandbox-port", "0"], {
    CONNECTOR_TOKEN: token,
  });
  const { sandbox } = JSON.parse(await firstLine(demo));
  const failed = [];
  let held = 0;
  for (const [name, run] of Object.entries(proxies)) {
    let port;
    try {
      ({ port } = await run({ origin: sandbox, rated: true }));
    } catch (error) {
      if (!(error instanceof Advice)) throw error;
      console.log(`${name}: not checked. ${error.message}`);
      if (needed.includes(name)) failed.push(name);
      continue;
    }
    const { summary, ok } = await check(port);
    console.log(`${name}: ${summary}`);
    if (ok) held += 1;
    else failed.push(name);
  }
  await stopAll();
  console.log(`${held} of ${Object.keys(proxies).length} servers passed`);
  if (failed.length > 0) throw new Advice(`failed: ${failed.join(", ")}`);
});
