// Jobs of a real service, executed by a process that is killed before each step, with each kind of journal.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Postgres } from "../../scripts/postgres.mjs";
import { folder, stopAll } from "../../scripts/servers.mjs";
import { startService } from "../connectors/service.mjs";
import { startJobsSite, startStore } from "./jobs-site.mjs";

/** Long enough for a run, and short enough to wait for. */
const LEASE = { leaseMs: 5000 };

let postgres;
const places = {
  files: () => undefined,
  "key-value store": startStore,
  SQLite: () => join(folder, "journal.sqlite"),
  PostgreSQL: async () => {
    postgres = await Postgres.create();
    postgres.start();
    return postgres.url();
  },
};
const KINDS = Object.keys(places);
const sentences = [];

after(async () => {
  postgres?.remove();
  await stopAll();
});

/** Adds a sentence that is tested with some kinds of journals, each with a service and a site of its own. */
const sentence = (text, kinds, check) => sentences.push({ text, kinds, check });

let count = 0;
function article(text = "Stir the glaze well") {
  count += 1;
  const path = `/guide-${count}`;
  const content = `<p>${text} in guide ${count}.</p>`;
  const payload = { contentId: `content-${count}`, type: "post", path, title: `Guide ${count} & more`, content };
  return { path, payload, shows: ({ html }) => html.includes(content) };
}

/** Runs a connector until the job has ended. */
async function until(site, read, status = "succeeded") {
  for (let tries = 0; ; tries += 1) {
    const { code, output } = await site.run();
    // On a busy machine, a runner may lose its lock: it stops, and the next one goes on.
    assert.ok(code === 0 || output.includes("RunnerStopped"), output);
    const job = await read();
    if (job.status === status) return job;
    assert.ok(["pending", "running"].includes(job.status) && tries < 40, `${job.status}: ${job.error}`);
    await setTimeout(150);
  }
}

/** Runs a connector that kills itself. Returns whether it did. */
async function isKilled(site, given) {
  await site.endLock();
  const { code, output } = await site.run(given);
  assert.ok(code === "SIGKILL" || code === 0, output);
  return code === "SIGKILL";
}

/** Asserts that an article was published once, with one version for each job. */
function once(site, { path }, versions = 1) {
  const found = site.articles(path);
  assert.equal(found.length, 1, JSON.stringify(found));
  assert.equal(found[0].versions.length, versions);
}

/** Asserts that all articles are published in the end, each once, as visitors see them. */
async function published(site, jobs) {
  for (const [one, read] of jobs) {
    assert.equal((await until(site, read)).result.path, one.path);
    once(site, one);
    assert.ok(one.shows(await site.read(one.path)), one.path);
  }
}

sentence("A runner that is killed before any step publishes once", KINDS, async (site, service) => {
  await service.faults(LEASE);
  const jobs = [];
  for (const STOP_AT of site.steps) {
    const one = article();
    jobs.push([one, await service.add("publish_article", one.payload)]);
    assert.ok(await isKilled(site, { STOP_AT }), STOP_AT);
  }
  await published(site, jobs);
});

sentence(
  "A runner that is killed before any call of its journal publishes once",
  ["files", "SQLite"],
  async (site, service) => {
    await service.faults(LEASE);
    const jobs = [];
    let wasKilled = true;
    for (let STOP_AT_CALL = 1; wasKilled; STOP_AT_CALL += 2) {
      const one = article();
      jobs.push([one, await service.add("publish_article", one.payload)]);
      wasKilled = await isKilled(site, { STOP_AT_CALL });
    }
    assert.ok(jobs.length > 10, `${jobs.length}`);
    await published(site, jobs);
  },
);

sentence("Lost answers to claims and reports repeat nothing", KINDS, async (site, service) => {
  for (const only of ["claim", "complete"]) {
    const one = article();
    const read = await service.add("publish_article", one.payload);
    await service.faults({ only, loseAnswers: 1 });
    assert.equal((await until(site, read)).attempts, 1);
    once(site, one);
  }
});

