// Creates a tenant, a site and its token with `site-connector admin`.

import { execFileSync } from "node:child_process";

/** Runs `site-connector admin` on a node's database, and returns what it prints as JSON. */
function admin(node, ...command) {
  const output = execFileSync(node.binary, ["admin", ...command, "--json", ...node.data], {
    encoding: "utf8",
    env: { ...process.env, ...node.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output);
}

/** Creates a site, and returns its ids and its token. */
export function createSite(node, { name = "Load", publishing = "automatic" } = {}) {
  const { tenant } = admin(node, "tenant", "create", "--name", name);
  const origin = ["--origin", "https://shop.example"];
  const how = ["--tenant", tenant.id, "--name", name, ...origin, "--publishing", publishing];
  const { site } = admin(node, "site", "create", ...how);
  const { token } = admin(node, "token", "create", "--site", site.id);
  return { tenantId: tenant.id, siteId: site.id, token };
}
