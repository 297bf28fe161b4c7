// An article in the operators' console: written, published by the site's own job runner, and withdrawn.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { runJobs } from "./demo.mjs";

const TITLE = "The new kiln <b>is</b> here";
const ADDRESS = "https://shop.example";

let token;

withTeam({
  names: ["Maren"],
  fill: async () => ({ token } = await team.admin("token", "create", "--site", team.site.id)),
});

/** Opens the form for an article and fills it in. */
async function write(title, path) {
  const { page } = await open(`/console/publishing/review?site=${team.site.id}`);
  await page.getByRole("link", { name: "Write an article" }).click();
  const form = page.getByRole("form", { name: "Write an article" });
  await form.getByLabel("Title").fill(title);
  await form.getByLabel("Path on the site").fill(path);
  await form.getByLabel("Text, in HTML").fill("<p>It is warm.</p>");
  await form.getByRole("button", { name: "Save for review" }).click();
  return { page, form };
}

test("An article goes from the form to a page of the site, and withdrawing it removes the page", async () => {
  const folder = await mkdtemp(join(tmpdir(), "console-"));
  try {
    await mkdir(join(folder, "www"));
    const written = join(folder, "www/news/kiln/index.html");
    const jobs = () => runJobs({ origin: team.address, token }, folder, ADDRESS);
    const { page } = await write(TITLE, "/news/kiln");
    await page.getByRole("heading", { name: TITLE }).waitFor();
    assert.deepEqual(await jobs(), { succeeded: 0, failed: 0, owed: 0 }, "the article is not approved");

    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("On the way", { exact: true }).first().waitFor();
    assert.deepEqual(await jobs(), { succeeded: 1, failed: 0, owed: 0 });
    assert.match(await readFile(written, "utf8"), /<p>It is warm\.<\/p>/);

    await page.reload();
    await page.getByText("Published", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Withdraw", exact: true }).click();
    // Somebody else's change shows the entry anew, and leaves the question open.
    const shownAnew = page.waitForResponse((response) => /\/reviews\/[^/]+$/.test(response.url()));
    const other = { title: "Glazes", path: "/news/glazes", content: "<p>New.</p>" };
    await team.operators[0].call("POST", `sites/${team.site.id}/reviews`, other);
    await (await shownAnew).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw", exact: true }).click();
    await page.getByText("On the way", { exact: true }).first().waitFor();
    assert.deepEqual(await jobs(), { succeeded: 1, failed: 0, owed: 0 });
    await assert.rejects(readFile(written), { code: "ENOENT" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("An article without a title shows an error, and its text stays in the form", async () => {
  const { form } = await write(" ", "/news/empty");
  await form.getByRole("alert").getByText(/title/i).waitFor();
  assert.equal(await form.getByLabel("Path on the site").inputValue(), "/news/empty");
});