sentence(
  "A runner whose lease was lost reports no success, and the next one completes the job",
  KINDS,
  async (site, service) => {
    const one = article();
    const read = await service.add("publish_article", one.payload);
    await service.faults(LEASE);
    const { child, ended, paused } = await site.run({ PAUSE_AT: "publish" });
    await paused;
    // Another runner takes over the journal, and claims the job when its lease has expired.
    const job = await until(site, read);
    assert.equal(job.attempts, 2);
    child.stdin.write("\n");
    const { code, output } = await ended;
    assert.ok(code !== 0 && /Another runner has taken over/.test(output), output);
    assert.equal((await read()).attempts, 2);
    once(site, one);
  },
);

sentence("A runner that is paused beyond its lease does not go on", ["files"], async (site, service) => {
  const one = article();
  const read = await service.add("publish_article", one.payload, 1);
  await service.faults(LEASE);
  const { child, ended, paused } = await site.run({ PAUSE_AT: "publish", LOCK_MS: "60000" });
  await paused;
  await setTimeout(LEASE.leaseMs);
  child.stdin.write("\n");
  await ended;
  assert.match((await read()).error, /The job took longer than its lease|The lease ran out/);
  assert.deepEqual(site.articles(one.path), []);
});

sentence("Of three runners at once, one works", KINDS, async (site, service) => {
  const jobs = [];
  for (let number = 0; number < 3; number += 1) {
    const one = article();
    jobs.push([one, await service.add("publish_article", one.payload)]);
  }
  const runs = await Promise.all([site.run(), site.run(), site.run()]);
  assert.ok(
    runs.some(({ output }) => output === "null\n"),
    JSON.stringify(runs),
  );
  for (const [one, read] of jobs) {
    assert.equal((await until(site, read)).attempts, 1);
    once(site, one);
  }
});

sentence("What visitors do not see yet is not reported as done", ["files"], async (site, service) => {
  const one = article();
  site.cached.set(one.path, "<html><head><title>Old</title></head><body>An old page</body></html>");
  const job = await until(site, await service.add("publish_article", one.payload, 1), "failed");
  assert.match(job.error, /visitors of .* do not see it: the page does not show it/);
  site.cached.set("/", "<html><head><title>Old</title></head><body>Home</body></html>");
  const head = await service.add("apply_seo_overlay", { path: "/", title: "A title in vain" }, 1);
  assert.match((await until(site, head, "failed")).error, /was not applied.*another title: Old/);
  site.cached.clear();
  assert.doesNotMatch((await site.read("/")).html, /in vain/, "the page head was taken back");
});

sentence("A deletion that visitors do not see is not reported as done", ["files"], async (site, service) => {
  const one = article();
  await until(site, await service.add("publish_article", one.payload));
  site.cached.set(one.path, (await site.read(one.path)).html);
  const failed = await until(site, await service.add("delete_article", one.payload, 1), "failed");
  assert.match(failed.error, /the page is still there/);
  site.cached.clear();
  await until(site, await service.add("delete_article", one.payload));
});

sentence("A job that cannot succeed fails for good, with a reason", ["files"], async (site, service) => {
  for (const [type, payload, reason] of [
    ["publish_article", { contentId: "c", path: "//evil.example/", title: "T", content: "C" }, /Invalid path/],
    ["publish_article", { contentId: "c", path: "/a", title: "T" }, /The payload has no content/],
    ["publish_article", {}, /names no content/],
    ["apply_seo_overlay", { path: "https://evil.example/", title: "T" }, /names no page/],
    ["apply_seo_overlay", { path: "/nowhere", title: "T" }, /The site has no page \/nowhere/],
    ["paint_the_house", {}, /Unknown job type paint_the_house/],
    ["rollback_article", { contentId: "unknown", path: "/b" }, /does not know the article/],
  ]) {
    const job = await until(site, await service.add(type, payload, 1), "failed");
    assert.match(job.error, reason);
  }
});

describe("jobs", { concurrency: true }, () => {
  for (const kind of KINDS)
    describe(kind, { concurrency: false }, () => {
      let service;
      let site;
      before(async () => {
        service = await startService();
        site = await startJobsSite(service, kind, await places[kind]());
      });
      afterEach(() => service.faults({}));
      for (const { text, kinds, check } of sentences)
        if (kinds.includes(kind)) test(text, { timeout: 300_000 }, () => check(site, service));
    });
});
