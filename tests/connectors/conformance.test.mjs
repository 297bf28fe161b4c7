// The promises of every connector: each job once, nothing of the site's own lost, a false success never reported. The
// service is real and breaks on demand, connectors are killed, and the site is read at its public address.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { stopAll } from "../../scripts/servers.mjs";
import { startJobsSite } from "../server/jobs-site.mjs";
import { startService } from "./service.mjs";
import { startStaticFolder } from "./static-folder.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

const VERSIONS = ["6.4", "6.5", "nightly"];
const STEPS = [
  "claim",
  "record",
  "insert",
  "inserted",
  "publish",
  "written",
  "verify",
  "journal",
  "report",
  "reported",
];
/** Long enough for a run of a test, and short enough to wait for. */
const LEASE = { leaseMs: 2500 };

let service;
/** Connectors by their names, each started by its first test. */
const started = {};
const connectors = {
  "static folder": () => startStaticFolder(service),
  "JavaScript library": () => startJobsSite(service),
  ...Object.fromEntries(
    VERSIONS.map((version) => [`WordPress ${version}`, () => startWordPress({ version, ...service })]),
  ),
};
const table = {};

before(async () => {
  service = await startService();
});
afterEach(() => service.faults({}));
after(async () => {
  stopWordPress();
  await stopAll();
  console.log(`| sentence | ${Object.keys(connectors).join(" | ")} |`);
  for (const [sentence, cells] of Object.entries(table))
    console.log(
      `| ${sentence} | ${Object.keys(connectors)
        .map((name) => cells[name] ?? "does not apply")
        .join(" | ")} |`,
    );
});

/** Tests a sentence with each connector, or with those whose name matches. */
function sentence(text, check, which = /./) {
  for (const name of Object.keys(connectors).filter((name) => which.test(name))) {
    test(`${name}: ${text}`, { timeout: 240_000 }, async () => {
      (table[text] ??= {})[name] = "FAILED";
      started[name] ??= connectors[name]();
      await check(await started[name]);
      table[text][name] = "holds";
    });
  }
}

let count = 0;
/** Returns an article of its own. */
function article(text = "Stir the glaze well") {
  count += 1;
  const path = `/guide-${count}`;
  return {
    path,
    payload: {
      contentId: `content-${count}`,
      type: "post",
      locale: "en-US",
      path,
      title: `Guide ${count} & more`,
      content: `<p>${text} in guide ${count}.</p>`,
      action: "publish",
    },
    shows: (html, what = text) => html.includes(`${what} in guide ${path.split("-")[1]}.`),
    with: (text) => ({ content: `<p>${text} in guide ${path.split("-")[1]}.</p>` }),
  };
}

/** Runs a connector until the job has ended. */
async function until(connector, read, status = "succeeded") {
  for (let tries = 0; ; tries += 1) {
    await connector.run();
    const job = await read();
    if (job.status === status) return job;
    assert.ok(["pending", "running"].includes(job.status) && tries < 20, `${job.status}: ${job.error}`);
    // Until the lease of the killed run has expired.
    await setTimeout(200);
  }
}

/** Runs a connector that is killed, once no other runner is at work. */
async function killed(connector, given) {
  for (let tries = 0; ; tries += 1) {
    if ((await connector.run(given)).code === "SIGKILL") return;
    // The time of the lock of a runner that was killed before.
    assert.ok(connector.lockMs && tries < 50, JSON.stringify(given));
    await setTimeout(connector.lockMs / 10);
  }
}

const pageOf = async (connector, { path }) => await connector.read(connector.posts ? `${path}/` : path);
const once = (connector, { path }) => {
  if (connector.articles) assert.equal(connector.articles(path).length, 1);
  if (!connector.posts) return;
  const posts = connector.posts(path.slice(1));
  assert.equal(posts.length, 1, JSON.stringify(posts));
  assert.equal(posts[0].post_status, "publish");
};

