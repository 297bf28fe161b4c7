// The JavaScript of docs/javascript-sites.md, in front of the service in test mode.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import express from "express";
import { databaseJournal, keyValueJournal, PageHead, syncPages } from "../../dist/server/index.mjs";
import { stopAll } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";
import { startService } from "../connectors/service.mjs";
import { snippet } from "../docs-snippets.mjs";

/** A folder inside of the package, where a module can import the package by its name. */
const folder = join(root, "target", `sites-docs-${process.pid}`);
mkdirSync(folder, { recursive: true });
after(async () => {
  rmSync(folder, { recursive: true });
  await stopAll();
});

/** A CMS in memory, as the docs' `posts`. */
const POSTS = `
const all = new Map();
const once = (contentId, job, change) => {
  const post = all.get(contentId) ?? { versions: [], jobs: [] };
  if (!post.jobs.includes(job)) change(post);
  post.jobs.push(job);
  all.set(contentId, post);
  return post.versions.at(-1);
};
export const posts = {
  save: (contentId, version, job) => once(contentId, job, (post) => (post.versions.push(version), (post.isGone = false))),
  remove: (contentId, job) => once(contentId, job, (post) => (post.isGone = true)),
  rollBack: (contentId, job) => once(contentId, job, (post) => post.versions.pop()),
  at: (path) => [...all.values()].find(({ isGone, versions }) => !isGone && versions.at(-1).path === path)?.versions.at(-1),
  pages: () => [...all].map(([externalId, { versions }]) => ({ externalId, type: "article", ...versions.at(-1) })),
};`;

const headOf = async (path) => new PageHead({ path, title: `Head of ${path}`, openGraph: {}, structuredData: [] });
const heads = { headFor: headOf };
const HTML = "<html><head><title>Own</title></head><body></body></html>";
const titleOf = (html) => html.match(/<title[^>]*>([^<]*)</)[1];

/** Evaluates a module with some names, and returns its exports. */
const evaluate = (code, names, exported) =>
  new Function(...Object.keys(names), `${code.replaceAll(/^export (?:default )?/gm, "")}\nreturn { ${exported} };`)(
    ...Object.values(names),
  );

