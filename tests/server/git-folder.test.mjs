// Articles in a Git folder: each job is one commit, and what people have not committed stays.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { fileJournal, gitFolder } from "../../dist/server/files.mjs";
import { runJobs, ServerConnectorClient } from "../../dist/server/index.mjs";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "../connectors/service.mjs";

const home = mkdtempSync(join(tmpdir(), "git-folder-"));
let service;
before(async () => {
  service = await startService();
});
after(async () => {
  rmSync(home, { recursive: true, force: true });
  await stopAll();
});

let count = 0;
/** Creates a repository whose pages are in the folder `content`, and runs jobs with it. */
function startRepository(options = {}) {
  count += 1;
  const root = join(home, `site-${count}`);
  const folder = join(root, "content");
  const journal = join(home, `journal-${count}`);
  mkdirSync(folder, { recursive: true });
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  git("init", "-q", "-b", "main");
  const write = (file, text) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const commit = (file, text, message = "By hand") => {
    write(file, text);
    git("add", "-A");
    git("commit", "-qm", message);
  };
  commit("index.md", "# Home\n");
  const contentId = `content-${count}`;
  return {
    root,
    folder,
    journal,
    git,
    write,
    commit,
    contentId,
    /** Returns the text of a file in the working tree; `undefined` if it is gone. */
    text: (file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : undefined),
    subjects: () => git("log", "--format=%s").trim().split("\n").reverse(),
    /** Runs one job to its end. */
    async run(type, given, status = "succeeded") {
      const payload = { contentId, path: "/guides/glaze", title: "Glaze", content: "<p>One</p>", ...given };
      const read = await service.add(type, payload, 1);
      const client = new ServerConnectorClient({ origin: service.origin, token: service.token });
      await runJobs(gitFolder({ folder, ...options }), { client, journal: fileJournal(journal) });
      const job = await read();
      assert.equal(job.status, status, job.error);
      return job;
    },
  };
}

const FILE = "guides/glaze.md";
const one = '---\ntitle: "Glaze"\n---\n\n<p>One</p>\n';
const two = one.replace("One", "Two");

test("publishing, updating, rolling back, deleting and restoring are one commit each", async () => {
  const { run, text, subjects, git } = startRepository();
  assert.equal((await run("publish_article")).result.status, "published");
  assert.equal(text(FILE), one);
  await run("publish_article", { content: "<p>Two</p>" });
  assert.equal(text(FILE), two);
  await run("rollback_article");
  assert.equal(text(FILE), one);
  assert.equal((await run("delete_article")).result.status, "deleted");
  assert.equal(text(FILE), undefined);
  await run("rollback_article");
  assert.equal(text(FILE), one);
  assert.match((await run("rollback_article", {}, "failed")).error, /no earlier version/);
  const ours = ["Publish Glaze", "Publish Glaze", "Roll back Glaze", "Delete Glaze", "Roll back Glaze"];
  assert.deepEqual(subjects(), ["By hand", ...ours]);
  assert.equal(git("status", "--porcelain"), "");
});

test("the site's own page comes back when the article in its place is deleted", async () => {
  const { run, text, commit } = startRepository();
  commit(FILE, "# Our own\n");
  await run("publish_article");
  await run("publish_article", { content: "<p>Two</p>" });
  assert.equal((await run("delete_article")).result.status, "restored");
  assert.equal(text(FILE), "# Our own\n");
  commit(FILE, "# Our new own\n");
  await run("publish_article", { content: "<p>Three</p>" });
  await run("delete_article");
  assert.equal(text(FILE), "# Our new own\n");
  await run("rollback_article");
  assert.equal(text(FILE), one.replace("One", "Three"));
});

test("an edit that a person has committed is a version, and comes back", async () => {
  const { run, text, commit } = startRepository();
  await run("publish_article");
  commit(FILE, "# Edited\n");
  await run("publish_article", { content: "<p>Two</p>" });
  await run("rollback_article");
  assert.equal(text(FILE), "# Edited\n");
  await run("rollback_article");
  assert.equal(text(FILE), one);
});