sentence("An article is published at the address that the report names", async (connector) => {
  const one = article();
  const job = await until(connector, await service.add("publish_article", one.payload));
  assert.equal(job.result.status, "published");
  const { status, html } = await connector.read(new URL(job.result.url).pathname);
  assert.ok(status === 200 && one.shows(html));
  once(connector, one);
});

sentence(
  "A connector that is killed before any step publishes once",
  async (connector) => {
    await service.faults(LEASE);
    for (const STOP_AT of connector.steps ?? STEPS) {
      const one = article();
      const read = await service.add("publish_article", one.payload);
      await killed(connector, { STOP_AT });
      const job = await until(connector, read);
      assert.equal(job.result.path.replace(/\/$/, ""), one.path);
      once(connector, one);
      assert.ok(one.shows((await pageOf(connector, one)).html), STOP_AT);
    }
  },
  /WordPress|JavaScript/,
);

sentence(
  "A connector that is killed before any query of the database publishes and updates once",
  async (connector) => {
    let wasKilled = true;
    for (let STOP_AT_QUERY = 1; wasKilled; STOP_AT_QUERY += 3) {
      await service.faults(LEASE);
      const one = article();
      const read = await service.add("publish_article", one.payload);
      wasKilled = (await connector.run({ STOP_AT_QUERY })).code === "SIGKILL";
      await service.faults({});
      await until(connector, read);
      once(connector, one);
      assert.ok(one.shows((await pageOf(connector, one)).html), `query ${STOP_AT_QUERY}`);
    }
  },
  /WordPress 6\.5/,
);

sentence(
  "A connector that is killed at any moment publishes once",
  async (connector) => {
    await service.faults(LEASE);
    for (let moment = 0; moment < 20; moment += 1) {
      const one = article();
      const read = await service.add("publish_article", one.payload);
      await connector.run({ KILL_AFTER_MS: 3 + 3 * moment });
      await until(connector, read);
      assert.ok(one.shows((await pageOf(connector, one)).html));
    }
  },
  /static|JavaScript/,
);

sentence("Lost answers to claims and reports repeat nothing", async (connector) => {
  for (const only of ["claim", "complete"]) {
    const one = article();
    const read = await service.add("publish_article", one.payload);
    await service.faults({ only, loseAnswers: 1 });
    const job = await until(connector, read);
    assert.equal(job.attempts, 1);
    once(connector, one);
  }
});

sentence("A job that is delivered again is reported again, and not executed again", async (connector) => {
  const one = article();
  const read = await service.add("publish_article", one.payload);
  await service.faults({ ...LEASE, only: "complete", status: 503 });
  await connector.run(connector.test ? { STOP_AT: "report" } : { KILL_AFTER_MS: 1500 });
  assert.equal((await read()).status === "succeeded", false);
  // An editor changes the page before the job comes again.
  edit(connector, one, "An editor was here");
  await setTimeout(LEASE.leaseMs + 100);
  await service.faults({});
  await until(connector, read);
  assert.ok(one.shows((await pageOf(connector, one)).html, "An editor was here"));
  once(connector, one);
});

/** Edits the page of an article by hand. */
function edit(connector, one, text) {
  if (connector.php) {
    const [{ ID }] = connector.posts(one.path.slice(1));
    connector.edit({ ID: Number(ID), post_title: one.payload.title, post_content: one.with(text).content });
  } else {
    connector.write(one.path, `<!doctype html><title>Own</title><body>${one.with(text).content}</body>`);
  }
}

sentence(
  "A runner whose lease was lost reports no success, and the next one completes the job",
  async (connector) => {
    const one = article();
    const read = await service.add("publish_article", one.payload);
    await service.faults({ leaseMs: 2500 });
    const { child, ended, paused } = await connector.run({ PAUSE_AT: "publish" });
    await paused;
    await setTimeout(2600);
    child.stdin.write("\n");
    await ended;
    await service.faults({});
    // The runner claims the job again, and only that claim may report the success.
    assert.equal((await until(connector, read)).attempts, 2);
    once(connector, one);
  },
  /WordPress|JavaScript/,
);

