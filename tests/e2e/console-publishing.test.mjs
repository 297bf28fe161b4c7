// The console's publishing view, with a visitor in the shop and the site's job runner.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, eventually, openChat } from "./chat.mjs";
import { runJobs } from "./demo.mjs";
import { test } from "./harness.mjs";

const TITLE = "The new kiln <b>is</b> here";
const ADDRESS = "https://shop.example";

/** Opens the console at its publishing view. */
async function publishing(operator) {
  const console = await operator();
  await console.getByRole("link", { name: "Publishing" }).click();
  await console.getByRole("heading", { name: "Write an article" }).waitFor();
  return console;
}

/** Writes an article and adds it to the list. */
async function write(console, title, path, content) {
  await console.getByLabel("Title").fill(title);
  await console.getByLabel("Path").fill(path);
  await console.getByLabel("Content, HTML").fill(content);
  await console.getByRole("button", { name: "Put it on the list" }).click();
}

/** Returns the row of a list that has a text. */
const row = (console, list, text) => console.locator(`#${list} > li`).filter({ hasText: text });

/** Returns the button of an article's action. */
const button = (console, verb) => console.getByRole("button", { name: `${verb}: ${TITLE}` });

test("An article goes from draft to publishing job to page, and deleting it removes the page", async ({
  operator,
  service,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "console-"));
  try {
    await mkdir(join(folder, "www"));
    const console = await publishing(operator);
    const status = (list, text) => row(console, list, TITLE).getByText(text, { exact: true }).first().waitFor();
    await write(console, TITLE, "/news/kiln", "<p>It is warm.</p>");
    await status("reviews", "draft");
    await console.getByLabel("1 draft", { exact: true }).waitFor();
    assert.equal(await console.getByLabel("Title").inputValue(), "", "the form is ready for the next article");
    assert.equal(await row(console, "jobs", TITLE).count(), 0, "the article is not approved");

    await button(console, "Publish").click();
    await status("jobs", "pending");
    await console.locator("#waiting").waitFor({ state: "hidden" });
    assert.deepEqual(await runJobs(service, folder, ADDRESS), { succeeded: 1, failed: 0, owed: 0 });
    await status("jobs", "succeeded");
    await status("reviews", "published");
    await row(console, "jobs", `${ADDRESS}/news/kiln`).waitFor();
    const page = join(folder, "www/news/kiln/index.html");
    assert.match(await readFile(page, "utf8"), /<p>It is warm\.<\/p>/);

    await button(console, "Delete").click();
    await row(console, "jobs", "delete_article").getByText("pending", { exact: true }).waitFor();
    assert.deepEqual(await runJobs(service, folder, ADDRESS), { succeeded: 1, failed: 0, owed: 0 });
    await status("reviews", "withdrawn");
    await assert.rejects(readFile(page), { code: "ENOENT" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("An article without a title shows an error, and its text stays in the form", async ({ operator }) => {
  const console = await publishing(operator);
  await write(console, " ", "/news/empty", "<p>Nothing</p>");
  await console.locator("#article-problem").getByText(/title/i).waitFor();
  assert.equal(await console.getByLabel("Path").inputValue(), "/news/empty");
  assert.equal(await row(console, "reviews", "/news/empty").count(), 0);
});

test("The operator sees the visitors' events as they happen", async ({ visit, operator }) => {
  const console = await publishing(operator);
  assert.equal(await console.locator("#all-events > li").count(), 0);
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await eventually(async () => {
    const events = (await console.locator("#all-events > li").allInnerTexts()).join("\n");
    for (const kind of ["page_view", "chat_opened"]) assert.ok(events.includes(kind), `${kind} in\n${events}`);
  });
});

test("Publishing with the keyboard keeps the focus in place", async ({ operator }) => {
  const console = await publishing(operator);
  await write(console, TITLE, "/news/kiln", "<p>It is warm.</p>");
  await button(console, "Publish").focus();
  await console.keyboard.press("Enter");
  await row(console, "reviews", TITLE).getByText("queued").waitFor();
  const focused = await console.evaluate(() => document.activeElement.closest("#reviews > li")?.innerText);
  assert.match(focused ?? "nothing of the list", /The new kiln/);
});
