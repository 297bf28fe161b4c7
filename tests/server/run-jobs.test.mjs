// The runner of jobs in front of a service that answers as a test says: leases, refusals, and handlers that misbehave.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileJournal } from "../../dist/server/files.mjs";
import { JobFailure, runJobs, ServerConnectorClient } from "../../dist/server/index.mjs";
import { folder } from "../../scripts/servers.mjs";
import { failure, respond, startService, success, token } from "./fixture.mjs";

const stops = [];
after(() => stops.forEach((stop) => stop()));

/** Starts a service with jobs, which answers reports by a function. `service.reports` has them by their jobs. */
async function serve(jobs, complete = success({ job: { id: "j" } })) {
  const service = await startService();
  stops.push(service.stop);
  const queue = [...jobs];
  service.reports = [];
  service.answer = (request, response) => {
    const [, id] = request.url.match(/\/site\/jobs\/([^/]+)\/complete$/) ?? [];
    if (id !== undefined) {
      service.reports.push([id, JSON.parse(service.requests.at(-1).body)]);
      return complete(request, response);
    }
    success({ job: queue.shift() ?? null })(request, response);
  };
  return service;
}

let count = 0;
const article = { contentId: "c", path: "/a", title: "Title", content: "Text" };
function job(leaseMs = 60_000, payload = article) {
  count += 1;
  const now = Date.now();
  const time = (ms) => new Date(ms).toISOString();
  const lease = { updatedAt: time(now), leaseUntil: time(now + leaseMs) };
  return { id: `job-${count}`, type: "publish_article", claimToken: `claim-${count}`, payload, ...lease };
}

const newJournal = () => fileJournal(join(folder, `run-jobs-${(count += 1)}`));

/** Runs the jobs of a service once. */
const run = ({ origin }, handler, options = {}) =>
  runJobs(handler, {
    client: new ServerConnectorClient({ origin, token, backOff: { attempts: 1 } }),
    journal: newJournal(),
    log: () => {},
    ...options,
  });

