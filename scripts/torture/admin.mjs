// Creates a tenant, a site and its token with `site-connector admin`.

import { execFileSync } from "node:child_process";
import { query } from "./stored.mjs";

/** More pages than any run syncs in an hour. An operator can choose up to 10,000, which a long run may exceed. */
const UNLIMITED = 1_000_000_000;

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

/** Returns a one-time link that creates an owner of a tenant. */
export const ownerLink = (node, tenantId) => admin(node, "owner-link", "--tenant", tenantId).link;

/**
 * Creates a site that publishes each page it syncs, so that each has a job. A new site publishes 100 an hour by its
 * rules, and lets later ones wait for a person: how many a run syncs depends on how fast the machine is, and how long
 * its accidents last. `tool` is the load generator, `database` the address of the node's database.
 */
export function createUnlimitedSite(node, { tool, database }) {
  const site = createSite(node);
  // Only an operator who has signed in can change the limit. No node caches it.
  query(tool, database, `UPDATE sites SET publishing_limit = ${UNLIMITED} WHERE id = '${site.siteId}'`);
  return site;
}
