// The real service in its test mode, with faults on demand.

import { join } from "node:path";
import { firstLine, start } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";

export const command = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");

/** Starts the service. */
export async function startService() {
  const token = `site-token-${crypto.randomUUID()}`;
  const args = ["demo", "--sandbox-only", "--json", "--port", "0", "--sandbox-port", "0"];
  const { sandbox: origin } = JSON.parse(await firstLine(start(command, args, { CONNECTOR_TOKEN: token })));
  const call = async (method, path, body) => {
    const init = { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) };
    const response = await fetch(`${origin}/sandbox/${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const site = () => call("GET", "site");
  return {
    origin,
    token,
    site,
    faults: (faults) => call("PUT", "trouble", faults),
    /** Adds a job. Returns a function that reads it. */
    async add(type, payload, maxAttempts = 20) {
      const { id } = await call("POST", "jobs", { type, title: "A job", payload, maxAttempts });
      return async () => (await site()).jobs.find((job) => job.id === id);
    },
  };
}
