// Articles and page heads in the operators' console: written or suggested, published by the site's own job runner, and taken
// back.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { runJobs, syncPages } from "./demo.mjs";

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

test("A suggestion says what the page lacks, is dismissed and brought back, and an undone page is as it was", async () => {
  const folder = await mkdtemp(join(tmpdir(), "console-"));
  const service = { origin: team.address, token };
  try {
    await mkdir(join(folder, "www"));
    const page = join(folder, "www/mugs.html");
    const lead =
      "Our mugs are turned by hand from local clay, glazed in blue and fired twice in the kiln behind the shop.";
    const own = `<!doctype html><html lang="en"><head><title>Mugs by hand</title></head><body><main><h1>Mugs by hand</h1><p>${lead}</p></main></body></html>`;
    await writeFile(page, own);
    assert.equal((await syncPages(service, folder, ADDRESS)).accepted, 1);
    const { page: console } = await open(`/console/publishing/review?site=${team.site.id}`);
    await console.getByRole("link", { name: /Mugs by hand/ }).click();
    const why = console.getByRole("region", { name: "Why this is suggested" });
    await why
      .getByText("Description: the page has none. The service has chosen sentences of the page: read them first.")
      .waitFor();
    await console.getByText(lead).first().waitFor();
    const button = (name) => console.getByRole("button", { name, exact: true });
    const state = (name) => console.locator(".review-head").getByText(name, { exact: true }).waitFor();
    await button("Dismiss").click();
    await state("Dismissed");
    assert.equal(await button("Publish").isVisible(), false);
    await button("Undo").click();
    await button("Publish").click();
    await state("On the way");
    await runJobs(service, folder, ADDRESS);
    await state("Published");
    assert.match(await readFile(page, "utf8"), new RegExp(`name="description" content="${lead}"`));
    await button("Undo").click();
    await console.getByRole("dialog").getByRole("button", { name: "Undo", exact: true }).click();
    await state("On the way");
    await runJobs(service, folder, ADDRESS);
    await state("Withdrawn");
    assert.equal(await readFile(page, "utf8"), own);
  } finally {
    await rm(folder, { recursive: true });
  }
});