test("the handler of the docs publishes, rolls back and deletes an article, applies a page head, and syncs", async () => {
  const service = await startService();
  process.env.SITE_TOKEN = service.token;
  writeFileSync(join(folder, "posts.mjs"), POSTS);
  const { posts } = await import(pathToFileURL(join(folder, "posts.mjs")).href);
  let module;
  const site = createServer(async ({ url }, response) => {
    const post = posts.at(url);
    const html = `<html><head><title>${post?.title}</title></head><body>${post?.content}</body></html>`;
    response.writeHead(post ? 200 : 404).end(post && (await module.heads.headFor(url)).apply(html));
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = `http://127.0.0.1:${site.address().port}`;
  let code = snippet("docs/javascript-sites.md", "Publish your first article: js");
  for (const [from, to] of Object.entries({
    "https://service.example": service.origin,
    "https://shop.example": address,
    "/var/lib/shop/jobs": join(folder, "jobs"),
  })) {
    assert.ok(code.includes(from), from);
    code = code.replace(from, to);
  }
  writeFileSync(join(folder, "jobs.mjs"), code);
  module = await import(pathToFileURL(join(folder, "jobs.mjs")).href);
  const payload = { contentId: "c1", path: "/guides/glaze", title: "Glaze", content: "<p>Stir it well.</p>" };
  const run = async (type, payload) => {
    const read = await service.add(type, payload, 1);
    await module.run();
    const job = await read();
    assert.equal(job.status, "succeeded", job.error);
    return job.result;
  };
  assert.equal((await run("publish_article", payload)).path, "/guides/glaze");
  await run("publish_article", { ...payload, content: "<p>Stir it twice.</p>" });
  await run("rollback_article", { contentId: "c1", path: "/guides/glaze" });
  await run("apply_seo_overlay", { path: "/guides/glaze", title: "How to glaze" });
  const page = await (await fetch(`${address}/guides/glaze`)).text();
  assert.match(page, /Stir it well/);
  assert.equal(titleOf(page), "How to glaze");
  assert.deepEqual((await run("sync_content", {})).data, { items: 1 });
  await run("delete_article", { contentId: "c1", path: "/guides/glaze" });
  assert.equal((await fetch(`${address}/guides/glaze`)).status, 404);
  site.close();
  site.closeAllConnections();
});

/** Asserts that a journal keeps what it gets. */
async function assertJournal(journal) {
  await journal.set("done/a", "it's");
  await journal.set("done/a", 'it\'s "new"');
  assert.equal(await journal.get("done/a"), 'it\'s "new"');
  assert.equal((await journal.get("done/b")) ?? null, null);
  assert.equal(await journal.create("done/a", "x"), false);
  assert.equal(await journal.create("lock/1", "y"), true);
  assert.deepEqual([...(await journal.list("done/"))], ["done/a"]);
  await journal.delete("done/a");
  assert.deepEqual([...(await journal.list("done/"))], []);
}

test("the journals of the docs keep what they get, with stand-ins for their drivers in front of SQLite", async () => {
  const literal = (text) => `'${text.replaceAll("'", "''")}'`;
  const query = (file, sql) => {
    const output = execFileSync("sqlite3", ["-batch", "-json", join(folder, file), sql], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.length === 0 ? [] : JSON.parse(output);
  };
  const inOrder = (file, sql, values) => {
    let next = 0;
    return query(
      file,
      sql.replaceAll("?", () => literal(values[next++])),
    );
  };
  const names = {
    databaseJournal,
    pool: {
      query: async (sql, values) => ({
        rows: query(
          "pg",
          sql.replace(/\$(\d+)/g, (_, number) => literal(values[number - 1])),
        ),
      }),
    },
    connections: {
      execute: async (sql, values) => {
        const rows = inOrder("mysql", sql, values);
        return [sql.startsWith("SELECT") ? rows : { affectedRows: 1 }, []];
      },
    },
    database: {
      prepare: (sql) => ({
        all: (...values) => inOrder("sqlite", sql, values),
        run: (...values) => inOrder("sqlite", sql, values),
      }),
    },
  };
  const journals = evaluate(
    snippet("docs/javascript-sites.md", "Choose a journal: js"),
    names,
    "postgres, mysql, sqlite",
  );
  for (const journal of Object.values(journals)) await assertJournal(journal);
  const entries = new Map();
  const redis = {
    get: async (key) => entries.get(key) ?? null,
    set: async (key, value, { NX = false } = {}) => (NX && entries.has(key) ? null : (entries.set(key, value), "OK")),
    del: async (key) => entries.delete(key),
    keys: async (pattern) => [...entries.keys()].filter((key) => key.startsWith(pattern.slice(0, -1))),
  };
  const { journal } = evaluate(
    snippet("docs/javascript-sites.md", "Choose a journal: js 2"),
    { keyValueJournal, redis },
    "journal",
  );
  await assertJournal(journal);
  assert.deepEqual([...entries.keys()], ["site-connector/lock/1"]);
});

test("a page of Express has its page head", async () => {
  const app = express();
  const code = snippet("docs/javascript-sites.md", "Show page heads: js");
  new Function("app", "heads", "render", code)(app, heads, async () => HTML);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const page = await (await fetch(`http://127.0.0.1:${server.address().port}/guides/glaze?x=1`)).text();
  assert.equal(titleOf(page), "Head of /guides/glaze");
  await new Promise((closed) => server.close(closed).closeAllConnections());
});

test("the hooks of SvelteKit, Astro, Nuxt and Next put the page head into their pages", async () => {
  const url = new URL("https://shop.example/guides/glaze");
  const { handle } = evaluate(snippet("docs/javascript-sites.md", "Show page heads: js 2"), { heads }, "handle");
  const resolve = (_, { transformPageChunk }) => transformPageChunk({ html: HTML });
  assert.equal(titleOf(await handle({ event: { url }, resolve })), "Head of /guides/glaze");

  const { onRequest } = evaluate(snippet("docs/javascript-sites.md", "Show page heads: js 3"), { heads }, "onRequest");
  const answer = (type) => async () => new Response(HTML, { status: 201, headers: { "Content-Type": type } });
  const response = await onRequest({ url }, answer("text/html; charset=utf-8"));
  assert.equal(response.status, 201);
  assert.equal(titleOf(await response.text()), "Head of /guides/glaze");
  assert.equal(await (await onRequest({ url }, answer("image/svg+xml"))).text(), HTML);

  const hooks = {};
  const nitro = { hooks: { hook: (name, hook) => (hooks[name] = hook) } };
  evaluate(
    snippet("docs/javascript-sites.md", "Show page heads: js 4"),
    { heads, defineNitroPlugin: (plugin) => plugin(nitro) },
    "",
  );
  const rendered = { body: HTML };
  await hooks["render:response"](rendered, { event: { path: "/guides/glaze" } });
  assert.equal(titleOf(rendered.body), "Head of /guides/glaze");

  const { generateMetadata } = evaluate(
    snippet("docs/javascript-sites.md", "Show page heads: js 5"),
    { heads },
    "generateMetadata",
  );
  const metadata = await generateMetadata({ params: Promise.resolve({ slug: "glaze" }) });
  assert.deepEqual(metadata, { title: { absolute: "Head of /guides/glaze" } });
});

test("the Git folder of the docs commits an article and pushes it", async () => {
  const service = await startService();
  process.env.SITE_TOKEN = service.token;
  const git = (...args) => execFileSync("git", ["-C", join(folder, "shop"), ...args], { encoding: "utf8" });
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example"];
  mkdirSync(join(folder, "shop/content"), { recursive: true });
  execFileSync("git", ["init", "-q", "--bare", join(folder, "origin.git")]);
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", join(folder, "origin.git"));
  git(...identity, "commit", "-q", "--allow-empty", "-m", "Begin");
  const payload = { contentId: "c", path: "/glaze", title: "Glaze", content: "<p>Stir.</p><script>x</script>" };
  const read = await service.add("publish_article", payload, 1);
  const code = snippet("docs/javascript-sites.md", "Keep articles in a Git folder: js")
    .replace("https://service.example", service.origin)
    .replace("/srv/shop", join(folder, "shop"))
    .replace("/var/lib/shop", folder);
  const clean = 'function clean(html) { return html.split("<script>")[0]; }';
  writeFileSync(join(folder, "git.mjs"), `${code}\n${clean}`);
  await import(pathToFileURL(join(folder, "git.mjs")).href);
  assert.equal((await read()).status, "succeeded");
  assert.equal(git("show", "origin/main:content/glaze.md"), '---\ntitle: "Glaze"\n---\n\n<p>Stir.</p>\n');
});

test("the sync of the docs pushes the pages", async () => {
  const pushed = [];
  const client = { syncContent: async ({ items }) => (pushed.push(...items), {}) };
  const entries = new Map();
  const journal = {
    get: async (key) => entries.get(key),
    set: async (key, value) => entries.set(key, value),
    create: async (key, value) => !entries.has(key) && Boolean(entries.set(key, value)),
    delete: async (key) => entries.delete(key),
    list: async (prefix) => [...entries.keys()].filter((key) => key.startsWith(prefix)),
  };
  async function* pages() {
    yield { externalId: "1", type: "page", title: "Delivery" };
  }
  const code = `return (async () => { ${snippet("docs/javascript-sites.md", "Sync your pages: js")} return { pushed, removed, skipped }; })()`;
  const result = await new Function("syncPages", "pages", "client", "journal", code)(syncPages, pages, client, journal);
  assert.deepEqual(result, { pushed: 1, removed: 0, skipped: [] });
  assert.equal(pushed[0].title, "Delivery");
});