/** Starts a site that answers all requests in the same way. */
async function startSite(answer) {
  const server = createServer(answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  stops.push(() => (server.closeAllConnections(), server.close()));
  return { origin: `http://127.0.0.1:${server.address().port}`, patienceMs: 300 };
}
const page = (html) => (_request, response) => response.end(html);

test("a job that belongs to another claim is dropped, and one that the service does not take is reported again", async () => {
  for (const [complete, unreported] of [
    [failure(409, "RESOURCE_CONFLICT"), 0],
    [failure(404, "NOT_FOUND"), 0],
    [failure(400, "INVALID_REQUEST"), 0],
    [failure(503, "UNAVAILABLE"), 1],
  ]) {
    const first = job();
    const service = await serve([first], complete);
    const journal = newJournal();
    const summary = await run(service, { publishArticle: () => ({ path: "/a" }) }, { journal });
    assert.deepEqual(summary, { succeeded: 1, failed: 0, unreported });
    assert.equal((await run(service, {}, { journal })).unreported, unreported);
    // The same report with the same key, unless it was dropped.
    const sent = service.requests.filter(({ url }) => url.endsWith("/complete"));
    assert.equal(sent.length, 1 + unreported);
    assert.equal(new Set(sent.map(({ headers, body }) => headers["idempotency-key"] + body)).size, 1);
  }
});

test("a job that is claimed again is reported with its new claim, and not executed again", async () => {
  const first = job();
  const again = { ...first, claimToken: "another" };
  const service = await serve([first, again]);
  let executed = 0;
  await run(service, { publishArticle: () => ((executed += 1), { path: "/a" }) });
  assert.equal(executed, 1);
  assert.deepEqual(
    service.reports.map(([id, { ok, claimToken }]) => [id, ok, claimToken]),
    [
      [first.id, true, first.claimToken],
      [first.id, true, "another"],
    ],
  );
});

test("a run ends when the service hands out the same job again and again", async () => {
  const same = job();
  const service = await serve(Array.from({ length: 1000 }, () => same));
  await run(service, { publishArticle: () => ({}) });
  assert.equal(service.reports.length, 6);
});

test("a handler that takes longer than its lease fails, and a further step of it is refused", async () => {
  const service = await serve([job(400)]);
  const steps = [];
  const handler = {
    async publishArticle(_, { step, signal }) {
      await new Promise((late) => signal.addEventListener("abort", late));
      await step("late", () => steps.push("late"));
    },
  };
  assert.deepEqual(await run(service, handler), { succeeded: 0, failed: 1, unreported: 0 });
  assert.deepEqual(steps, []);
  assert.equal(service.reports[0][1].error, "The job took longer than its lease.");
});

test("a handler that does not stop ends the run, and nobody works beside it until the lock has expired", async () => {
  const service = await serve([job(200), job()]);
  const journal = newJournal();
  const handler = { publishArticle: () => new Promise(() => {}) };
  await assert.rejects(run(service, handler, { journal, graceMs: 200 }), { name: "HandlerStuck" });
  assert.deepEqual(service.reports, []);
  assert.equal(await run(service, handler, { journal }), undefined);
});

test("a page head that is not seen before the end of the lease is taken back", async () => {
  const site = await startSite(page("<head><title>Old</title></head>"));
  const one = { ...job(1000, { path: "/a", title: "New" }), type: "apply_seo_overlay" };
  const service = await serve([one]);
  let undone = 0;
  const handler = { applySeoOverlay: () => ({ undo: async () => (undone += 1) }) };
  await run(service, handler, { site: { ...site, patienceMs: 60_000 } });
  assert.equal(undone, 1);
  assert.equal(service.reports[0][1].ok, false);
});

test("a lease that has expired already is not worked on", async () => {
  const service = await serve([job(-1000)]);
  assert.deepEqual(await run(service, {}), { succeeded: 0, failed: 0, unreported: 0 });
  assert.deepEqual(service.reports, []);
});

test("a step is executed once, over failures of the job, and may be undecided", async () => {
  const first = job();
  const service = await serve([first, { ...first, claimToken: "second" }, { ...first, claimToken: "third" }]);
  const calls = [];
  const handler = {
    async publishArticle(_, { step }) {
      const { number } = await step("insert", ({ wasBegun }) => (calls.push(["insert", wasBegun]), { number: 7 }));
      await step("publish", ({ wasBegun }) => {
        calls.push(["publish", wasBegun]);
        if (calls.length < 4) throw new JobFailure("Not yet.");
      });
      return { externalId: `${number}`, path: "/a" };
    },
  };
  assert.deepEqual(await run(service, handler), { succeeded: 1, failed: 2, unreported: 0 });
  assert.deepEqual(calls, [
    ["insert", false],
    ["publish", false],
    ["publish", true],
    ["publish", true],
  ]);
  assert.deepEqual(service.reports.at(-1)[1].result, { externalId: "7", path: "/a" });
});

test("a handler's mistakes fail the job with a reason, and a permanent failure says so", async () => {
  const twice = async (_, { step }) => {
    await step("one", () => {});
    await step("one", () => {});
  };
  const large = (_, { step }) => step("large", () => "x".repeat(40_000));
  for (const [publishArticle, error, permanent] of [
    [
      () => Promise.reject(new TypeError("posts is not\u0007 defined")),
      "The connector failed: posts is not\\u{7} defined",
    ],
    [() => Promise.reject(new JobFailure("No.", { permanent: true })), "No.", true],
    [() => Promise.reject(undefined), "The connector failed: undefined"],
    [twice, "The connector failed: the step one is there twice"],
    [large, "The connector failed: a result has more than 32768 characters"],
    [() => ({ data: { number: 1n } }), "The connector failed: Do not know how to serialize a BigInt"],
    [undefined, "This site has no handler for jobs of the type publish_article.", true],
  ]) {
    const service = await serve([job()]);
    await run(service, { publishArticle });
    const [[, report]] = service.reports;
    assert.deepEqual([report.ok, report.error, report.permanent], [false, error, permanent]);
  }
});

test("a result at another host, or a page that is there after a redirect only, is no success", async () => {
  const elsewhere = await startSite(page("<h1>Title</h1>Text"));
  const site = await startSite(({ url }, response) =>
    response.writeHead(302, { Location: url === "/a" ? elsewhere.origin : url }).end(),
  );
  for (const [result, reason] of [
    [{ url: `${elsewhere.origin}/a` }, /is not one of/],
    [{ url: "javascript:alert(1)" }, /is not one of/],
    [{ path: "//evil.example/a" }, /is not one of/],
    [{ path: "/a" }, /could not read its own page.*it redirects to/],
    [{ path: "/circle" }, /could not read its own page.*again and again/],
  ]) {
    const service = await serve([job()]);
    await run(service, { publishArticle: () => result }, { site });
    assert.match(service.reports[0][1].error, reason);
  }
});

test("a page shows an article however its template writes it", async () => {
  const payload = {
    ...article,
    title: 'Caf\u00e9 & "more"',
    content: "<p>It&rsquo;s <b>good</b> &alpha; fa&ccedil;ade&nbsp;5</p>",
  };
  const shown = [
    "<h1>Caf&eacute; &#38; &ldquo;more&rdquo;</h1><p>It's go<i>od</i> \u03b1 fa\u00e7ade 5",
    "<title>Cafe\u0301 more</title><p title='a>b'>Its <script>x</script>good<!-- x --> &alpha; fac\u0327ade 5",
  ];
  const hidden = ["<h1>Caf\u00e9 more</h1>", "<h1>Caf\u00e9 more</h1><script>Its good fa\u00e7ade 5</script>", ""];
  for (const html of [...shown, ...hidden]) {
    const site = await startSite(page(html));
    const service = await serve([job(60_000, payload)]);
    await run(service, { publishArticle: () => ({ path: "/a" }) }, { site });
    const [[, report]] = service.reports;
    assert.equal(report.ok, shown.includes(html), html);
    if (report.ok) assert.equal(report.result.url, `${site.origin}/a`);
  }
});

test("a run with an interval goes on until it is aborted", async () => {
  const service = await serve([job()]);
  const { answer } = service;
  const stop = new AbortController();
  let claims = 0;
  service.answer = (request, response) => {
    if (request.url.endsWith("/next") && (claims += 1) > 3) stop.abort();
    answer(request, response);
  };
  const handler = { publishArticle: () => ({ path: "/a" }) };
  const summary = await run(service, handler, { intervalMs: 10, signal: stop.signal });
  assert.deepEqual(summary, { succeeded: 1, failed: 0, unreported: 0 });
});

test("a run fails if the service refuses all claims", async () => {
  const service = await startService();
  stops.push(service.stop);
  service.answer = (_, response) =>
    respond(response, 401, { ok: false, error: { code: "INVALID_TOKEN", message: "No." } });
  for (const intervalMs of [undefined, 10])
    await assert.rejects(run(service, {}, { intervalMs }), { code: "INVALID_TOKEN" });
});

test("a journal that cannot be written stops the run before the job is reported", async () => {
  const service = await serve([job()]);
  const journal = newJournal();
  let executed = 0;
  const full = async (key, value) => {
    if (value.includes('"report"')) throw new Error("the disk is full");
    return journal.set(key, value);
  };
  const handler = { publishArticle: () => ((executed += 1), {}) };
  await assert.rejects(run(service, handler, { journal: { ...journal, set: full } }), /the disk is full/);
  assert.deepEqual([executed, service.reports], [1, []]);
});

test("ids and texts of any kind are kept apart in the journal", async () => {
  const ids = [
    "a",
    "A",
    "\u00e4",
    "../../x",
    "sha256:0",
    `sha256:${"0".repeat(64)}`,
    "x".repeat(1000),
    "a b",
    "%2e%2e",
    "__proto__",
  ];
  const service = await serve(ids.map((id) => ({ ...job(), id })));
  const journal = newJournal();
  const done = [];
  const handler = { publishArticle: (_, { job }) => (done.push(job.id), { externalId: job.id }) };
  await run(service, handler, { journal });
  const again = await serve(ids.map((id) => ({ ...job(), id })));
  await run(again, handler, { journal });
  assert.deepEqual(done, ids);
  assert.deepEqual(
    again.reports.map(([, { result }]) => result.externalId),
    ids,
  );
});