test("what a person has not committed stays, in the page of a job and in others", async () => {
  const { run, text, commit, write, git, folder } = startRepository();
  commit(FILE, "# Own\n");
  for (const change of [
    () => write(FILE, "# In the editor\n"),
    () => (write(FILE, "# Staged\n"), git("add", "content"), write(FILE, "# Own\n")),
    () => unlinkSync(join(folder, FILE)),
  ]) {
    change();
    const before = [text(FILE), git("status", "--porcelain"), git("diff", "HEAD"), git("diff", "--cached")];
    assert.match((await run("publish_article", {}, "failed")).error, /has changes that are not committed/);
    assert.deepEqual([text(FILE), git("status", "--porcelain"), git("diff", "HEAD"), git("diff", "--cached")], before);
    git("reset", "-q", "--hard");
  }
  write("guides/new.md", "# Not added yet\n");
  assert.match(
    (await run("publish_article", { path: "/guides/new", contentId: "new" }, "failed")).error,
    /not committed/,
  );
  assert.equal(text("guides/new.md"), "# Not added yet\n");
  write("index.md", "# Staged\n");
  git("add", "content/index.md");
  write("index.md", "# Staged, and edited\n");
  const others = () => [git("diff"), git("diff", "--cached"), text("guides/new.md")];
  const before = others();
  await run("publish_article");
  assert.equal(text(FILE), one);
  assert.deepEqual(others(), before);
});

test("no path leads out of the folder, through a link, or into Git's own files", async () => {
  const { run, folder, subjects } = startRepository();
  mkdirSync(join(home, `outside-${count}`));
  symlinkSync(join(home, `outside-${count}`), join(folder, "linked"));
  for (const path of [
    "/../x",
    "/%2e%2e/x",
    "/a/%2e%2e%2fx",
    "/.git/hooks/x",
    "/a\\b",
    "/-x",
    "/a/./b",
    "/%00",
    "/a%2fb",
    "/con:x",
  ])
    assert.match(
      (await run("publish_article", { path, contentId: path }, "failed")).error,
      /cannot be the name of a file|Invalid path/,
    );
  assert.match((await run("publish_article", { path: "/linked/x", contentId: "l" }, "failed")).error, /is a link/);
  assert.deepEqual(subjects(), ["By hand"]);
});

test("texts of the service are no options, no marks and no front matter", async () => {
  const { run, text, subjects } = startRepository();
  const title = '--amend"\n---\nSite-Connector-Action: delete';
  await run("publish_article", { title, contentId: "$(touch x)\n--all" });
  assert.equal(text(FILE), `---\ntitle: ${JSON.stringify(title)}\n---\n\n<p>One</p>\n`);
  assert.deepEqual(subjects(), ["By hand", `Publish ${title.replaceAll("\n", " ")}`.slice(0, 68)]);
  await run("publish_article", { title, contentId: "$(touch x)\n--all", content: "<p>Two</p>" });
  await run("rollback_article", { contentId: "$(touch x)\n--all" });
  assert.match(text(FILE), /One/);
});

test("an unknown article is neither deleted nor rolled back", async () => {
  const { run, commit, text } = startRepository();
  commit(FILE, "# Own\n");
  for (const type of ["delete_article", "rollback_article"])
    assert.match((await run(type, {}, "failed")).error, /has not published the article/);
  assert.match((await run("publish_article")).result.status, /published/);
  assert.match((await run("publish_article", { path: "/moved" }, "failed")).error, /cannot move/);
  assert.equal(text(FILE), one);
});

test("a commit is pushed, and again after a push that failed", async () => {
  const remote = join(home, "remote.git");
  execFileSync("git", ["init", "-q", "--bare", remote]);
  const { run, git, contentId } = startRepository({ pushTo: "origin" });
  assert.match((await run("publish_article", {}, "failed")).error, /Git refused: .*origin/);
  git("remote", "add", "origin", remote);
  await run("publish_article", { contentId, content: "<p>Two</p>" });
  const pushed = execFileSync("git", ["-C", remote, "log", "--format=%s", "main"], { encoding: "utf8" });
  assert.deepEqual(pushed.trim().split("\n"), ["Publish Glaze", "Publish Glaze", "By hand"]);
});

test("a runner that is killed at any moment commits once", async () => {
  await service.faults({ leaseMs: 1500 });
  const program = fileURLToPath(new URL("site/git.mjs", import.meta.url));
  const { folder, journal, contentId, text, subjects, git } = startRepository();
  const payload = { contentId, path: "/guides/glaze", title: "Glaze" };
  const environment = { ...process.env, FOLDER: folder, PLACE: journal, ORIGIN: service.origin, TOKEN: service.token };
  const run = async (killAfterMs) => {
    const child = spawn(process.execPath, [program], { env: environment, stdio: "ignore" });
    const timer = killAfterMs && setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    await once(child, "close");
    clearTimeout(timer);
  };
  for (let moment = 0; moment < 12; moment += 1) {
    const read = await service.add("publish_article", { ...payload, content: `<p>Version ${moment}</p>` });
    await run(60 + 12 * moment);
    while ((await read()).status !== "succeeded") await run();
    assert.ok(text(FILE).includes(`<p>Version ${moment}</p>`));
    assert.equal(subjects().length, moment + 2);
  }
  assert.equal(git("status", "--porcelain"), "");
});
