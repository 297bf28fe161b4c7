// The operators' console of a site that has stored nearly as much as it may.

import assert from "node:assert/strict";
import { isInView } from "./console.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { row } from "./settings.mjs";
import { visitorOf } from "./team.mjs";

withTeam({ names: ["Maren"], more: ["--storage-per-site", "4"] });

/** Syncs pages of content with so many items of so many words until one is refused. */
async function fill(token, length, words) {
  const statuses = [];
  while (statuses.at(-1) !== 402 && statuses.length < 100)
    statuses.push(await sync(token, statuses.length + 1, length, words));
  assert.deepEqual([statuses[0], statuses.at(-1)], [200, 402]);
}

async function sync(token, page, length, words) {
  const items = Array.from({ length }, (_, index) => ({
    externalId: `bowl-${words}-${length}-${page}-${index}`,
    type: "page",
    title: `Bowl ${index}`,
    content: `bowl${page}-${index} `.repeat(words),
  }));
  const headers = {
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    "Idempotency-Key": crypto.randomUUID(),
  };
  const body = JSON.stringify({ snapshotId: `bowls-${length}-${words}`, page, items });
  const response = await fetch(`${team.address}/api/connector/v1/content/sync`, { method: "POST", headers, body });
  return response.status;
}

test("The quotas say when content will be refused, and when it is, while visitors can still write", async () => {
  const { token } = await team.admin("token", "create", "--site", team.site.id);
  const { page } = await open("/console/settings/quotas");
  const site = row(page, team.site.name);
  await site.getByText(/of 4 MB/).waitFor();
  assert.equal(await site.locator(".state").count(), 0);
  await fill(token, 10, 1000);
  await page.reload();
  await isInView(site.getByText("Nearly used up"), "main");
  await fill(token, 1, 1000);
  await fill(token, 1, 10);
  for (const _ of [1, 2]) await visitorOf(team).say("Do you have bowls?");
  await page.reload();
  await isInView(site.getByText("Full: events and content refused"), "main");
});