sentence("Of two runners at once, one works", async (connector) => {
  const jobs = [];
  for (let number = 0; number < 4; number += 1) {
    const one = article();
    jobs.push([one, await service.add("publish_article", one.payload)]);
  }
  await Promise.all([connector.run(), connector.run(), connector.run()]);
  for (const [one, read] of jobs) {
    assert.equal((await until(connector, read)).attempts, 1);
    once(connector, one);
  }
});

sentence(
  "A page that was edited by hand is kept when a job replaces it, and comes back",
  async (connector) => {
    const one = article();
    await until(connector, await service.add("publish_article", one.payload));
    edit(connector, one, "Written by an editor");
    await until(connector, await service.add("publish_article", { ...one.payload, ...one.with("The second version") }));
    assert.ok(one.shows((await pageOf(connector, one)).html, "The second version"));
    await until(connector, await service.add("rollback_article", { ...one.payload, action: "rollback" }));
    assert.ok(one.shows((await pageOf(connector, one)).html, "Written by an editor"));
  },
  /WordPress|JavaScript/,
);

sentence("The site's own page comes back when the article in its place is deleted", async (connector) => {
  const one = article();
  if (connector.php)
    connector.edit({
      post_type: "page",
      post_name: one.path.slice(1),
      post_title: "Own",
      post_content: one.with("The own page").content,
    });
  else connector.write(one.path, `<!doctype html><title>Own</title><body>${one.with("The own page").content}</body>`);
  await until(connector, await service.add("publish_article", one.payload));
  assert.ok(one.shows((await pageOf(connector, one)).html));
  await until(connector, await service.add("delete_article", one.payload));
  assert.ok(one.shows((await pageOf(connector, one)).html, "The own page"));
});

sentence("An article is updated, rolled back, deleted and restored", async (connector) => {
  const one = article();
  await until(connector, await service.add("publish_article", one.payload));
  await until(connector, await service.add("publish_article", { ...one.payload, ...one.with("The second version") }));
  assert.ok(one.shows((await pageOf(connector, one)).html, "The second version"));
  await until(connector, await service.add("rollback_article", one.payload));
  assert.ok(one.shows((await pageOf(connector, one)).html));
  await until(connector, await service.add("delete_article", one.payload));
  assert.equal((await pageOf(connector, one)).status, 404);
  await until(connector, await service.add("rollback_article", one.payload));
  assert.ok(one.shows((await pageOf(connector, one)).html));
  once(connector, one);
});

sentence("While the service is away, the site stays as it is, and the work goes on afterwards", async (connector) => {
  const one = article();
  const read = await service.add("publish_article", one.payload);
  await service.faults({ dropRequests: 0.999 });
  await connector.run({ KILL_AFTER_MS: 1500 });
  assert.equal((await pageOf(connector, one)).status, 404);
  await service.faults({});
  await until(connector, read);
  once(connector, one);
});

const elements = (html, pattern) => html.slice(0, html.indexOf("</head")).match(pattern) ?? [];

sentence("A page head is applied once, in place of what the site has, and taken back", async (connector) => {
  const one = article();
  await until(connector, await service.add("publish_article", one.payload));
  const before = (await pageOf(connector, one)).html;
  connector.test?.("theme", "on");
  const overlay = { path: one.path, title: "New <title>", description: 'A "new" one', robots: "index, follow" };
  for (const description of ['A "new" one', "A newer one"])
    await until(
      connector,
      await service.add("apply_seo_overlay", { ...overlay, description, openGraph: { title: "OG" } }),
    );
  const { html } = await pageOf(connector, one);
  assert.deepEqual(
    [/<title[^>]*>[^<]*/g, /<meta[^>]*name=["']description["']/g, /<meta[^>]*name=["']robots["']/g, /og:title/g].map(
      (pattern) => elements(html.replace(/<!-- .*?-->/g, ""), pattern).length,
    ),
    [1, 1, 1, 1],
  );
  assert.match(html, /<title[^>]*>New &lt;title&gt;<\/title>/);
  assert.match(html, /content="A newer one"/);
  connector.test?.("theme", null);
  await until(connector, await service.add("apply_seo_overlay", { path: one.path }));
  assert.equal((await pageOf(connector, one)).html.replace(/nonce\W+\w+/g, ""), before.replace(/nonce\W+\w+/g, ""));
});

sentence("A page head for a page that does not exist fails, and changes nothing", async (connector) => {
  const job = await until(
    connector,
    await service.add("apply_seo_overlay", { path: "/nowhere", title: "T" }, 1),
    "failed",
  );
  assert.match(job.error, /The site has no page/);
});

sentence(
  "What visitors do not see yet is not reported as done",
  async (connector) => {
    const one = article();
    connector.test("cache", "<html><head><title>Old</title></head><body>An old page</body></html>");
    const published = await until(connector, await service.add("publish_article", one.payload, 1), "failed");
    assert.match(published.error, /(?:does|do) not (?:show|see) it/);
    const page = connector.php ? "/sample-page" : "/";
    const head = await service.add("apply_seo_overlay", { path: page, title: "A title in vain" }, 1);
    assert.match((await until(connector, head, "failed")).error, /was not applied/);
    connector.test("cache", null);
    assert.doesNotMatch((await connector.read(`${page}/`.replace("//", "/"))).html, /A title in vain/);
  },
  /WordPress|JavaScript/,
);

sentence("A sync pushes all pages, and only changed ones afterwards", async (connector) => {
  await until(connector, await service.add("sync_content", {}));
  const { contentItems } = await service.site();
  assert.ok(contentItems >= 1);
  if (!connector.php) return;
  const id = connector.edit({
    post_title: "Synced",
    post_content: "<p>Pushed after it was saved</p>",
    post_name: "synced",
  });
  await connector.run({}, "chat_widget_push");
  const items = async () => (await service.site()).content.filter((item) => item.externalId === `post-${id}`);
  assert.equal((await items())[0].title, "Synced");
  connector.edit({ ID: id, post_title: "Synced", post_content: "<p>Moved</p>", post_name: "synced-again" });
  await connector.run({}, "chat_widget_push");
  assert.equal((await items())[0].path, "/synced-again/");
  connector.php(`wp_trash_post(${id}); echo 'null';`);
  await connector.run({}, "chat_widget_push");
  assert.deepEqual(await items(), []);
  await service.faults({ only: "sync", status: 500 });
  await connector.run({}, "chat_widget_reconcile");
  await service.faults({});
  assert.equal((await service.site()).contentItems, contentItems);
});

sentence(
  "Uninstalling leaves what was published, and nothing else",
  async (connector) => {
    const one = article();
    await until(connector, await service.add("publish_article", one.payload));
    const left =
      connector.php(`define('WP_UNINSTALL_PLUGIN', true); do_action('deactivate_chat-widget/chat-widget.php');
    require WP_PLUGIN_DIR . '/chat-widget/uninstall.php'; global $wpdb;
    echo json_encode([$wpdb->get_col("SHOW TABLES LIKE '%chat_widget%'"),
      $wpdb->get_col("SELECT option_name FROM $wpdb->options WHERE option_name LIKE '%chat_widget%'"),
      array_filter(array_map('wp_next_scheduled', ['chat_widget_run', 'chat_widget_reconcile', 'chat_widget_push']))]);`);
    assert.deepEqual(left, [[], [], []]);
    assert.ok(one.shows((await pageOf(connector, one)).html));
  },
  /WordPress/,
);
